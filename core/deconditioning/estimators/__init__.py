"""Estimators in the style of scikit-learn, exported by `deconditioning`."""
