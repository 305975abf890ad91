"""The downscaling problem: targets, covariates, withheld cells, baselines."""
