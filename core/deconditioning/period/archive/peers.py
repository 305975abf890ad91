"""What others make of the same archive: the delta method, and ridge regression on what it leaves.

The delta method is the climatology of the pixels plus the coarse anomalies, interpolated bilinearly with the means of
the cells kept: BCSD (Wood et al. 2004) of coarse values whose distribution has been corrected. For targets that cannot
be negative it multiplies by the ratio of the climatologies instead, and predictions end at zero. Both have the sd of
the errors when parts of the training period are predicted from the others, as the archive's own prediction has.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from deconditioning.errors import Check
from deconditioning.fields.problem.baselines import bilinear_conserving
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive.left_out import BLOCKS, folds, gaussian_crps
from deconditioning.period.archive.seasons import Seasons, regressed
from deconditioning.period.archive.training import Training
from deconditioning.period.behind_warp import CellsOfPixels
from deconditioning.period.series import Series

DELTA, RIDGE = "delta", "ridge on delta"
#: Pixels that λ is chosen on.
_CHOSEN_ON = 2000
#: The least climatology that is divided by, as a share of the mean of all values.
_LEAST_CLIMATE = 0.02
#: λ as multiples of the mean squared singular value.
_STRENGTHS = tuple(10.0 ** np.arange(-4, 2.5, 0.5))


@dataclass(frozen=True, eq=False)
class Peer:
    """A prediction of a series by another method.

    Parameters
    ----------
    means : (T, P) at the pixels, in the target's units; ``sd`` (P,).
    left_out_crps : mean CRPS on five blocks of the training period that are left out in turn.
    problem : the problem of the series.
    limits : the lowest and the highest value that the target can have, None if neither is known.
    """

    means: Float[np.ndarray, "T P"]
    sd: Float[np.ndarray, " P"]
    left_out_crps: float
    problem: DownscalingProblem
    limits: tuple[float, float] | None = None

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of a time."""
        return Predictive(self.field(time), self.spread(time), limits=self.limits)

    def field(self, time: int) -> Float[np.ndarray, "h w"]:
        """The mean of a time."""
        return self.problem.on_grid(self.means[time])

    def spread(self, time: int) -> Float[np.ndarray, "h w"]:
        """The sd of a time, which is that of all."""
        return self.problem.on_grid(self.sd)


@dataclass(frozen=True, eq=False)
class _Known:
    """Training times: design (N, h), fine values and interpolated coarse ones (N, P), coarse ones (N, M)."""

    design: np.ndarray
    fine: np.ndarray
    smooth: np.ndarray
    coarse: np.ndarray


#: Predicts (t, P) for times of known design, interpolated and coarse values from some of the training times.
_Method = Callable[[_Known, np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def peers(
    series: Series, training: Training, seasons: Seasons, parts: int, check: Check, *, positive: bool = False
) -> dict[str, Peer]:
    """Both predictions; none if coarse values of the series are missing at some time.

    ``seasons`` are the harmonics of the climatology, ``parts`` the blocks whose errors make the sd; ``positive`` if the
    target cannot be negative.
    """
    problem = series.problem
    z = series.coarse[:, problem.target_cell]
    if not np.isfinite(z).all():
        return {}
    design = seasons.design(training.dates)
    factor = _spread(training.cells, design) / _spread(training.coarse, design)
    known = _Known(
        design, training.fine, interpolated(problem, training.coarse * factor, check), training.coarse * factor
    )
    at = seasons.design(series.dates), interpolated(problem, z * factor, check), z * factor
    strength = _strength(known)
    methods: dict[str, _Method] = {DELTA: _delta, RIDGE: lambda *times: next(_ridge(*times, strengths=(strength,)))}
    if positive:
        methods = {DELTA: _ratio_of(problem), RIDGE: lambda *times: next(_ridge(*times, strengths=(strength,))).clip(0)}
    every, limits = np.arange(len(training)), (0.0, np.inf) if positive else None
    result = {}
    for name, method in methods.items():
        check()
        errors = _left_out(known, method, parts)
        blocks = _left_out(known, method, BLOCKS)
        block_errors = torch.as_tensor(blocks[:, np.isfinite(blocks[0])])
        crps = gaussian_crps(block_errors, block_errors.square().mean(0).sqrt())
        if positive:
            crps = _censored_crps(known.fine, blocks)
        result[name] = Peer(method(known, every, *at), np.sqrt((errors**2).mean(0)), crps, problem, limits)
    return result


def interpolated(problem: DownscalingProblem, rows: Sequence[np.ndarray] | np.ndarray, check: Check) -> np.ndarray:
    """(N, P) bilinear interpolation of the targets' values (N, M), each cell's mean restored."""
    result = np.empty((len(rows), len(problem.pixel)))
    for n, row in enumerate(rows):
        check()
        cells = np.full(problem.coarse_shape, np.nan)
        cells.flat[problem.target_cell] = row
        result[n] = bilinear_conserving(replace(problem, coarse=cells)).ravel()[problem.pixel]
    return result


def _spread(values: np.ndarray, design: np.ndarray) -> np.ndarray:
    """(M,) rms of the anomalies of each cell, never 0."""
    rms = np.sqrt(((values - design @ regressed(design, values)) ** 2).mean(0))
    return np.where(rms > 0, rms, 1.0)


def _left_out(known: _Known, method: _Method, parts: int) -> np.ndarray:
    """(N, P) errors of each part predicted from the others."""
    errors = np.empty_like(known.fine)
    for block, rest in folds(len(known.fine), parts):
        at = known.design[block], known.smooth[block], known.coarse[block]
        errors[block] = known.fine[block] - method(known, rest, *at)
    return errors


def _delta(known: _Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray) -> np.ndarray:
    """``D_t c + I(z_t − D_t c_z)``; interpolation I is linear, so that I(c_z) is regressed from interpolated values."""
    return smooth + design @ regressed(known.design[rows], known.fine[rows] - known.smooth[rows])


def _ratio_of(problem: DownscalingProblem) -> _Method:
    """``I(z_t) D_t c / D_t c_I`` with the climatology c_I of interpolated values, then multiplied to the cell means."""
    there = np.ones(len(problem.pixel), dtype=bool)
    cells = CellsOfPixels.of(problem, there)

    def predict(
        known: _Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray
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


def _censored_crps(fine: np.ndarray, errors: np.ndarray) -> float:
    """Mean CRPS of Gaussians that end at zero, from ``errors`` (N, P) at some pixels."""
    some = np.random.default_rng(0).permutation(np.flatnonzero(np.isfinite(errors[0])))[:_CHOSEN_ON]
    y, off = fine[:, some], errors[:, some]
    sd = np.broadcast_to(np.sqrt((off**2).mean(0)), off.shape)
    return float(Predictive((y - off).ravel(), sd.ravel(), limits=(0.0, np.inf)).crps(y.ravel()).mean())


def _ridge(
    known: _Known, rows: np.ndarray, design: np.ndarray, smooth: np.ndarray, coarse: np.ndarray, *,
    strengths: Sequence[float],
) -> Iterator[np.ndarray]:  # fmt: skip
    """The delta method plus a regression of its errors on the anomalies of all cells, for each λ from one SVD."""
    climate = regressed(known.design[rows], known.coarse[rows])
    x = known.coarse[rows] - known.design[rows] @ climate
    training = known.design[rows], known.smooth[rows], known.coarse[rows]
    errors = known.fine[rows] - _delta(known, rows, *training)
    u, s, v = np.linalg.svd(x, full_matrices=False)
    delta, anomalies, errors = _delta(known, rows, design, smooth, coarse), coarse - design @ climate, u.T @ errors
    for strength in strengths:
        yield delta + anomalies @ (v.T @ ((s / (s**2 + strength * np.mean(s**2)))[:, None] * errors))


def _strength(known: _Known) -> float:
    """The multiple of the mean squared singular value with the lowest left-out CRPS on some pixels."""
    there = np.flatnonzero(np.isfinite(known.fine[0]))
    some = np.random.default_rng(0).permutation(there)[:_CHOSEN_ON]
    part = replace(known, fine=known.fine[:, some], smooth=known.smooth[:, some])
    errors = np.empty((len(_STRENGTHS), *part.fine.shape))
    for block, rest in folds(len(part.fine), BLOCKS):
        at = part.design[block], part.smooth[block], part.coarse[block]
        for n, prediction in enumerate(_ridge(part, rest, *at, strengths=_STRENGTHS)):
            errors[n, block] = part.fine[block] - prediction
    scores = [gaussian_crps(each, each.square().mean(0).sqrt()) for each in torch.as_tensor(errors)]
    return _STRENGTHS[int(np.argmin(scores))]
