"""Pixels of a problem as the sums over bags see them."""
