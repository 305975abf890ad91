"""Kernels: a picklable specification, gpytorch kernels built from it, and their bag means."""
