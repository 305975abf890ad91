"""Two variables of which one is never above the other, such as the lowest and the highest temperature of a day.

Their middle ``(a + b)/2`` and their difference ``b − a``, as a power of a censored Gaussian, are downscaled with the
archive, each with the coarse values of the other as predictors. With the correlation ϱ(x) of their left-out errors,

    middle | z ~ N(m + ϱ s z, (1 − ϱ²) s²),      difference = g⁻¹(c + d z),      z ~ N(0, 1),

and ``a, b = middle ∓ difference/2``: mixtures over the nodes of a quadrature, in which a is never above b, so that
means, quantiles and draws keep the order too.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.special import ndtr

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import InputError
from deconditioning.metrics.predictive import Part, Predictive
from deconditioning.period.archive.predictors import Predictors
from deconditioning.period.archive.run import WithoutPeers, predicted_with_archive, with_peers
from deconditioning.period.archive.training import Training
from deconditioning.period.behind_warp import BehindWarp, CellsOfPixels
from deconditioning.period.correlation import days_of
from deconditioning.period.joint import linked_errors
from deconditioning.period.run import PeriodResult
from deconditioning.period.series import Series, SeriesFile, scale_of
from deconditioning.wording import number

#: Nodes of the quadrature over z; times that the correlation of all pixels counts for; the largest correlation.
_NODES, _PRIOR_TIMES, _MOST = 9, 10.0, 0.98
#: A share below which its digits say nothing.
_SMALL_SHARE = 1e-4

_Two = Callable[[Any, Any], Any]


@dataclass(frozen=True, eq=False)
class Pair:
    """Downscaled series of a ``lower`` and an ``upper`` variable, whose draws of the same seed belong together."""

    lower: PeriodResult
    upper: PeriodResult


def downscale_pair(
    lower: Series, upper: Series, trainings: tuple[Training, Training], settings: DownscaleSettings | dict[str, Any],
    context: Any = None, *, link: bool | None = None,
) -> Pair:  # fmt: skip
    """Predict two series of the same cells and times, the lower one never above the upper one.

    ``trainings`` are the training periods of both; ``link`` is that of `downscale_with_archive`. Raises ``InputError``
    if their units, times or cells differ, or if the lower one is above the upper one in the archive; ``Cancelled``.
    """
    settings = settings if isinstance(settings, DownscaleSettings) else DownscaleSettings.from_dict(settings)
    context = context or NoReport()
    if lower.stations is not None:
        raise InputError("Stations measure one variable: leave them out, or downscale each variable by itself.")
    if lower.errors is not None:
        raise InputError("Errors belong to cells of one variable: leave them out, or downscale each by itself.")
    trainings = _at_common_times(*(each.in_memory("A pair of variables") for each in trainings))
    _check(lower, upper, *trainings)
    middle, span = (_combined(lower, upper, *trainings, of) for of in (_middle, _difference))
    parts = []
    for (series, training), other, warp in ((middle, span, "none"), (span, middle, "box-cox")):
        joined = replace(training, predictors=_with(training.predictors, *other))
        parts.append(predicted_with_archive(series, joined, settings.replace(warp=warp), context, link=link))
    ends = _Ends.of(parts[0], parts[1], context)
    both = [ends.result(series, training, sign, context)
            for series, training, sign in ((lower, trainings[0], -1), (upper, trainings[1], 1))]  # fmt: skip
    about = _about_order(*both)
    return Pair(*(replace(each, diagnostics={**each.diagnostics, **about}) for each in both))


def _about_order(lower: PeriodResult, upper: PeriodResult) -> dict[str, Any]:
    """A sentence on how often the order would be wrong without the constraint, and this share.

    It is the mean of ``P(a > b) = Φ((E a − E b)/√(s_a² + s_b²))`` for independent Gaussians over pixels and times.
    """
    above = [
        ndtr((lower.means[time] - upper.means[time]) / np.hypot(lower.sd(time), upper.sd(time)))
        for time in range(len(lower.series))
    ]
    share, (low, high) = float(np.nanmean(above)), (each.series.problem.long_name for each in (lower, upper))
    percent = f"{number(100 * share, 2)} %" if share > _SMALL_SHARE else f"less than {100 * _SMALL_SHARE:g} %"
    sentence = (
        f"{low[:1].upper()}{low[1:]} is never above {high}; if both were drawn independently, with the same means and "
        f"sd, it would be above at {percent} of all pixels and times."
    )
    return {"order": sentence, "share_above_if_independent": share}


def _middle(a: Any, b: Any) -> Any:
    return (a + b) / 2


def _difference(a: Any, b: Any) -> Any:
    return b - a


def _check(lower: Series, upper: Series, known: Training, known_upper: Training) -> None:
    names = tuple(f"`{each.problem.spec.target}`" for each in (lower, upper))
    if lower.problem.units != upper.problem.units:
        raise InputError(
            f"{names[0]} is in {lower.problem.units}, {names[1]} in {upper.problem.units}: give both in one unit."
        )
    if lower.labels != upper.labels or not np.array_equal(lower.problem.target_cell, upper.problem.target_cell):
        raise InputError(f"{names[0]} and {names[1]} are not known at the same times and cells: choose those of both.")
    off = known.fine - known_upper.fine
    if np.nanmax(off) > 1e-3 * float(np.nanmean(np.abs(off))):
        raise InputError(
            f"{names[0]} is above {names[1]} by up to {np.nanmax(off):.3g} {lower.problem.units} in the archive: "
            "exchange them, or downscale each by itself."
        )


def _at_common_times(known: Training, upper: Training) -> tuple[Training, Training]:
    """Both at the times that they share."""
    common = [label for label in known.labels if label in set(upper.labels)]
    return _at(known, common), _at(upper, common)


def _at(training: Training, labels: Sequence[str]) -> Training:
    if tuple(labels) == training.labels:
        return training
    place = {label: n for n, label in enumerate(training.labels)}
    rows = [place[label] for label in labels]
    predictors = replace(training.predictors, known=training.predictors.known[rows])
    return replace(
        training, labels=tuple(labels), dates=tuple(training.dates[n] for n in rows), fine=training.fine[rows],
        coarse=training.coarse[rows], cells=training.cells[rows], predictors=predictors,
    )  # fmt: skip


def _combined(
    lower: Series, upper: Series, known: Training, known_upper: Training, of: _Two
) -> tuple[Series, Training]:  # fmt: skip
    """The series and the training period of a combination of both."""
    coarse = of(lower.coarse, upper.coarse)
    observed = coarse[:, lower.problem.target_cell]
    level, scale = scale_of(observed, lower.problem.spec.target, len(lower))
    problem = replace(
        lower.problem, target_scale=replace(lower.problem.target_scale, sd=scale),
        coarse=of(lower.problem.coarse, upper.problem.coarse),
    )  # fmt: skip
    read, read_upper = lower.file.coarse, upper.file.coarse
    file = SeriesFile(lower.file.labels, lambda index: of(read(index), read_upper(index)), lower.file.numbered)
    series = replace(lower, problem=problem, coarse=coarse, level=level, fine=None, file=file)
    arrays = {name: of(getattr(known, name), getattr(known_upper, name)) for name in ("fine", "coarse", "cells")}
    return series, replace(known, **arrays)


def _with(predictors: Predictors, other: Series, training: Training) -> Predictors:
    """Predictors and the coarse values of another series beside them."""
    values = other.coarse[:, other.problem.target_cell]
    centred = training.coarse - training.coarse.mean(0)
    sd = float(np.sqrt(np.mean(centred**2))) or 1.0
    later = predictors.at(other.labels)
    return Predictors(
        np.concatenate([predictors.cell, other.problem.target_cell]),
        np.hstack([predictors.known.reshape(len(training), -1), training.coarse / sd]), other.labels,
        np.hstack([later, values / sd]),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class _Ends:
    """Both parts, and the correlation ϱ (P,) of their left-out errors."""

    middle: PeriodResult
    span: PeriodResult
    correlation: Float[np.ndarray, " P"]

    @staticmethod
    def of(middle: WithoutPeers, span: WithoutPeers, context: Any) -> "_Ends":
        """With the correlation on blocks of time left out, held to that of all pixels where times are few."""
        both = [each.standard_errors(context.check) for each in (middle, span)]
        product, squares = both[0] * both[1], [(each**2).sum(0) for each in both]
        of_pixel = product.sum(0) / np.sqrt(np.maximum(squares[0] * squares[1], 1e-300))
        usual, count = float(np.nanmean(of_pixel)), len(product)
        correlation = np.clip((count * of_pixel + _PRIOR_TIMES * usual) / (count + _PRIOR_TIMES), -_MOST, _MOST)
        return _Ends(middle.result, span.result, np.nan_to_num(correlation))

    def result(self, series: Series, training: Training, sign: int, context: Any) -> PeriodResult:
        """The lower (sign −1) or the upper variable (1), with the other methods for it."""
        means = self.middle.means + sign * self.span.means / 2
        parts = {"middle": self.middle, "difference": self.span}
        diagnostics = {"device": self.middle.diagnostics["device"], "jitter": 0.0,
                       "mixture": "; ".join(f"{name}: {each.diagnostics['mixture']}" for name, each in parts.items()),
                       "warp": self.span.diagnostics["warp"].replace("The target", "The difference of both"),
                       "training_times": len(training),
                       "correlation_of_middle_and_difference": float(self.correlation.mean())}  # fmt: skip
        linked = {name: each.diagnostics["linked"] for name, each in parts.items() if "linked" in each.diagnostics}
        if linked:
            diagnostics["linked"] = " ".join(f"Of the {name}: {words}" for name, words in linked.items())
        end = _End(self, sign)
        result = replace(
            self.middle, series=series, means=means, diagnostics=diagnostics, behind=end, by_value=None,
            warnings=tuple(dict.fromkeys((*self.middle.warnings, *self.span.warnings))),
        )  # fmt: skip
        return with_peers(result, training, math.nan, context)


def _behind(span: PeriodResult) -> BehindWarp:
    assert isinstance(span.behind, BehindWarp)
    return span.behind


@dataclass(frozen=True, eq=False)
class _End:
    """The distributions of one of both variables: `period.run.Behind`."""

    ends: _Ends
    sign: int

    def predictive(self, time: int) -> Predictive:
        """The distributions (H, W) of a time."""
        ends, behind = self.ends, _behind(self.ends.span)
        problem = ends.middle.series.problem
        m, s = ends.middle.means[time].flat[problem.pixel], ends.middle.sd(time).flat[problem.pixel]
        centre, spread = behind.gaussian(time)
        rest = s * np.sqrt(1 - ends.correlation**2)
        parts: list[Part] = []
        for node, weight in zip(*_nodes(), strict=True):
            difference = behind.warp.backward(centre + spread * node)
            parts.append((float(weight), m + ends.correlation * s * node + self.sign * difference / 2, rest))
        mean = sum(weight * at for weight, at, _ in parts)
        sd = np.sqrt(sum(weight * (at - mean) ** 2 for weight, at, _ in parts) + rest**2)
        every = tuple((weight, problem.on_grid(at), problem.on_grid(wide)) for weight, at, wide in parts)
        exact = ends.middle.means[time] + self.sign * ends.span.means[time] / 2
        return Predictive(exact, problem.on_grid(sd), every)

    def draws(self, count: int, seed: int) -> Iterator[Float[np.ndarray, "T P"]]:
        """Joint draws; those of the other variable with the same seed belong to them."""
        ends, behind = self.ends, _behind(self.ends.span)
        series = ends.middle.series
        problem, times = series.problem, len(series)
        means = ends.middle.means.reshape(times, -1)[:, problem.pixel]
        sds = np.stack([ends.middle.sd(time).flat[problem.pixel] for time in range(times)])
        cells = CellsOfPixels.of(problem, np.isfinite(means[0]))
        residuals = [each for each in (ends.middle.residuals, behind.latent.residuals) if each is not None]
        days, pixels = days_of(series.dates), len(problem.pixel)
        both = (linked_errors(each, days, pixels, count, seed + n) for n, each in enumerate(residuals))
        for (independent, _), (shared, _) in zip(*both, strict=True):
            error = sds * (ends.correlation * shared + np.sqrt(1 - ends.correlation**2) * independent)
            yield means + _centred(error, np.isfinite(behind.aims), cells) + self.sign * behind.drawn(shared) / 2


def _centred(
    errors: Float[np.ndarray, "T P"], kept: Bool[np.ndarray, "T C"], cells: CellsOfPixels
) -> Float[np.ndarray, "T P"]:
    """Errors whose means over the cells that are ``kept`` at their time are zero."""
    return np.stack(
        [row - cells.at_pixels(np.where(known, cells.mean(np.nan_to_num(row)), 0.0))
         for row, known in zip(errors, kept, strict=True)]
    )  # fmt: skip


def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()
