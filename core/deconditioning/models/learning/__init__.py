"""Learning of hyperparameters: parameters, objectives, optimisers."""
