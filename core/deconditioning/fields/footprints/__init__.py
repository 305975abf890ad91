"""Targets that are no blocks of pixels: stations at points, regions with outlines."""
