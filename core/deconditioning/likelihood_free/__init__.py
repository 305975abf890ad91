"""Likelihood-free inference: priors, simulators, kernel posteriors and the objective that chooses their kernels."""
