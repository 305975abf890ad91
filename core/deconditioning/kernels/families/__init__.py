"""Kernel families, one class each; `registry` lists them."""
