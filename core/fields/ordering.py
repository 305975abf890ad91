"""Coordinates in ascending order, and the sentences that say so."""

import numpy as np

from core.errors import InputError

Ordered = tuple[np.ndarray, np.ndarray, list[str]]


def _check_distinct(values: np.ndarray, name: str) -> None:
    """(n,) ascending values must differ by more than rounding."""
    step = np.diff(values)
    tolerance = 1e-6 * float(np.median(step))
    if (step <= tolerance).any():
        twice = float(values[int(np.argmin(step))])
        raise InputError(f"The coordinate `{name}` holds the value {twice:g} twice: every row or column needs its own.")


def order_plain(values: np.ndarray, name: str) -> Ordered:
    """Ascending values, the order that makes them so, and notes."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _check_distinct(ordered, name)
    if np.array_equal(order, np.arange(len(order))):
        return ordered, order, []
    if np.array_equal(order, np.arange(len(order))[::-1]):
        return ordered, order, [f"`{name}` was descending; rows or columns are turned to ascend."]
    return ordered, order, [f"`{name}` was in no order; rows or columns are sorted to ascend."]


def order_latitudes(values: np.ndarray, name: str) -> Ordered:
    """Ascending latitudes within ±90 degrees (a rounding excess is cut)."""
    if np.abs(values).max() > 90.001:
        worst = float(values[np.abs(values).argmax()])
        raise InputError(f"The latitude `{name}` reaches {worst:g}: latitudes lie between −90 and 90 degrees.")
    return order_plain(np.clip(values, -90.0, 90.0), name)


def order_longitudes(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, bool, list[str]]:
    """Ascending longitudes without a jump: (values, order, whether they go round the sphere, notes).

    A global field keeps its seam, the first column of an ascending file. A region is cut at its
    largest gap, so that one across 0° or 180° stays in one piece, starting in [−180, 180). A column
    repeated at 360° is left out.
    """
    notes = []
    if np.abs(values).max() > 1080:
        raise InputError(f"The longitude `{name}` reaches {np.abs(values).max():g}: give degrees.")
    turned = len(values) > 1 and np.median(np.diff(values)) < 0
    order = np.arange(len(values))[::-1] if turned else np.arange(len(values))
    if turned:
        notes.append(f"`{name}` was descending; columns are turned to ascend.")
    around = _round(values[order])
    if len(around) > 3 and abs(around[-1] - around[0]) < 1e-4 and abs(abs(values[0] - values[-1]) - 360) < 1e-3:
        order, around = order[:-1], around[:-1]
        notes.append(f"The last column of `{name}` repeats the first; it is left out.")
    by_angle = np.argsort(around, kind="stable")
    angles = around[by_angle]
    _check_distinct(angles, name)
    gaps = np.diff(np.append(angles, angles[0] + 360.0))
    wraps = bool(gaps.max() <= 1.5 * np.median(gaps)) and len(angles) > 3
    start = int(np.argmin(np.abs(angles - around[0]))) if wraps else (int(gaps.argmax()) + 1) % len(angles)
    by_angle = np.roll(by_angle, -start)
    if not np.array_equal(by_angle, np.arange(len(by_angle))):
        notes.append(f"The columns are moved so that `{name}` runs from west to east in one piece.")
    ordered = np.unwrap(around[by_angle], period=360.0)
    first = values[order][by_angle][0]
    ordered = ordered - ordered[0] + (first if wraps and -180 <= first < 180 else _round(first + 180.0) - 180.0)
    if not wraps and not np.allclose(ordered, values[order][by_angle], atol=1e-3):
        notes.append(f"`{name}` was given from 0 to 360; the region runs from {ordered[0]:g} to {ordered[-1]:g}.")
    return ordered, order[by_angle], wraps, notes


def _round(values: np.ndarray) -> np.ndarray:
    """Degrees in [0, 360), a rounding error below 360 counting as 0."""
    angle = np.mod(values, 360.0)
    return np.where(angle > 360.0 - 1e-5, 0.0, angle)
