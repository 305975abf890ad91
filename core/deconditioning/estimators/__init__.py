"""Estimators with scikit-learn's manners over the library: what `deconditioning` hands out by name."""
