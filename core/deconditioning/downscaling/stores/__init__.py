"""Predictions over a Zarr store, and their stored models."""
