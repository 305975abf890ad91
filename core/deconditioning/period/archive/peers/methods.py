"""Predictions of fine values from coarse ones by other methods, each fitted to some of the times of an archive."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.period.archive.seasons import regressed
from deconditioning.period.behind_warp import CellsOfPixels

#: The least climatology that is divided by, as a share of the mean of all values.
_LEAST_CLIMATE = 0.02
#: Analogs and the leading patterns of the cells that they are compared by; patterns of the fine field that are
#: regressed; trees of a forest, and times in a leaf at least.
_ANALOGS, _COARSE_PATTERNS, _FINE_PATTERNS, _TREES, _LEAF = 30, 10, 20, 50, 3


@dataclass(frozen=True, eq=False)
class Known:
    """Training times: design (N, h), fine values and interpolated coarse ones (N, P), coarse ones (N, M)."""

    design: np.ndarray
    fine: np.ndarray
    smooth: np.ndarray
    coarse: np.ndarray


#: Predicts (t, P) for times of known design, interpolated and coarse values from some of the training times.
Method = Callable[[Known, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]
#: The same for each of several strengths λ of a penalty.
Penalised = Callable[[Known, np.ndarray, np.ndarray, np.ndarray, np.ndarray, Sequence[float]], Iterator[np.ndarray]]


def delta(known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """``D_t c + I(z_t − D_t c_z)``; interpolation I is linear, so that I(c_z) is regressed from interpolated values."""
    return smooth + design @ regressed(known.design[rows], known.fine[rows] - known.smooth[rows])


def ratio_of(problem: DownscalingProblem) -> Method:
    """``I(z_t) D_t c / D_t c_I`` with the climatology c_I of interpolated values, then multiplied to the cell means."""
    there = np.ones(len(problem.pixel), dtype=bool)
    cells = CellsOfPixels.of(problem, there)

    def predict(
        known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray
    ) -> np.ndarray:
        """(t, P) of times of known design, interpolated and coarse values."""
        fine, interpolated = (
            np.maximum(design @ regressed(known.design[rows], each), _LEAST_CLIMATE * np.nanmean(np.abs(each)))
            for each in (known.fine[rows], known.smooth[rows])
        )
        result = np.maximum(smooth, 0.0) * fine / interpolated
        for row, values in zip(result, coarse, strict=True):
            aim, mean = np.zeros(cells.count), cells.mean(np.nan_to_num(row))
            aim[problem.target_cell] = values
            row *= cells.at_pixels(np.divide(aim, mean, out=np.ones_like(mean), where=mean > 0))
        return result

    return predict


def ridge(
    known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray,
    strengths: Sequence[float],
) -> Iterator[np.ndarray]:  # fmt: skip
    """The delta method plus a regression of its errors on the anomalies of all cells, for each λ from one SVD."""
    climate = regressed(known.design[rows], known.coarse[rows])
    x = known.coarse[rows] - known.design[rows] @ climate
    training = known.design[rows], known.smooth[rows], known.coarse[rows]
    errors = known.fine[rows] - delta(known, rows, *training)
    smoothest, anomalies = delta(known, rows, design, smooth, coarse), coarse - design @ climate
    for slopes in _slopes(x, errors, strengths):
        yield smoothest + anomalies @ slopes


def _slopes(x: np.ndarray, y: np.ndarray, strengths: Sequence[float]) -> Iterator[np.ndarray]:
    """(M, k) slopes of a ridge regression of y (N, k) on x (N, M) for each λ, in mean squared singular values."""
    u, s, v = np.linalg.svd(x, full_matrices=False)
    rotated = u.T @ y
    for strength in strengths:
        yield v.T @ ((s / (s**2 + strength * np.mean(s**2)))[:, None] * rotated)


def _patterns(fields: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Scores (N, k) and patterns (k, P) of the leading empirical orthogonal functions of fields (N, P); patterns are
    NaN where a field is.
    """
    there = np.isfinite(fields).all(0)
    values, vectors = np.linalg.eigh(fields[:, there] @ fields[:, there].T)
    leading = np.argsort(values)[::-1][: min(_FINE_PATTERNS, len(values))]
    leading = leading[values[leading] > 1e-12 * max(values[-1], 1e-300)]
    roots = np.sqrt(values[leading])
    return vectors[:, leading] * roots, vectors[:, leading].T @ fields / roots[:, None]


def eof_regression(
    known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray,
    strengths: Sequence[float],
) -> Iterator[np.ndarray]:  # fmt: skip
    """Climatology plus the leading empirical orthogonal functions of the fine anomalies, regressed on the cells'."""
    before = known.design[rows]
    fine, climate = regressed(before, known.fine[rows]), regressed(before, known.coarse[rows])
    scores, patterns = _patterns(known.fine[rows] - before @ fine)
    for slopes in _slopes(known.coarse[rows] - before @ climate, scores, strengths):
        yield design @ fine + (coarse - design @ climate) @ slopes @ patterns


def quantile_mapping(
    known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray
) -> np.ndarray:
    """``H_t c + a + q_r(τ) − q_a(τ)`` of the anomalies a of interpolated values, at their quantile τ of the predicted
    times, with the quantiles q_a and q_r of interpolated and fine anomalies of the training times.

    Source: Cannon, Sobie and Murdock 2015, *Journal of Climate* 28 (quantile delta mapping).
    """
    before = known.design[rows]
    of_fine, of_smooth = (regressed(before, each[rows]) for each in (known.fine, known.smooth))
    fine, past = (np.sort(each[rows] - before @ of, axis=0) for each, of in
                  ((known.fine, of_fine), (known.smooth, of_smooth)))  # fmt: skip
    anomaly = smooth - design @ of_smooth
    rank = (np.argsort(np.argsort(anomaly, axis=0), axis=0) + 0.5) / len(anomaly)
    place = np.clip(rank * len(fine) - 0.5, 0, len(fine) - 1)
    below = np.minimum(place.astype(int), len(fine) - 2)
    share = place - below
    difference = fine - past
    low, high = (np.take_along_axis(difference, at, axis=0) for at in (below, below + 1))
    return design @ of_fine + anomaly + (1 - share) * low + share * high


def _of_delta(known: Known, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What the delta method leaves (n, P), the anomalies of the cells (n, M), and their climatology (h, M)."""
    before = known.design[rows]
    climate = regressed(before, known.coarse[rows])
    errors = known.fine[rows] - delta(known, rows, before, known.smooth[rows], known.coarse[rows])
    return errors, known.coarse[rows] - before @ climate, climate


def analogs(known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """The delta method plus the mean of what it leaves at the times whose cells are most alike, weighted by the inverse
    of the squared distance.

    Source: Zorita and von Storch 1999, *Journal of Climate* 12.
    """
    errors, x, climate = _of_delta(known, rows)
    axes = np.linalg.svd(x, full_matrices=False)[2][:_COARSE_PATTERNS].T
    distance = np.square(((coarse - design @ climate) @ axes)[:, None] - (x @ axes)[None]).sum(-1)
    nearest = np.argsort(distance, axis=1)[:, :_ANALOGS]
    weight = 1 / (np.take_along_axis(distance, nearest, axis=1) + 1e-9 * np.mean(x**2))
    share = np.zeros_like(distance)
    np.put_along_axis(share, nearest, weight / weight.sum(1, keepdims=True), axis=1)
    return delta(known, rows, design, smooth, coarse) + share @ errors


def forest(known: Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """The delta method plus a random forest that predicts the leading patterns of what it leaves from all cells and the
    season.

    Source: Breiman 2001, *Machine Learning* 45.
    """
    from sklearn.ensemble import RandomForestRegressor

    errors, x, climate = _of_delta(known, rows)
    scores, patterns = _patterns(errors)
    trees = RandomForestRegressor(_TREES, min_samples_leaf=_LEAF, max_features=1 / 3, random_state=0)
    trees.fit(np.hstack([x, known.design[rows]]), scores)
    found = trees.predict(np.hstack([coarse - design @ climate, design])).reshape(len(design), -1)
    return delta(known, rows, design, smooth, coarse) + found @ patterns
