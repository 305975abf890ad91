"""Regression of an outcome on a subject's distribution, observed through repeated measures (Tang et al.)."""
