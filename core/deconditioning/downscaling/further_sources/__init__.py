"""Stations in a downscaling: what they differ by, how well each is predicted."""
