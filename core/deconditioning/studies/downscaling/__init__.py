"""Downscaling by all models over cases and seeds."""
