"""Sums of kernels over bags: covariances of bag means with each other, with points and with all pixels, by exact fast
algorithms.
"""
