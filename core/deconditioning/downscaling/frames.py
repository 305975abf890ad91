"""Pictures along one slider, computed ahead of the hand: a few previews, and a curve in the space that they span."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deconditioning.errors import Check, never

#: Estimated error of a family that is good enough, as a share of the posterior's sd.
TOLERANCE = 0.01
#: Pictures that a family begins with, and the most that it takes.
_FEWEST, _MOST = 7, 25
#: Steps between the coefficients that are written down, for each interval between two pictures.
_FINE = 16
#: Of values in single precision, such as a preview's sd, the share by which an error is judged: where they are smallest
#: rounding decides, not the curve.
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
    pictures : how many were computed.
    """

    low: float
    high: float
    centre: np.ndarray
    bases: np.ndarray
    coefficients: np.ndarray
    error: float
    pictures: int

    def at(self, t: float) -> np.ndarray:
        """The picture (P,) at ``t``, which is moved into the range."""
        steps = len(self.coefficients) - 1
        place = min(max((t - self.low) / (self.high - self.low), 0.0), 1.0) * steps
        k = min(int(place), steps - 1)
        first, second = self.coefficients[k : k + 2]
        return self.centre + (first + (place - k) * (second - first)) @ self.bases


def family(
    picture: Callable[[float], np.ndarray], low: float, high: float, *, rounded: int = 0, tolerance: float = TOLERANCE,
    check: Check = never,
) -> Family:  # fmt: skip
    """Compute pictures (P,) at evenly spaced numbers, halving the steps until a cubic spline between them holds.

    The pictures of the next half are compared with the spline through those before; a cubic's error falls by 2⁴ when
    steps are halved (de Boor 1978, chapter V), of which 2³ is counted on. Units are the picture's: give pictures as
    shares of the sd. Their last ``rounded`` values are known in single precision only. ``check`` is called before each.
    """
    known: dict[float, np.ndarray] = {}

    def computed(t: float) -> np.ndarray:
        if t not in known:
            check()
            known[t] = np.asarray(picture(t), dtype=np.float32)
        return known[t]

    places = np.linspace(low, high, (_FEWEST + 1) // 2)
    values = np.stack([computed(float(t)) for t in places])
    error = np.inf
    while error > tolerance and 2 * len(places) - 1 <= _MOST:
        middles = (places[1:] + places[:-1]) / 2
        between = np.stack([computed(float(t)) for t in middles])
        error = _largest(_spline(places, values)(middles) - between, rounded) / 8
        order = np.argsort(np.concatenate([places, middles]))
        places, values = (np.concatenate(pair)[order] for pair in ((places, middles), (values, between)))
    return _compressed(places, values, error, tolerance, rounded)


def _spline(places: np.ndarray, values: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    from scipy.interpolate import CubicSpline

    return CubicSpline(places, np.nan_to_num(values))


def _largest(differences: np.ndarray, rounded: int) -> float:
    """The largest difference; of the last ``rounded`` values of each picture, over most of them."""
    sizes = np.abs(np.nan_to_num(differences))
    plain, rough = sizes[:, : sizes.shape[1] - rounded], sizes[:, sizes.shape[1] - rounded :]
    return max(float(plain.max(initial=0.0)), float(np.quantile(rough, _JUDGED, axis=1).max()) if rounded else 0.0)


def _compressed(places: np.ndarray, values: np.ndarray, error: float, tolerance: float, rounded: int) -> Family:
    """As few bases as leave at most a quarter of the tolerance, from the pictures' own inner products."""
    centre = values.mean(axis=0)
    away = np.nan_to_num(values - centre).astype(float)
    sizes, turned = np.linalg.eigh(away @ away.T)
    turned = turned[:, ::-1][:, sizes[::-1] > 1e-12 * max(sizes[-1], 1e-300)]

    def left_out(rank: int) -> float:
        return _largest(away - turned[:, :rank] @ (turned[:, :rank].T @ away), rounded)

    whole = turned.shape[1]
    count = next((rank for rank in range(whole) if left_out(rank) < tolerance / 4), whole)
    scores = turned[:, :count]
    fine = np.linspace(places[0], places[-1], _FINE * (len(places) - 1) + 1)
    coefficients = _spline(places, scores)(fine) if count else np.zeros((len(fine), 0))
    bases = (scores.T @ away).astype(np.float32)
    return Family(float(places[0]), float(places[-1]), centre, bases, coefficients, error, len(places))
