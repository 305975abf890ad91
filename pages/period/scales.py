"""Ends of colour scales: those that all maps of a figure share, and rounded."""

import math

import numpy as np


def field_limits(fields: dict[str, np.ndarray], difference: bool) -> tuple[float, float]:
    """Ends of a colour scale that all fields share, symmetric for differences."""
    every = np.concatenate([values.ravel() for values in fields.values()])
    low, high = (float(v) for v in np.nanpercentile(every, [0.1, 99.9]))
    low, high = (-max(-low, high), max(-low, high)) if difference else (low, high)
    return short(low, high), short(high, low)


def short(value: float, other: float = 0.0) -> float:
    """An end of a colour scale, with two digits of the distance to its other end."""
    difference = abs(value - other)
    return round(value, 1 - math.floor(math.log10(difference))) if difference > 0 else value
