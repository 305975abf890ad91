"""Grids: axes, positions, cells and their overlaps, regridding."""
