"""Verification of predicted fields and series against a truth, as forecasters have it."""
