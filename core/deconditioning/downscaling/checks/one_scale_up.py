"""Test one scale up: cells are merged, the merged cells are downscaled to the known cells, and the result is scored.

The performance of a method one scale up, where it can be measured, indicates its performance one scale down.
Leave-one-out only measures how well cells predict each other and nothing inside them. All hyperparameters are learned
again from the merged cells. Only values that the model may see are used: merged cells consist of visible cells alone.

Source: Wald, Ranchin and Mangolini 1997, *Fusion of satellite images of different spatial resolutions*.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.checks.few_cells import integrates
from deconditioning.downscaling.checks.patches import some_cells
from deconditioning.downscaling.checks.problem_one_scale_up import ProblemOneScaleUp, problem_one_scale_up
from deconditioning.downscaling.checks.scale_up_result import AVERAGE, OTHERS, VALUES, OneScaleUp, standard_errors
from deconditioning.downscaling.checks.sums_one_scale_up import Cells, cells_of
from deconditioning.downscaling.learning_data import Tabulates, centre_of_priors, distances_of
from deconditioning.downscaling.prediction import pseudo_target_learning
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import (
    averaged_with,
    columns_of,
    common_settings,
    completed,
    other_candidate,
    starting_spec,
)
from deconditioning.downscaling.warping.cell_values import mixed, without_errors
from deconditioning.downscaling.warping.physical_map import Parts, in_units, means_behind, physical_values
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import Cancelled, Check
from deconditioning.fields.problem.baselines import bilinear_of_joined
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.calibration import calibration, pit
from deconditioning.metrics.intervals import LEVELS
from deconditioning.metrics.probabilistic import crps
from deconditioning.metrics.stacking import stacking_weights
from deconditioning.models.catalogue import REGRESSION_KRIGING
from deconditioning.models.indirect_gp import condition_on_gram
from deconditioning.models.learning.integrate import integrate, members
from deconditioning.models.learning.learning import learn
from deconditioning.models.leave_one_out import MOST_TARGETS
from deconditioning.models.posterior_moments import averaged_moments
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: Cells that count for each model of an average before the test, and the least weight that is kept.
_PRIOR, _LEAST = 2.0, 0.05


@dataclass(frozen=True)
class _Downscaled:
    """Standardised means of the scored cells (C,) by a model where it ``begun``; when it has learned ``mean``,
    ``variance`` and that of their known ``errors``, which it contains; and the values of the ``merged`` cells less
    their errors (`warping.cell_values`)."""

    begun: np.ndarray
    mean: np.ndarray
    variance: np.ndarray
    errors: np.ndarray
    merged: Parts = ()


def moments(
    scene: ProblemOneScaleUp, spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, cells: Cells
) -> tuple[Float[Tensor, " C"], Float[Tensor, " C"]]:
    """Mean and variance of the scored cells' standardised values, given the merged cells' (``data``).

    K̄ of the cells suffices: merged cells are averages A of them, ``K̄_GG = AᵀK̄A``, ``c̄ = AᵀK̄``. The variance is
    that of a value without known errors: it includes κ² of the merged cells, its noise and the share of ς² in its mean.
    """
    if spec.spread is not None:
        every = [moments(scene, each, data, problem, cells) for each in members(spec, problem.columns)]
        return averaged_moments([1 / len(every)] * len(every), every)
    with torch.no_grad():
        kernel = spec.kernel.build(problem.columns).to(scene.shares.device)
        across, prior = cells.across(kernel)
        conditioning = condition_on_gram(spec, data, columns_of(problem), cells.of_larger(kernel))
        mean, variance = conditioning.moments(across[:, scene.scored], prior[scene.scored])
        if spec.local_scale:
            variance = scene.scale(problem, conditioning).square() * variance
        noise = spec.noise + spec.point_noise * scene.cells.contamination[scene.scored]
        return spec.mean + mean, variance + noise


def one_scale_up(problem: DownscalingProblem, settings: DownscaleSettings, check: Check) -> OneScaleUp | None:
    """Learn from merged cells, downscale them to the known cells, and score the model and the other methods.

    If the settings let learning ``choose``, the more accurate of the two models for the problem is scored. None for
    models on centroids or with inducing points, and where `problem_one_scale_up` is None; very many cells are tested in
    patches (`some_cells`). Raises ``Cancelled``.
    """
    watch, settings = Stopwatch(), completed(problem, settings)
    problem = some_cells(problem, settings.seed)
    if not settings.kind.on_bags or len(problem.data.targets) > MOST_TARGETS:
        return None
    scene = problem_one_scale_up(problem, settings)
    if scene is None or not settings.kind.takes(scene.data):
        return None
    averaged = averaged_with(problem, settings)
    other = averaged[0] if averaged else other_candidate(problem, settings)
    if problem.matched and problem.spec.coordinates and settings.kind != REGRESSION_KRIGING:
        other = completed(problem, common_settings(REGRESSION_KRIGING.name, settings))
    table = distances_of(problem, scene.bags, scene.points, scene.shares.device, check, scene.among)
    result = {
        each.model: _downscaled(scene, problem, each, table, check) for each in (settings, other) if each is not None
    }
    if averaged:
        return _average(problem, scene, result, watch)
    model = settings.model
    begun, chosen = result[model].begun, None
    if settings.choose and other is not None and not problem.matched:
        errors = {name: _error(problem, scene, each.mean) for name, each in result.items()}
        model = min(errors, key=errors.__getitem__)
        chosen = next(name for name in errors if name != model)
        begun = result[model].begun
    others = {"start": begun} | {name: each.mean for name, each in result.items() if name != model}
    scored = _scored(problem, scene, model, [(1.0, result[model])], others, watch)
    return replace(scored, chosen_over=chosen)


def _average(
    problem: DownscalingProblem, scene: ProblemOneScaleUp, result: dict[str, _Downscaled], watch: Stopwatch
) -> OneScaleUp:
    """The score of the average of several models, weighted by stacking on their densities at the scored cells.

    A scored cell counts for the share of it that its merged cell leaves open, in all ``C − G`` of C cells in G.
    """
    cell = problem.target_cell[scene.targets.item][scene.joined]
    value, area = problem.coarse.flat[cell], problem.coarse_grid.area.flat[cell]
    known = problem.standardised(value)
    free = 1 - len(np.unique(scene.targets.group[scene.joined])) / len(cell)
    densities = np.stack(
        [-0.5 * ((known - r.mean) ** 2 / r.variance + np.log(2 * np.pi * r.variance)) for r in result.values()],
        axis=1,
    )
    weights = stacking_weights(densities, sizes=free * area / area.mean(), prior=_PRIOR)
    weights = np.where(weights < _LEAST, 0.0, weights)
    weights /= weights.sum()
    named = dict(zip(result, (float(weight) for weight in weights), strict=True))
    model = next(name for name, weight in named.items() if weight)
    parts = [(named[name], each) for name, each in result.items() if named[name]]
    several = len(parts) > 1
    others = {"start": result[model].begun} | {
        name: each.mean for name, each in result.items() if several or name != model
    }
    shown_model = AVERAGE if several else model
    scored = _scored(problem, scene, shown_model, parts, others, watch)
    return replace(scored, model=model, weights=named)


def _error(problem: DownscalingProblem, scene: ProblemOneScaleUp, mean: np.ndarray) -> float:
    """Mean squared error of standardised means at the scored cells, weighted by area."""
    cell = problem.target_cell[scene.targets.item][scene.joined]
    squares = (in_units(problem, problem.target_scale.backward(mean)) - problem.coarse.flat[cell]) ** 2
    return float(np.average(squares, weights=problem.coarse_grid.area.flat[cell]))


def _downscaled(
    scene: ProblemOneScaleUp, problem: DownscalingProblem, settings: DownscaleSettings, table: Tabulates, check: Check
) -> _Downscaled:
    """The scored cells by a model where it begins, and when it has learned."""
    start = starting_spec(problem, settings)
    data = _readable(scene, start, problem, check)
    cells = cells_of(scene, start, problem, check, table if settings.every_pixel else None)
    begun, _ = moments(scene, replace(start, local_scale=False), data, problem, cells)  # its variances are not asked
    spec = _learned(scene, start, data, problem, settings, cells, check)
    mean, variance = (values.cpu().numpy() for values in moments(scene, spec, data, problem, cells))
    errors = scene.errors(problem, mean)
    merged = _merged_values(scene, spec, data, problem, cells)
    return _Downscaled(begun.cpu().numpy(), mean, variance + errors, errors, merged)


def _merged_values(
    scene: ProblemOneScaleUp, spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, cells: Cells
) -> Parts:
    """The values of the merged cells of a warped target less their errors; empty without any."""
    if problem.warp is None or scene.data.errors is None or not problem.matched:
        return ()
    every = members(spec, problem.columns)
    bag_grams = [cells.of_larger(each.kernel.build(problem.columns).to(scene.shares.device)) for each in every]
    posteriors = [condition_on_gram(m, data, columns_of(problem), k) for m, k in zip(every, bag_grams, strict=True)]
    return tuple((1 / len(every), *without_errors(scene.data, posterior)) for posterior in posteriors)


def _readable(scene: ProblemOneScaleUp, start: ModelSpec, problem: DownscalingProblem, check: Check) -> IndirectData:
    """The larger cells' data as the model can use them: with pseudo-targets where it needs one target per bag."""
    if start.model.reads(scene.data):
        return scene.data
    assert start.mediator_kernel is not None
    options = pseudo_target_learning(start.model)
    return with_pseudo_targets(start.mediator_kernel, scene.data, columns_of(problem), options, check=check)


def _learned(
    scene: ProblemOneScaleUp, start: ModelSpec, data: IndirectData, problem: DownscalingProblem,
    settings: DownscaleSettings, cells: Cells, check: Check,
) -> ModelSpec:  # fmt: skip
    """The model with hyperparameters learned from the larger cells, or its own where none are to be learned."""
    bag_gram = cells.of_larger if settings.every_pixel else None
    centre = centre_of_priors(problem, start, scene.data.bags)
    learned = learn(
        start, data, columns_of(problem), settings.learning(), check=check, bag_gram=bag_gram, held_to=centre
    )  # fmt: skip
    if learned.cancelled:
        raise Cancelled("The check one scale up was cancelled.")
    if not integrates(settings, len(problem.data.targets)):
        return learned.spec
    return integrate(
        learned.spec, data, columns_of(problem), settings.learning(), centre=centre or start.kernel, bag_gram=bag_gram,
        check=check,
    )  # fmt: skip


def _scored(
    problem: DownscalingProblem, scene: ProblemOneScaleUp, model: str, mixture: Sequence[tuple[float, _Downscaled]],
    others: dict[str, np.ndarray], watch: Stopwatch,
) -> OneScaleUp:  # fmt: skip
    """Scores in the target's units of a mixture of models with their weights, cells weighted by their area."""
    from deconditioning.metrics.pointwise import rmse

    joined, at = scene.targets, scene.joined
    cell = problem.target_cell[joined.item][at]
    known, area = problem.coarse.flat[cell], problem.coarse_grid.area.flat[cell]
    means = joined.mean(problem.coarse.flat[problem.target_cell])
    parts = [(weight, each.mean, np.sqrt(each.variance)) for weight, each in mixture]
    alone = [(weight, each.mean, np.sqrt(each.variance - each.errors)) for weight, each in mixture]
    merged = mixed([(weight, each.merged) for weight, each in mixture])
    aims = means_behind(problem, merged) if merged else means
    predictive, cell_mean = physical_values(problem, parts, joined, at, aims, alone), means[joined.group][at]
    mean, sd = predictive.mean, predictive.sd
    ways = {model: mean, "constant": cell_mean, "bilinear": bilinear_of_joined(problem, joined, means)[at]}
    ways |= {name: in_units(problem, problem.target_scale.backward(values)) for name, values in others.items()}
    numbers = {
        name: standard_errors(area * ((mean - known) ** 2 - (ways[name] - known) ** 2), joined.group[at])
        for name in OTHERS
        if name in ways
    }
    errors = {name: rmse(truth=known, mean=values, weights=area) for name, values in ways.items()}
    variances = np.square([mean - cell_mean, known - cell_mean]) @ area
    values = dict(zip(VALUES, (cell, known, cell_mean, mean, sd), strict=True))
    return OneScaleUp(
        model,
        joined.count,
        len(cell),
        problem.units,
        watch.seconds()["cpu"],
        errors,
        numbers,
        crps(truth=known, predicted=predictive, weights=area),
        tuple(float(share) for share in calibration(known, predictive, LEVELS, weights=area)),
        tuple(float(count) for count in pit(known, predictive, weights=area)),
        float(variances[0] / variances[1]) if variances[1] > 0 else None,
        {name: tuple(float(v) for v in row) for name, row in values.items()},
    )
