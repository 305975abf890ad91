"""Checks of a map: one scale up, assumptions, intervals, what learning gained."""
