"""Cells that are missing at some times, linked with those before and after."""
