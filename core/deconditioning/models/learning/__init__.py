"""Hyperparameters learned: parameters, objectives, optimisers."""
