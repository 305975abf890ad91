"""Deconditioning Lab: kernel conditioning and deconditioning of aggregated data."""

__version__ = "0.2.0"
