"""What others make of the same archive, for comparison.

The delta method is the climatology of the pixels plus the coarse anomalies, interpolated bilinearly with the means of
the cells kept: BCSD (Wood et al. 2004) of coarse values whose distribution has been corrected. For targets that cannot
be negative it multiplies by the ratio of the climatologies instead, and predictions end at zero. The others are
quantile delta mapping, analogs, a regression on empirical orthogonal functions, a ridge regression of what the delta
method leaves, and a random forest (`methods`). All have the sd of the errors when parts of the training period are
predicted from the others, as the archive's own prediction has.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float

from deconditioning.errors import Check
from deconditioning.fields.problem.baselines import bilinear_conserving
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.predictive import Predictive
from deconditioning.period.archive.left_out import BLOCKS, folds, gaussian_crps
from deconditioning.period.archive.peers.methods import (
    Known,
    Method,
    Penalised,
    analogs,
    delta,
    eof_regression,
    forest,
    quantile_mapping,
    ratio_of,
    ridge,
)
from deconditioning.period.archive.seasons import Seasons, regressed
from deconditioning.period.archive.training import Training
from deconditioning.period.series import Series

DELTA, RIDGE = "delta", "ridge on delta"
QUANTILES, ANALOGS, EOFS, FOREST = "quantile delta mapping", "analogs", "EOF regression", "random forest"
#: Short name → method, as options have them.
SHORT = {"bcsd": DELTA, "ridge": RIDGE, "qdm": QUANTILES, "analogs": ANALOGS, "eof": EOFS, "forest": FOREST}
#: Pixels that λ is chosen on.
_CHOSEN_ON = 2000
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


def peers(
    series: Series, training: Training, seasons: Seasons, parts: int, check: Check, *, positive: bool = False
) -> dict[str, Peer]:
    """The predictions by name; none if coarse values of the series are missing at some time.

    ``seasons`` are the harmonics of the climatology, ``parts`` the blocks whose errors make the sd; ``positive`` if the
    target cannot be negative.
    """
    if not np.isfinite(series.coarse[:, series.problem.target_cell]).all():
        return {}
    setting, result = _Fitting.of(series, training, seasons, parts, check, positive=positive), {}
    for name, make in _METHODS.items():
        check()
        result[name] = setting.peer(name, make(setting.known, setting.first))[0]
    return result


def fitted(
    series: Series, training: Training, seasons: Seasons, parts: int, check: Check, name: str, *,
    positive: bool = False, change: Callable[[Method], Method] | None = None,
) -> tuple[Peer, Float[np.ndarray, "N P"]]:  # fmt: skip
    """One of the predictions, by a method that ``change`` has changed, and its errors at left-out ``parts``."""
    setting = _Fitting.of(series, training, seasons, parts, check, positive=positive)
    method = _METHODS[name](setting.known, setting.first)
    return setting.peer(name, method if change is None else change(method))


@dataclass(frozen=True, eq=False)
class _Fitting:
    """What all methods are fitted to: the ``known`` times, and design, interpolated and coarse values ``at`` the times
    of the series, those of so many ``members`` one after another; the delta method's own form ``first``.
    """

    known: Known
    at: tuple[np.ndarray, np.ndarray, np.ndarray]
    parts: int
    problem: DownscalingProblem
    first: Method
    limits: tuple[float, float] | None
    members: int

    @staticmethod
    def of(
        series: Series, training: Training, seasons: Seasons, parts: int, check: Check, *, positive: bool
    ) -> "_Fitting":
        """What is known over the training period, coarse values times the factor that makes their anomalies as large as
        those of the archive's cells.
        """
        problem, design = series.problem, seasons.design(training.dates)
        factor = _spread(training.cells, design) / _spread(training.coarse, design)
        before, after = (each * factor for each in (training.coarse, series.coarse[:, problem.target_cell]))
        known = Known(design, training.fine, interpolated(problem, before, check), before)
        at = seasons.design(series.dates), interpolated(problem, after, check), after
        first, limits = (ratio_of(problem), (0.0, np.inf)) if positive else (delta, None)
        return _Fitting(known, at, parts, problem, first, limits, series.members)

    def peer(self, name: str, method: Method) -> tuple[Peer, Float[np.ndarray, "N P"]]:
        """The prediction by a method, and its errors at left-out parts, which are those of its sd."""
        known, limits = self.known, self.limits
        blocks = _left_out(known, method, BLOCKS, limits)
        errors = blocks if self.parts == BLOCKS else _left_out(known, method, self.parts, limits)
        block_errors = torch.as_tensor(blocks[:, np.isfinite(blocks[0])])
        crps = gaussian_crps(block_errors, block_errors.square().mean(0).sqrt())
        if limits is not None:
            crps = _censored_crps(known.fine, blocks)
        members = self.members if name == QUANTILES else 1  # its quantiles are those of the predicted times
        every = zip(*(np.array_split(each, members) for each in self.at), strict=True)
        means = np.concatenate([method(known, np.arange(len(known.fine)), *each) for each in every])
        return Peer(_above(means, limits), np.sqrt((errors**2).mean(0)), crps, self.problem, limits), errors


def _penalised(method: Penalised) -> Callable[[Known, Method], Method]:
    """A method whose penalty is the one with the lowest left-out CRPS."""
    return lambda known, first: _with(method, _strength(known, method))


#: What makes each method from the training times and the delta method's own form.
_METHODS: dict[str, Callable[[Known, Method], Method]] = {
    DELTA: lambda known, first: first,
    QUANTILES: lambda known, first: quantile_mapping,
    ANALOGS: lambda known, first: analogs,
    RIDGE: _penalised(ridge),
    EOFS: _penalised(eof_regression),
    FOREST: lambda known, first: forest,
}


def _with(method: Penalised, strength: float) -> Method:
    """A method with one strength of its penalty."""
    return lambda known, rows, design, smooth, coarse: next(method(known, rows, design, smooth, coarse, (strength,)))


def _above(means: np.ndarray, limits: tuple[float, float] | None) -> np.ndarray:
    """Means that are within the limits, if there are any."""
    return means if limits is None else means.clip(*limits)


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


def _left_out(known: Known, method: Method, parts: int, limits: tuple[float, float] | None) -> np.ndarray:
    """(N, P) errors of each part predicted from the others."""
    errors = np.empty_like(known.fine)
    for block, rest in folds(len(known.fine), parts):
        at = known.design[block], known.smooth[block], known.coarse[block]
        errors[block] = known.fine[block] - _above(method(known, rest, *at), limits)
    return errors


def _censored_crps(fine: np.ndarray, errors: np.ndarray) -> float:
    """Mean CRPS of Gaussians that end at zero, from ``errors`` (N, P) at some pixels."""
    some = np.random.default_rng(0).permutation(np.flatnonzero(np.isfinite(errors[0])))[:_CHOSEN_ON]
    y, off = fine[:, some], errors[:, some]
    sd = np.broadcast_to(np.sqrt((off**2).mean(0)), off.shape)
    return float(Predictive((y - off).ravel(), sd.ravel(), limits=(0.0, np.inf)).crps(y.ravel()).mean())


def _strength(known: Known, method: Penalised) -> float:
    """The multiple of the mean squared singular value with the lowest left-out CRPS on some pixels."""
    there = np.flatnonzero(np.isfinite(known.fine[0]))
    some = np.random.default_rng(0).permutation(there)[:_CHOSEN_ON]
    part = replace(known, fine=known.fine[:, some], smooth=known.smooth[:, some])
    errors = np.empty((len(_STRENGTHS), *part.fine.shape))
    for block, rest in folds(len(part.fine), BLOCKS):
        at = part.design[block], part.smooth[block], part.coarse[block]
        for n, prediction in enumerate(method(part, rest, *at, _STRENGTHS)):
            errors[n, block] = part.fine[block] - prediction
    scores = [gaussian_crps(each, each.square().mean(0).sqrt()) for each in torch.as_tensor(errors)]
    return _STRENGTHS[int(np.argmin(scores))]
