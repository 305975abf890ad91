"""Models with inducing points, and sparse representations of many data by few points."""
