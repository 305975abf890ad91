"""Gaussian process models of indirect data: one conditioning, named models that supply W and Σ, learning."""
