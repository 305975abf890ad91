"""Predictions over a Zarr store, and models stored for them."""
