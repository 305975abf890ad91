"""Regression of an outcome on a subject's distribution, of which only repeated measures are seen (Tang et al.)."""
