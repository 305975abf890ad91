"""Reads the target of a series."""
