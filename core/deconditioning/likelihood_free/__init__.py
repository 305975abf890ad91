"""Likelihood-free inference: priors, simulators, kernel posteriors and the objective that sets their kernels."""
