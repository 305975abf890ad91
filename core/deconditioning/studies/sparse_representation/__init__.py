"""A few learned points that stand for many data."""
