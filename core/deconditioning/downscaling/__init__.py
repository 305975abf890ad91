"""Downscaling of a coarse field, for pages, engine and command line."""
