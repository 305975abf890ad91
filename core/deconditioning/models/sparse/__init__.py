"""Models through inducing points, and few points that represent many data."""
