"""Gaussian process models of indirect data: one conditioning formula, named models that define W and Σ, learning."""
