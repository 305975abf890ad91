"""Figures of the studies, one module each."""
