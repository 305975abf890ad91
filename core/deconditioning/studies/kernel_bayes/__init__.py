"""Kernel Bayes' rule beside what it is compared with."""
