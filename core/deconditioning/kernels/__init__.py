"""Kernels: a picklable specification, the gpytorch kernels built from it, and their Gram matrices."""
