"""Coordinates in ascending order, and the sentences that say so."""

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.sphere import unit_vectors

_Ordered = tuple[np.ndarray, np.ndarray, list[str]]


def _check_distinct(values: np.ndarray, name: str) -> None:
    """(n,) ascending values must differ by more than rounding."""
    step = np.diff(values)
    tolerance = 1e-6 * float(np.median(step))
    if (step <= tolerance).any():
        twice = float(values[int(np.argmin(step))])
        raise InputError(
            f"The coordinate `{name}` contains the value {twice:g} twice: every row or column needs a distinct one."
        )


def order_plain(values: np.ndarray, name: str) -> _Ordered:
    """Ascending values, the order that makes them so, and notes."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    _check_distinct(ordered, name)
    if np.array_equal(order, np.arange(len(order))):
        return ordered, order, []
    if np.array_equal(order, np.arange(len(order))[::-1]):
        return ordered, order, [f"`{name}` was descending; rows or columns are reversed."]
    return ordered, order, [f"`{name}` was unsorted; rows or columns are sorted in ascending order."]


def order_latitudes(values: np.ndarray, name: str) -> _Ordered:
    """Ascending latitudes within ±90 degrees (a rounding excess is cut)."""
    if np.abs(values).max() > 90.001:
        worst = float(values[np.abs(values).argmax()])
        raise InputError(f"The latitude `{name}` reaches {worst:g}: latitudes lie between −90 and 90 degrees.")
    return order_plain(np.clip(values, -90.0, 90.0), name)


def order_longitudes(values: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray, bool, list[str]]:
    """Ascending longitudes without a jump: (values, order, whether they go round the sphere, notes).

    A global field keeps its seam, the first column of an ascending file. A region is cut at its
    largest gap, so that one across 0° or 180° stays in one piece, starting in [−180, 180). Columns
    that repeat the first at 360° are left out.
    """
    notes = []
    if np.abs(values).max() > 1080:
        raise InputError(f"The longitude `{name}` reaches {np.abs(values).max():g}: give degrees.")
    turned = len(values) > 1 and np.median(np.diff(values)) < 0
    order = np.arange(len(values))[::-1] if turned else np.arange(len(values))
    if turned:
        notes.append(f"`{name}` was descending; columns are reversed.")
    around = _round(values[order])
    if twice := _repeat_step(around, values[order]):
        order, around = order[:-twice], around[:-twice]
        one = twice == 1
        words = f"column of `{name}` repeats" if one else f"{twice} columns of `{name}` repeat"
        notes.append(f"The last {words} the first; {'it is' if one else 'they are'} left out.")
    by_angle = np.argsort(around, kind="stable")
    angles = around[by_angle]
    _check_distinct(angles, name)
    gaps = np.diff(np.append(angles, angles[0] + 360.0))
    wraps = bool(gaps.max() <= 1.5 * np.median(gaps)) and len(angles) > 3
    start = int(np.argmin(np.abs(angles - around[0]))) if wraps else (int(gaps.argmax()) + 1) % len(angles)
    by_angle = np.roll(by_angle, -start)
    if not np.array_equal(by_angle, np.arange(len(by_angle))):
        notes.append(f"The columns are rotated so that `{name}` runs from west to east without a break.")
    ordered = np.unwrap(around[by_angle], period=360.0)
    first = values[order][by_angle][0]
    ordered = ordered - ordered[0] + (first if wraps and -180 <= first < 180 else _round(first + 180.0) - 180.0)
    if not wraps and not np.allclose(ordered, values[order][by_angle], atol=1e-3):
        notes.append(f"`{name}` was given from 0 to 360; the region runs from {ordered[0]:g} to {ordered[-1]:g}.")
    return ordered, order[by_angle], wraps, notes


#: Columns of a halo that are looked for at the end.
_HALO = 6


def _repeat_step(around: np.ndarray, values: np.ndarray) -> int:
    """How many longitudes at the end are those at the beginning, one turn further."""
    for count in range(min(_HALO, len(around) // 4), 0, -1):
        turn = np.abs(values[-count:] - values[:count])
        if np.abs(around[-count:] - around[:count]).max() < 1e-4 and np.abs(turn - 360).max() < 1e-3:
            return count
    return 0


#: A step between neighbours this many times longer than those around it is a jump.
_JUMP = 20.0
#: Once there is one, steps this many times longer are.
_TEAR = 4.0
#: Share of cells that may turn the other way round: where scans of a satellite or the rows of a fold overlap.
_FOLDED = 0.25
#: Cells whose neighbours are looked at together.
_STRIP = 1_000_000


#: A grid may lie in so many pieces of so many cells or more, as ORCA2 has inland seas among the rows of the ocean; such
#: a share of its steps may lead from one to another.
_PIECES, _LEAST_CELLS, _TORN = 8, 12, 0.02


def check_connected(latitude: np.ndarray, longitude: np.ndarray, names: tuple[str, str]) -> np.ndarray:
    """(H, W) cells beside a tear, where neighbours in the file are none on Earth though each side is a grid.

    A step of the grid is a jump where it is 20 times longer than both the median step and the median of the seven steps
    around it; a grid is scrambled where more than a quarter of its cells turn against the others. Cells without a
    position (NaN) are passed over. Raises ``InputError`` if positions are scrambled.
    """
    both = f"`{names[0]}` and `{names[1]}`"
    across, along, turned = _steps(latitude, longitude)
    jumps = [_jump(steps, axis) for steps, axis in ((across, 1), (along, 0))]
    torn = np.zeros(latitude.shape, dtype=bool)
    if any(jumps):
        torn = _torn(across, along)
        if not torn.any():
            which = next(n for n, jump in enumerate(jumps) if jump)
            at, far, near = jumps[which] or ((0, 0), 0.0, 0.0)
            raise InputError(
                f"Neighbouring {('columns', 'rows')[which]} of {both} lie {far:.3g}° apart in row {at[0] + 1}, column "
                f"{at[1] + 1}, where {near:.2g}° is typical: the positions are damaged or scrambled. Write them again."
            )
    share = min(turned, 1 - turned)
    if share > _FOLDED:
        raise InputError(
            f"{both} do not form a grid; {100 * share:.0f} % of the cells have the opposite orientation: the "
            "positions are scrambled. Write them again in the order of rows and columns."
        )
    return torn


def _torn(across: np.ndarray, along: np.ndarray) -> np.ndarray:
    """(H, W) cells beside steps that are far too long; none if what these steps cut apart is no few whole pieces."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    number = np.arange(across.shape[0] * along.shape[1]).reshape(across.shape[0], along.shape[1])
    long = [steps > _TEAR * _usual(steps, axis) for steps, axis in ((across, 1), (along, 0))]
    torn = np.zeros(number.shape, dtype=bool)
    if sum(map(np.count_nonzero, long)) > _TORN * number.size:
        return torn
    ends = ((number[:, :-1], number[:, 1:]), (number[:-1], number[1:]))
    first, second = (np.concatenate([pair[n][~cut] for pair, cut in zip(ends, long, strict=True)]) for n in (0, 1))
    graph = coo_array((np.ones(len(first), dtype=bool), (first, second)), shape=(number.size, number.size))
    pieces = np.bincount(connected_components(graph, directed=False)[1])
    if len(pieces) > _PIECES or pieces.min() < _LEAST_CELLS:
        return torn
    torn[:, :-1] |= long[0]
    torn[:, 1:] |= long[0]
    torn[:-1] |= long[1]
    torn[1:] |= long[1]
    return torn


def _steps(latitude: np.ndarray, longitude: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Lengths of the steps (H, W−1) and (H−1, W) between neighbours, and the share of cells that turn left.

    In strips of rows, so that a large grid takes little memory beside its positions.
    """
    height, width = latitude.shape
    across, along = np.empty((height, width - 1), np.float32), np.empty((height - 1, width), np.float32)
    left, known, strip = 0, 0, max(1, _STRIP // width)
    for first in range(0, height, strip):
        rows = slice(first, first + strip + 1)
        vectors = unit_vectors(latitude[rows], longitude[rows])
        east, north = np.diff(vectors, axis=1), np.diff(vectors, axis=0)
        across[first : first + strip] = np.nan_to_num(np.linalg.norm(east, axis=-1)[:strip])
        along[first : first + strip] = np.nan_to_num(np.linalg.norm(north, axis=-1))
        normal = np.cross(east[:-1], north[:, :-1])
        turns = np.einsum("ijk,ijk->ij", normal, vectors[:-1, :-1])
        left, known = left + int((turns < 0).sum()), known + int(np.isfinite(turns).sum())
    return across, along, left / max(1, known)


def _jump(steps: np.ndarray, axis: int) -> tuple[tuple[int, ...], float, float] | None:
    """Where a step jumps, its length and what is usual there in degrees; ``None`` if none does."""
    if steps.max() <= _JUMP * max(float(np.median(steps)), 1e-9):
        return None
    around = _usual(steps, axis)
    at = np.unravel_index(int((steps / around).argmax()), steps.shape)
    if steps[at] <= _JUMP * around[at]:
        return None
    far, near = (float(np.rad2deg(2 * np.arcsin(min(1.0, float(v[at]) / 2)))) for v in (steps, around))
    return tuple(int(i) for i in at), far, near


def _usual(steps: np.ndarray, axis: int) -> np.ndarray:
    """The median of the seven steps around each, or of all where that is longer."""
    from scipy.ndimage import median_filter

    all_over = np.float32(max(float(np.median(steps)), 1e-9))
    return np.maximum(median_filter(steps, size=(1, 7) if axis else (7, 1), mode="nearest"), all_over)


def _round(values: np.ndarray) -> np.ndarray:
    """Degrees in [0, 360), a rounding error below 360 counting as 0."""
    angle = np.mod(values, 360.0)
    return np.where(angle > 360.0 - 1e-5, 0.0, angle)
