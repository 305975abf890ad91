"""Sums of kernels over bags: means of bags against each other, at points, at every pixel, each by its route."""
