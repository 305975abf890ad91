"""Smooth kernels through few features, with an error bound that is measured at every point."""
