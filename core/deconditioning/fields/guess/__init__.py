"""A first guess of a downscaling problem for files that nobody has described, each choice with its reason."""
