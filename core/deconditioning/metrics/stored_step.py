"""The step in which a field is stored, where a file packs its values into few numbers."""

import numpy as np

#: Most different values of a packed field, values for each of them at least, and how evenly they must lie, in steps.
_MOST, _EACH, _EVEN = 2000, 10, 0.02


def stored_step(values: np.ndarray) -> float | None:
    """The step s of which all values are multiples, up to a constant; None if they are not so few and so even.

    Rounding to steps of s alone gives errors with a root mean square of ``s / √12``.
    """
    known = np.asarray(values, dtype=float)
    known = known[np.isfinite(known)]
    different = np.unique(np.round(known, 9))
    if not 2 < len(different) <= min(_MOST, len(known) // _EACH):
        return None
    steps = np.diff(different)
    step = float(steps.min())
    off = np.abs(steps / step - np.round(steps / step))
    return step if off.max() < _EVEN else None
