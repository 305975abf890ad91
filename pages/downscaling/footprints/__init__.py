"""Targets that are no cells of a grid: which files hold them, and what was learned of stations."""
