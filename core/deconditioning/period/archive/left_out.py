"""What training times show of themselves when blocks of them are left out: the mixture, and the sd.

The mixture of the archive's covariance and the kernel's is chosen by the CRPS on five blocks of time left out. The sd
of a pixel comes from the errors when each half of the training period is predicted from the other, so that a drift
shows; from five blocks if a half lacks seasons that the other has. Where coarse values of the series have errors that
those of the training period lack, such errors are drawn for the left-out times. With the stated variance v,
``λ = mean e² / mean v`` and ν = 10, ``sd²(x) = (ν λ v(x) + Σ_t e_t²(x)) / (ν + N)``.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import Check, never
from deconditioning.models.learning.repeats import log_densities
from deconditioning.period.archive.gain import CoarseSide, FineSide, Gain, Mixture, anomalies, gains, kernel_scale

#: The mixtures that are tried.
_SHARES, _REACHES = (0.25, 0.5, 0.75, 0.9, 0.97, 0.99), (4.0, 8.0, 16.0, None)
_MIXTURES = (Mixture(0.0, None), *(Mixture(share, reach) for share in _SHARES for reach in _REACHES))
_WITH_PREDICTORS = tuple(replace(mixture, predictors=True) for mixture in _MIXTURES[1:])
#: Multiples of s² that are tried for the covariance of the cells.
_FACTORS = (0.03, 0.1, 0.3, 1.0, 3.0)
#: Blocks of time that are left out in turn; the weight of the stated variance beside that of N times.
BLOCKS, _PRIOR_TIMES = 5, 10.0


@dataclass(frozen=True)
class Choice:
    """The ``mixture`` with the lowest left-out CRPS, the ``crps`` of each that was tried, by its words, and ``scale``
    s² on all times.
    """

    mixture: Mixture
    crps: dict[str, float]
    scale: float


def choose_mixture(coarse: CoarseSide, fine: FineSide, check: Check = never) -> Choice:
    """The best mixture on blocks of time left out, everything but the kernel fitted again without each block."""
    count = len(coarse.z)
    mixtures = _MIXTURES + (_WITH_PREDICTORS if bool(coarse.is_predictor.any()) else ())
    errors = [torch.empty_like(fine.y) for _ in mixtures]
    variances = [torch.zeros_like(fine.prior) for _ in mixtures]
    for block, rest in folds(count, BLOCKS):
        check()
        known = anomalies(coarse, fine, rest)
        scale = kernel_scale(coarse, fine, known)
        for n, gain in enumerate(gains(coarse, fine, known, scale, mixtures)):
            errors[n][block] = fine.y[block] - gain.mean(coarse.design[block], coarse.seen[block])
            variances[n] += gain.variance / BLOCKS
    scores = [gaussian_crps(e, spread_of(e, v)) for e, v in zip(errors, variances, strict=True)]
    best = int(np.argmin(scores))
    everything = anomalies(coarse, fine, np.arange(count))
    words = [mixture.words for mixture in mixtures]
    return Choice(mixtures[best], dict(zip(words, scores, strict=True)), kernel_scale(coarse, fine, everything))


def choose_for_cells(coarse: CoarseSide, choice: Choice, check: Check = never) -> Choice:
    """The mixture and s² with the largest log density of the coarse anomalies of left-out blocks, for cells that are
    missing; they look at the same coarse values as ``choice``.

    The kernel is that of the pixels given the cells, and the mixture that predicts pixels best from all cells need not
    say how cells vary.
    """
    used, predictors = coarse.used(choice.mixture), choice.mixture.predictors
    tried = [
        replace(choice, mixture=replace(mixture, predictors=predictors), scale=factor * choice.scale)
        for mixture in _MIXTURES for factor in _FACTORS
    ]  # fmt: skip
    densities = np.zeros(len(tried))
    for block, rest in folds(len(coarse.z), BLOCKS):
        known = coarse.anomalies(rest)
        a = known.at(coarse.design[block], coarse.seen[block])[:, used].T
        for number, each in enumerate(tried):
            check()
            factor = known.factor(coarse, each.mixture, each.scale)
            densities[number] += float(log_densities(a, factor).sum())
    return tried[int(densities.argmax())]


#: A gain for some pixels from some training times.
Method = Callable[[CoarseSide, FineSide, np.ndarray], Gain]


def mixed(choice: Choice, coarse: CoarseSide, some: FineSide, parts: int) -> Method:
    """The chosen mixture as a method; s² of every set of training times is that of ``some`` pixels."""
    count = len(coarse.z)
    scales = {
        int(rows.sum()): kernel_scale(coarse, some, anomalies(coarse, some, rows)) for _, rows in folds(count, parts)
    }
    scales[int(np.arange(count).sum())] = choice.scale

    def gain(coarse: CoarseSide, fine: FineSide, rows: np.ndarray) -> Gain:
        """The gain of the mixture from the training times ``rows``."""
        return next(gains(coarse, fine, anomalies(coarse, fine, rows), scales[int(rows.sum())], [choice.mixture]))

    return gain


def folds(count: int, parts: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Contiguous blocks of times, each with all other times."""
    every = np.arange(count)
    return [(block, np.setdiff1d(every, block)) for block in np.array_split(every, parts)]


def left_out_errors(
    coarse: CoarseSide, fine: FineSide, method: Method, parts: int
) -> tuple[Float[Tensor, "N p"], Float[Tensor, " p"]]:
    """Errors of each of the ``parts`` of the training period predicted from the others, and the variance stated."""
    errors, variance = torch.empty_like(fine.y), torch.zeros_like(fine.prior)
    for block, rest in folds(len(coarse.z), parts):
        gain = method(coarse, fine, rest)
        errors[block] = fine.y[block] - gain.mean(coarse.design[block], coarse.seen[block])
        variance += gain.variance / parts
    return errors, variance


def error_ratio(errors: Float[Tensor, "N p"], variance: Float[Tensor, " p"], more: Tensor | float = 0.0) -> float:
    """λ: the mean squared left-out error, and ``more`` (p,) of it that is known, over the mean stated variance."""
    return float((errors.square().mean(0) + more).mean() / variance.mean())


def spread_of(
    errors: Float[Tensor, "N p"], variance: Float[Tensor, " p"], ratio: float | None = None, more: Tensor | float = 0.0
) -> Float[Tensor, " p"]:
    """sd of each pixel from left-out errors, held to λ times the stated variance where times are few.

    ``ratio`` is λ, by default that of these pixels; ``more`` (p,) of the squared error is known.
    """
    stated = variance * (error_ratio(errors, variance, more) if ratio is None else ratio)
    squares = errors.square().sum(0) + len(errors) * more
    return ((_PRIOR_TIMES * stated + squares) / (_PRIOR_TIMES + len(errors))).sqrt()


def gaussian_crps(error: Float[Tensor, "N p"], sd: Float[Tensor, " *p"]) -> float:
    """Mean CRPS of Gaussians. Source: Gneiting and Raftery 2007, eq. 21."""
    w = error / sd
    density = torch.exp(-0.5 * w.square()) / math.sqrt(2 * math.pi)
    return float((sd * (w * torch.erf(w / math.sqrt(2)) + 2 * density - 1 / math.sqrt(math.pi))).mean())
