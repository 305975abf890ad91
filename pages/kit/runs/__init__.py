"""Runs and stored results on pages."""
