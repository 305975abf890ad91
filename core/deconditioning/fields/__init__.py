"""Gridded data: open, check, coarsen, bag, scale, export."""
