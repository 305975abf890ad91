"""Warps of the target: which one, and maps in the target's own units."""
