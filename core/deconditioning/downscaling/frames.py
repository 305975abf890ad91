"""Pictures along one slider, computed ahead of the hand: a few previews, and a curve in the space that they span."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deconditioning.errors import Check, never

#: Estimated error of a family that is good enough; pictures are given as shares of the posterior's sd.
TOLERANCE = 0.01
#: Places at which pictures are computed: the first ones, the most, and the most for all of their parts.
_FEWEST, _MOST, _DOZEN = 7, 25, 13
#: Steps between the coefficients that are written down, for each interval between two places.
_FINE = 16
#: The share of a picture's pixels by which an error is judged. A preview takes variances in single precision: where
#: they are smallest its rounding decides, not the curve.
_JUDGED = 0.995


@dataclass(frozen=True)
class Family:
    """Pictures z(t) = centre + Σᵢ cᵢ(t) bᵢ for a number t between ``low`` and ``high``.

    Parameters
    ----------
    centre : (P,) NaN where there is nothing to be seen.
    bases : (R, P) orthogonal pictures, largest first.
    coefficients : (T, R) at T evenly spaced numbers from ``low`` to ``high``; linear between these.
    error : estimate of the largest difference from the pictures themselves between those that were computed.
    """

    low: float
    high: float
    centre: np.ndarray
    bases: np.ndarray
    coefficients: np.ndarray
    error: float

    def at(self, t: float) -> np.ndarray:
        """The picture (P,) at ``t``, which is moved into the range."""
        steps = len(self.coefficients) - 1
        position = min(max((t - self.low) / (self.high - self.low), 0.0), 1.0) * steps
        k = min(int(position), steps - 1)
        first, second = self.coefficients[k : k + 2]
        return self.centre + (first + (position - k) * (second - first)) @ self.bases


def sampled(
    picture: Callable[[float], Sequence[Callable[[], np.ndarray]]], low: float, high: float, *,
    tolerance: float = TOLERANCE, check: Check = never,
) -> list[tuple[np.ndarray, np.ndarray]]:  # fmt: skip
    """For each part of the pictures: evenly spaced places (n,) from ``low`` to ``high``, and the part there (n, P).

    Their steps are halved until a cubic spline holds between them (`TOLERANCE`); parts after the first, which may jump
    and cost more, are computed at a dozen places at most. ``picture`` gives what computes the parts at a place;
    ``check`` is called before each.
    """
    known: dict[float, list[np.ndarray]] = {}
    count = _FEWEST
    result: list[tuple[np.ndarray, np.ndarray]] = []
    while True:
        places = np.linspace(low, high, count)
        for t in map(float, places):
            if t not in known:
                check()
                parts = picture(t)
                known[t] = [np.asarray(part(), dtype=np.float32) for part in parts[: None if count <= _DOZEN else 1]]
        now = [(places, np.stack(part)) for part in zip(*(known[float(t)] for t in places), strict=False)]
        result = [*now, *result[len(now) :]]
        if count >= _MOST or all(_errors(*part).max() <= tolerance for part in now[: None if count < _DOZEN else 1]):
            return result
        count = 2 * count - 1


def family(places: np.ndarray, values: np.ndarray, around: float, *, tolerance: float = TOLERANCE) -> Family:
    """The pictures (n, P) at ``places`` as a family, on the largest range found round ``around`` where it holds.

    Where pictures jump, as the sd does where another local scale is chosen, the range ends before.
    """
    while True:
        errors = _errors(places, values)
        worst = 2 * int(errors.argmax()) + 1
        if errors.max() <= tolerance or len(places) < 7:
            return _compressed(places, values, float(errors.max()), tolerance)
        keep = slice(worst + 1, None) if places[worst] < around else slice(None, worst)
        places, values = places[keep], values[keep]
        if len(places) % 2 == 0:  # every second place is compared with the others
            part = slice(1, None) if around - places[0] > places[-1] - around else slice(None, -1)
            places, values = places[part], values[part]


def _spline(places: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from scipy.interpolate import CubicSpline

    return CubicSpline(places, np.nan_to_num(values))


def _errors(places: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Estimated errors at the second, fourth, … place, of an odd number of them.

    Each is compared with the spline through the others. A cubic's error falls by 2⁴ when steps are halved (de Boor
    1978, chapter V), of which at most 2³ is counted on; where twice the step was hardly worse, as at a jump, nothing.
    """
    if len(places) < 5:
        return np.array([np.inf])
    error = _sizes(_spline(places[::2], values[::2])(places[1::2]) - values[1::2])
    if len(places) < 9:
        return error / 8
    wide, rough = places[2::4], places[::4]
    before = _sizes(_spline(rough, values[::4])(wide) - values[2::4])
    nearest = np.abs(places[1::2, None] - wide[None, :]).argmin(axis=1)
    return error * np.clip(error / np.maximum(before[nearest], 1e-30), 1 / 8, 1)


def _sizes(differences: np.ndarray) -> np.ndarray:
    """How large each picture is, but for a few pixels."""
    return np.quantile(np.abs(np.nan_to_num(differences)), _JUDGED, axis=1)


def _compressed(places: np.ndarray, values: np.ndarray, error: float, tolerance: float) -> Family:
    """As few bases as leave out at most a quarter of the tolerance, from the pictures' inner products."""
    centre = values.mean(axis=0)
    away = np.nan_to_num(values - centre).astype(float)
    sizes, turned = np.linalg.eigh(away @ away.T)
    turned = turned[:, ::-1][:, sizes[::-1] > 1e-12 * max(sizes[-1], 1e-300)]

    def left_out(rank: int) -> float:
        """The largest error of any picture with ``rank`` bases."""
        return float(_sizes(away - turned[:, :rank] @ (turned[:, :rank].T @ away)).max())

    whole = turned.shape[1]
    count = next((rank for rank in range(whole) if left_out(rank) < tolerance / 4), whole)
    scores = turned[:, :count]
    fine = np.linspace(places[0], places[-1], _FINE * (len(places) - 1) + 1)
    coefficients = _spline(places, scores)(fine) if count else np.zeros((len(fine), 0))
    bases = (scores.T @ away).astype(np.float32)
    return Family(float(places[0]), float(places[-1]), centre, bases, coefficients, error)
