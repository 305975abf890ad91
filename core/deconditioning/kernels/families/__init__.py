"""Kernel families, one class each; `registry` finds them."""
