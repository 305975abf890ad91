"""Inference from a simulator."""
