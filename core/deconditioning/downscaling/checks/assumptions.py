"""The assumptions of a map, each tested by a number."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import skew

from deconditioning.downscaling.checks.few_cells import FEW, stations_inside, visible_targets
from deconditioning.downscaling.checks.over_water import over_water
from deconditioning.downscaling.starting import columns_of, coordinate_names
from deconditioning.fields.problem.explained_variation import WEAK, explained_share
from deconditioning.fields.problem.physical_limits import limits_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.tiles import evaluate
from deconditioning.mediator_shift import mediator_shift
from deconditioning.models.mediation import MediatorGrams, shrinkage_weights
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.wording import number, signed

#: A share below which an assumption carries less than it leaves open.
_HALF = 0.5
#: Share of the area on which intervals must stay inside what the target can be.
_MOST_INSIDE = 0.95
#: Skewness of the coarse values, either way, from which a Gaussian's intervals lean: a log-normal's whose σ is 0.3.
_SKEWED = 1.0
#: Share of the targets that must lie where bags have taught W something.
_MOST_REACHED = 0.9
#: How far the mean may leave the cells' range, in units of it: where covariates leave that of their means, and at all.
_MOST_BEYOND, _MOST_AT_ALL = 0.5, 1.0
#: The least coverage of 95 % intervals one scale up, and the most of 50 % intervals, of a warp that is calibrated.
_CALIBRATED = (0.88, 0.80)
#: From how many of its own sds beyond the cells' range the covariate that takes the mean there is named.
_NOTABLE = 2.0
#: The assumptions that become warnings where they do not hold.
_REFUSED = ("intervals", "reach", "water")
#: Half a 95 % interval, in sds.
_REACH = 1.96
#: How near to a bound of its own, relative to the way between both, a parameter counts as ended there.
_NEAR = 0.01


#: What each assumption claims, and the threshold of its test.
STATED: dict[str, tuple[str, str]] = {
    "covariates": ("Covariates explain the variation inside the cells", f"at least {100 * WEAK:.0f} % explained"),
    "mediation": ("The mediators predict the contents of the cells", f"at least {100 * _HALF:.0f} % explained"),
    "overlap": (
        "The mediators of targets and of cells with covariates overlap",
        f"an effective sample size of at least {100 * _HALF:.0f} %, and {100 * _MOST_REACHED:.0f} % of the targets "
        "near a cell",
    ),
    "aggregation": (
        "The cell means determine most of the variation inside the cells",
        f"at least {100 * _HALF:.0f} % captured",
    ),
    "reach": (
        "The map extrapolates little beyond the cells",
        f"the mean is beyond the cells by at most {number(_MOST_AT_ALL)} × their range; {number(_MOST_BEYOND)} × where "
        "a covariate is extrapolated",
    ),
    "cells": ("Enough cells, or stations inside them, determine the hyperparameters", f"at least {FEW} together"),
    "water": ("The orography is flat over water", ""),
    "intervals": (
        "Gaussian intervals suit this target",
        f"skewness between −{number(_SKEWED)} and {number(_SKEWED)}, or {100 * _MOST_INSIDE:.0f} % of the area within "
        "the target's limits",
    ),
}


@dataclass(frozen=True)
class Assumption:
    """One assumption: its ``name``, the ``number`` that tests it, whether it ``holds``, and a sentence with both."""

    name: str
    number: float
    holds: bool
    sentence: str


def assumptions(
    problem: DownscalingProblem, spec: ModelSpec, data: IndirectData, mean: np.ndarray, sd: np.ndarray,
    coverage: Sequence[float] | None = None,
) -> tuple[Assumption, ...]:  # fmt: skip
    """Test the assumptions of a model's map (H, W), conditioned on ``data``; ``coverage`` is its coverage one scale up.

    ``covariates``: share of the target's variance that they explain (`explained_share`). ``mediation``, unmatched cells
    only: share of the cells' variance that the mediators explain. ``overlap``, also only for these: the effective share
    of the cells with covariates near the targets' mediators. ``aggregation``: share of the variation inside cells that
    the posterior mean determines. ``reach``: how far the mean leaves the range of the cells.
    ``water``: the range of an orography over water, only where it is not flat. ``cells``: the visible cells and the
    stations inside them, only where the cells are few. ``intervals``: share of
    the area whose 95 % intervals stay within the target's physical limits, or the skewness of its coarse values; of a
    warped target the coverage one scale up.
    ``roughness``: the exponent of a rough term.
    """
    explained = explained_share(problem)
    result = [Assumption("covariates", explained.share, explained.share >= WEAK, explained.sentence)]
    if not problem.matched:
        result += [_mediation(problem, spec, data), _overlap(problem)]
    result.append(_aggregation(problem, mean, sd))
    result.append(_range(problem, mean, sd))
    if (water := over_water(problem)) is not None:
        result.append(Assumption("water", water[1], False, water[0]))
    if len(problem.data.targets) < FEW:
        result.append(_visible(problem))
    result.append(intervals(problem, mean, sd) if problem.warp is None else warped_intervals(problem, coverage))
    return (*result, *_roughness(spec))


def refused(assumptions: Sequence[Assumption]) -> tuple[str, ...]:
    """Warnings: intervals or a mean that cannot be right, or a covariate that varies where it should not."""
    return tuple(each.sentence for each in assumptions if each.name in _REFUSED and not each.holds)


def _visible(problem: DownscalingProblem) -> Assumption:
    """Cell means hardly determine roughness inside cells; values at points there do."""
    stations = stations_inside(problem)
    count, visible = len(problem.data.targets) + stations, visible_targets(problem)
    if count >= FEW:
        sentence = f"{visible} are visible: the stations show how rough the field is inside the cells."
    else:
        sentence = f"Only {visible} are visible: they hardly determine how rough the field is inside the cells."
    return Assumption("cells", count, count >= FEW, sentence)


def _mediation(problem: DownscalingProblem, spec: ModelSpec, data: IndirectData) -> Assumption:
    if spec.model.reads(problem.data):
        share = _explained_by_mediators(problem, spec)
        sentence = (
            f"The mediators explain {100 * share:.0f} % of the variance of the cells' mean covariates (leave-one-out)"
        )
    else:
        doubt = 1.0 if data.covariance is None else float(data.covariance.diagonal().mean())
        share = float(data.targets.var()) / (float(data.targets.var()) + doubt)
        sentence = f"The mediators explain {100 * share:.0f} % of the variance of the cells' pseudo-targets"
    if share < _HALF:
        sentence += ": mediation loses most of the information"
    return Assumption("mediation", share, share >= _HALF, f"{sentence}.")


def _overlap(problem: DownscalingProblem) -> Assumption:
    """Source: `deconditioning.mediator_shift`."""
    shift = mediator_shift(problem.data.mediators, problem.data.query_mediators)
    sentence = (
        f"Near the targets' mediators the effective sample size is {100 * shift.effective:.0f} % of the cells with "
        f"covariates; {100 * shift.reached:.0f} % of the targets have one as close as cells are to one another"
    )
    holds = shift.effective >= _HALF and shift.reached >= _MOST_REACHED
    if not holds:
        done = (
            "cells are weighted accordingly"
            if problem.data.importance is not None
            else "cells can be weighted accordingly"
        )
        sentence += (
            f": the mediators have shifted between the two sets ({done}), and where no cell is near, W extrapolates"
        )
    return Assumption("overlap", shift.effective, holds, f"{sentence}.")


def _explained_by_mediators(problem: DownscalingProblem, spec: ModelSpec) -> float:
    """``1 − Σ e² / Σ (x̄ − mean x̄)²`` with the errors e of each bag's mean inputs left out of their regression on
    mediators, weights as W has them; coordinates are no covariates here, save where there is nothing else."""
    data, columns, coordinates = problem.data, columns_of(problem), coordinate_names(problem)
    assert spec.mediator_kernel is not None
    ell = spec.mediator_kernel.build(columns.mediators).to(data.mediators.device)
    within = evaluate(ell, data.mediators, data.mediators).detach()
    grams = MediatorGrams(within, within, data.bags.sizes, importance=data.importance)
    smoother = shrinkage_weights(grams, spec.regularisation).T
    rest = [index for index, name in enumerate(columns.inputs) if name not in coordinates] or list(
        range(len(coordinates))
    )
    means = data.bags.mean(data.bags.inputs[:, rest])
    means = means - means.mean(0)
    errors = (means - smoother @ means) / (1 - smoother.diagonal())[:, None]
    total = float(means.square().sum())
    return float(np.clip(1 - float(errors.square().sum()) / total, 0.0, 1.0)) if total > 0 else 0.0


def _aggregation(problem: DownscalingProblem, mean: np.ndarray, sd: np.ndarray) -> Assumption:
    inside = np.flatnonzero(np.isfinite(mean) & np.isfinite(sd))
    _, shares = problem.shares.of(inside, mean.size)
    cell, area, values = shares.cell, shares.areas(problem.grid.area), mean.flat[shares.pixel]
    mass = np.bincount(cell, area)
    cell_mean = np.divide(np.bincount(cell, area * values), mass, where=mass > 0, out=np.zeros(len(mass)))
    expected = np.average((values - cell_mean[cell]) ** 2, weights=area)
    doubt = np.average(sd.flat[shares.pixel] ** 2, weights=area)
    share = float(expected / (expected + doubt)) if expected + doubt > 0 else 1.0
    sentence = (
        f"The posterior mean captures {100 * share:.0f} % of the variance inside the cells; the rest is in the sd"
    )
    if share < _HALF:
        sentence += ": most of it cannot be recovered from cell means alone"
    return Assumption("aggregation", share, share >= _HALF, f"{sentence}.")


def _range(problem: DownscalingProblem, mean: np.ndarray, sd: np.ndarray) -> Assumption:
    """How far the mean (H, W) leaves the range of the visible cells, in units of it.

    A slope that cells support carries on a little beyond them. One of a covariate that varies between pixels far more
    than between the cells' means, such as terrain of centimetres over the sea, carries on to anything.
    """
    values, known = mean.flat[problem.pixel], problem.coarse[problem.observed]
    low, high = float(known.min()), float(known.max())
    away = np.nan_to_num(np.maximum(values - high, low - values))
    at, units = int(away.argmax()), f" {problem.units}".rstrip()
    beyond = max(0.0, float(away[at])) / (high - low)
    sentence = (
        f"The posterior mean ranges from {number(np.nanmin(values), 4)} to {number(np.nanmax(values), 4)}{units}, the "
        f"cells from {number(low, 4)} to {number(high, 4)}{units}"
    )
    outside = {name: _outside(problem, name, at) for name in problem.spec.covariates}
    worst = max(outside, key=outside.__getitem__, default="")
    far = bool(outside) and outside[worst] > 1
    surely = float(away[at]) / max(float(sd.flat[problem.pixel[at]]), 1e-12)
    holds = beyond <= (_MOST_BEYOND if far else _MOST_AT_ALL)
    if holds and surely > _NOTABLE and outside:
        sentence += f"; the farthest pixel is {_contrast(problem, at)}"
    if not holds:
        name = _named(problem, worst)[0] if worst else ""
        where = (
            f", where {name} lies {number(outside[worst], 2)} times the range of the cell means outside that range"
            if far
            else f", at a pixel that is {_contrast(problem, at)}"
            if outside
            else ""
        )
        advice = f"leave {name} out, or check its values there" if far else "check the covariates there"
        sentence += f": it extrapolates too far{where}, and no cell supports these values; {advice}"
    return Assumption("reach", beyond, holds, f"{sentence}.")


def _contrast(problem: DownscalingProblem, at: int) -> str:
    """The covariate in which a pixel differs most from the mean of its cell, relative to how cells differ, in words."""
    cell, columns = problem.cell.flat[problem.pixel], [problem.columns.index(name) for name in problem.spec.covariates]
    inputs = problem.inputs[:, columns].numpy()
    off = inputs[at] - inputs[cell == cell[at]].mean(axis=0)
    worst = int(np.abs(off).argmax())
    scale = problem.input_scaling.scales[columns[worst]]
    way, (name, units) = "above" if off[worst] > 0 else "below", _named(problem, problem.spec.covariates[worst])
    return f"{number(abs(off[worst]) * scale.sd)}{units} {way} the mean of its cell in {name}"


def _named(problem: DownscalingProblem, name: str) -> tuple[str, str]:
    """A covariate's long name, and its units after a space where they are known."""
    known = problem.covariates.get(name)
    words = (known.long_name if known else "") or name
    return words.replace("_", " "), f" {known.units}" if known and known.units not in ("", "1") else ""


def _outside(problem: DownscalingProblem, name: str, at: int) -> float:
    """How far a pixel's covariate lies outside the range of the bags' means, in units of that range."""
    column = problem.inputs[:, problem.columns.index(name)]
    means = problem.data.bags.mean(problem.data.bags.inputs[:, problem.columns.index(name)])
    low, high, value = float(means.min()), float(means.max()), float(column[at])
    return max(0.0, low - value, value - high) / max(high - low, 1e-12)


def intervals(problem: DownscalingProblem, mean: np.ndarray, sd: np.ndarray) -> Assumption:
    """Whether Gaussian intervals can be right, which they are not for a target with limits or a skewed one."""
    name = (problem.long_name or problem.spec.target).replace("_", " ")
    limits = limits_of(problem)
    if limits is not None:
        there = np.isfinite(mean) & np.isfinite(sd)
        half_width, area = _REACH * sd[there], problem.grid.area[there]
        within = (mean[there] - half_width >= limits[0]) & (mean[there] + half_width <= limits[1])
        share = float(np.average(within, weights=area))
        span = (
            f"lies between {number(limits[0], 6)} and {number(limits[1], 6)}"
            if np.isfinite(limits[1])
            else "is never negative"
        )
        sentence = (
            f"{name[:1].upper()}{name[1:]} {span}: 95 % intervals respect this on {100 * share:.0f} % of the area"
        )
        if share < _MOST_INSIDE:
            sentence += "; elsewhere a Gaussian does not describe this field, and no interval is right"
        return Assumption("intervals", share, share >= _MOST_INSIDE, f"{sentence}.")
    skewed = float(skew(problem.coarse[problem.observed]))
    sentence = f"The coarse values' skewness is {signed(skewed, 2)}"
    if abs(skewed) > _SKEWED:
        sentence += ": Gaussian intervals reach too far on one side and not far enough on the other"
    return Assumption("intervals", skewed, abs(skewed) <= _SKEWED, f"{sentence}.")


def warped_intervals(problem: DownscalingProblem, coverage: Sequence[float] | None) -> Assumption:
    """Whether intervals of a warped target are calibrated one scale up; ``coverage``: shares inside 50, 90 and 95 %."""
    assert problem.warp is not None
    sentence = f"The model uses {problem.warp.formula} of the target, so its intervals stay within the limits"
    if coverage is None:
        return Assumption("intervals", 1.0, True, f"{sentence}; they could not be tested one scale up.")
    low, high = _CALIBRATED
    holds = coverage[-1] >= low and coverage[0] <= high
    sentence += f"; one scale up, {100 * coverage[-1]:.0f} % of the 95 % intervals contain the known mean"
    if not holds:
        sentence += f" and {100 * coverage[0]:.0f} % of the 50 % intervals: they are not calibrated"
    return Assumption("intervals", float(coverage[-1]), holds, f"{sentence}.")


def _roughness(spec: ModelSpec) -> list[Assumption]:
    result = []
    for factor in (factor for term in spec.kernel.terms for factor in term.factors):
        for parameter in factor.kind.parameters:
            if not parameter.learned:
                continue
            value, low, high = factor.numbers[parameter.name], parameter.low, parameter.high
            margin = _NEAR * (high - low)
            holds = low + margin < value < high - margin
            ends, roughness = f"({number(low, 6)} to {number(high, 6)})", f"{parameter.symbol} = {number(value)}"
            sentence = (
                f"The cells determine how rough the field is: {roughness} is not at an end of its range {ends}."
                if holds
                else f"How rough the field is, {roughness}, is at an end of its range {ends}: the data favour another "
                f"kernel family than {factor.kind.title}."
            )
            result.append(Assumption("roughness", value, holds, sentence))
    return result
