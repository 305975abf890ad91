"""Test one scale up: cells are merged, the merged cells are downscaled to the known cells, and the result is scored.

The performance of a method one scale up, where it can be measured, indicates its performance one scale down.
Leave-one-out only measures how well cells predict each other and nothing inside them. All hyperparameters are learned
again from the merged cells. Only values that the model may see are used: merged cells consist of visible cells alone.

Source: Wald, Ranchin and Mangolini 1997, *Fusion of satellite images of different spatial resolutions*.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.checks.few_cells import integrates
from deconditioning.downscaling.checks.problem_one_scale_up import ProblemOneScaleUp, problem_one_scale_up
from deconditioning.downscaling.checks.sums_one_scale_up import Cells, cells_of
from deconditioning.downscaling.learning_data import Tabulates, centre_of_priors, distances_of
from deconditioning.downscaling.prediction import pseudo_target_learning
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import columns_of, completed, kept_settings, other_candidate, starting_spec
from deconditioning.downscaling.warping.physical_map import in_units, physical_values
from deconditioning.engine.reporting import Stopwatch
from deconditioning.errors import Cancelled, Check
from deconditioning.fields.problem.baselines import bilinear_of_joined
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.metrics.intervals import LEVELS
from deconditioning.models.catalogue import REGRESSION_KRIGING
from deconditioning.models.indirect_gp import condition_on_gram
from deconditioning.models.learning.integrate import integrate, members
from deconditioning.models.learning.learning import learn
from deconditioning.models.leave_one_out import MOST_TARGETS
from deconditioning.models.pseudo_targets import with_pseudo_targets
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData

#: Standard errors by which another way has to be nearer to be named: fewer come by chance in more than one of twenty.
CLEARLY = 1.645
#: The ways a model is compared with, as a sentence has them.
OTHERS = {
    "bilinear": "bilinear interpolation",
    "start": "the same model with its starting hyperparameters",
    "regression_kriging": "area-to-point regression kriging",
    "partial_cmp": "the partially mediated process",
    "area_to_point_gp": "the area-to-point Gaussian process on pseudo-targets",
}
#: The methods that the model is claimed to be better or worse than.
_CLAIMED = ("bilinear", "regression_kriging")
#: What is kept of every scored cell: its place in the coarse grid, the value to be found, that of its larger cell, and
#: the prediction.
VALUES = ("cell", "known", "joined", "mean", "sd")


@dataclass(frozen=True)
class OneScaleUp:
    """Performance of a model, and of other methods, in downscaling merged cells to the known means of their members.

    Parameters
    ----------
    model : name of the model.
    groups, cells : number of merged cells, and of scored cells in them.
    units : units of the target.
    cpu_s : CPU seconds of the test.
    rmse : RMSE by method: the model, "constant" (the merged cell's mean), and those of ``OTHERS`` that were tried.
    t : by method of ``OTHERS``, the difference of squared errors from the model's in standard errors over merged cells.
    crps : CRPS of the model, in the target's units.
    held : shares of the known means within its 50, 90 and 95 % intervals (`deconditioning.metrics.intervals.LEVELS`).
    pit : counts of the probability integral transform in ten bins.
    within : variance of the predicted means inside the merged cells relative to that of the known ones, None if these
        do not vary.
    values : of every scored cell, by the names of ``VALUES``.
    chosen_over : the requested or alternative model that was less accurate; None if there was no choice.
    stage_one : the procedure of stage one that was more accurate, in a sentence; "" if there was no choice.
    """

    model: str
    groups: int
    cells: int
    units: str
    cpu_s: float
    rmse: dict[str, float]
    t: dict[str, float]
    crps: float
    held: tuple[float, ...]
    pit: tuple[float, ...]
    within: float | None
    values: dict[str, tuple[float, ...]]
    chosen_over: str | None = None
    stage_one: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "OneScaleUp":
        """From plain data; ``TypeError``, ``ValueError``, ``KeyError`` or ``AttributeError`` if they are invalid."""
        each = {name: tuple(float(v) for v in value["values"][name]) for name in VALUES}
        within = value["within"]
        one_scale_up = OneScaleUp(
            str(value["model"]),
            int(value["groups"]),
            int(value["cells"]),
            str(value["units"]),
            float(value["cpu_s"]),
            {str(name): float(v) for name, v in value["rmse"].items()},
            {str(name): float(v) for name, v in value["t"].items()},
            float(value["crps"]),
            tuple(float(v) for v in value["held"]),
            tuple(float(v) for v in value["pit"]),
            None if within is None else float(within),
            each,
            None if value.get("chosen_over") is None else str(value["chosen_over"]),
            str(value.get("stage_one") or ""),
        )
        whole = {len(row) for row in each.values()} == {one_scale_up.cells}
        if (
            not whole
            or len(one_scale_up.held) != len(LEVELS)
            or not {one_scale_up.model, "bilinear"} <= one_scale_up.rmse.keys()
        ):
            raise ValueError("parts of the result one scale up are missing")
        return one_scale_up

    @property
    def better(self) -> str | None:
        """The most accurate of the other methods that are significantly better than the model."""
        clearly = [name for name in OTHERS if self.t.get(name, 0.0) > CLEARLY and name in self.rmse]
        return min(clearly, key=self.rmse.__getitem__, default=None)

    @property
    def claims(self) -> dict[str, bool | None]:
        """Whether the model is claimed to be more accurate than each of the other methods; None: one cannot tell."""
        return {name: self.rmse[self.model] < self.rmse[name] for name in _CLAIMED if name in self.rmse}

    def farther(self, other: "OneScaleUp", area: Float[np.ndarray, "..."]) -> float:
        """By how many standard errors its squared error is larger than another's of the same cells, from larger cell to
        larger cell, whose mean tells them apart; ``area`` of the coarse cells weighs them."""
        known, group = np.array(self.values["known"]), np.unique(self.values["joined"], return_inverse=True)[1]
        mine, theirs = ((np.array(each.values["mean"]) - known) ** 2 for each in (self, other))
        return _t(area.flat[np.array(self.values["cell"], dtype=int)] * (mine - theirs), group)

    @property
    def sentence(self) -> str:
        """The test and its result in words, with numbers."""
        own, bilinear = self.rmse[self.model], self.rmse["bilinear"]
        beside = f", {100 * own / bilinear:.0f} % of bilinear interpolation's" if bilinear > 0 else ""
        return (
            f"One scale up, {self.groups} cells, each merged from two to four neighbours, were downscaled to the "
            f"{self.cells} known cells inside them: RMSE {self._size(own)}{beside}; {100 * self.held[-1]:.0f} % of "
            "the 95 % intervals contain the known mean."
        )

    @property
    def choice(self) -> str | None:
        """Why this model, or this procedure of learning, was chosen, if there was a choice."""
        other = self.chosen_over
        if other is None or other not in OTHERS or other not in self.rmse:
            return self.stage_one or None
        return (
            f"Chosen one scale up: {OTHERS[self.model]} predicts the known cells better than {OTHERS[other]}, RMSE "
            f"{self._size(self.rmse[self.model])} against {self._size(self.rmse[other])}."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """Warnings: none if no other method is significantly better."""
        if self.better is None:
            return ()
        return (
            f"One scale up, {OTHERS[self.better]} predicts the known cells better than this model: RMSE "
            f"{self._size(self.rmse[self.better])} and {self._size(self.rmse[self.model])}. It is probably better at "
            "the pixels too.",
        )

    def _size(self, value: float) -> str:
        return f"{value:.3g} {self.units}".strip()


def moments(
    scene: ProblemOneScaleUp, spec: ModelSpec, data: IndirectData, problem: DownscalingProblem, cells: Cells
) -> tuple[Float[Tensor, " C"], Float[Tensor, " C"]]:
    """Mean and variance of the scored cells' standardised values, given the merged cells' (``data``).

    K̄ of the cells suffices: merged cells are averages A of them, ``K̄_GG = AᵀK̄A``, ``c̄ = AᵀK̄``. The variance is
    that of a measured value: it includes κ² of the merged cells, its noise and the share of ς² in its mean.
    """
    if spec.spread is not None:
        every = [moments(scene, each, data, problem, cells) for each in members(spec, problem.columns)]
        means, variances = (torch.stack(part) for part in zip(*every, strict=True))
        return means.mean(0), variances.mean(0) + means.var(0, correction=0)
    with torch.no_grad():
        kernel = spec.kernel.build(problem.columns).to(scene.shares.device)
        across, prior = cells.across(kernel)
        given = condition_on_gram(spec, data, columns_of(problem), cells.of_larger(kernel))
        mean, variance = given.moments(across[:, scene.scored], prior[scene.scored])
        if spec.local_scale:
            variance = scene.scale(problem, given).square() * variance
        return spec.mean + mean, variance + spec.noise + spec.point_noise * scene.cells.contamination[scene.scored]


def one_scale_up(problem: DownscalingProblem, settings: DownscaleSettings, check: Check) -> OneScaleUp | None:
    """Learn from merged cells, downscale them to the known cells, and score the model and the other methods.

    If the settings let learning ``choose``, the more accurate of the two models for the problem is scored. None for
    models on centroids or with inducing points, and where `problem_one_scale_up` is None. Raises ``Cancelled``.
    """
    watch, settings = Stopwatch(), completed(problem, settings)
    if not settings.kind.on_bags or len(problem.data.targets) > MOST_TARGETS:
        return None
    scene = problem_one_scale_up(problem, settings)
    if scene is None or not settings.kind.takes(scene.data):
        return None
    other = other_candidate(problem, settings)
    if problem.matched and problem.spec.coordinates and settings.kind != REGRESSION_KRIGING:
        other = completed(problem, kept_settings(REGRESSION_KRIGING.name, settings))
    table = distances_of(problem, scene.bags, scene.points, scene.shares.device, check)
    result = {
        each.model: _downscaled(scene, problem, each, table, check) for each in (settings, other) if each is not None
    }
    model = settings.model
    begun, chosen = result[model][0], None
    if settings.choose and other is not None and not problem.matched:
        errors = {name: _error(problem, scene, mean) for name, (_, (mean, _)) in result.items()}
        model = min(errors, key=errors.__getitem__)
        chosen = next(name for name in errors if name != model)
        begun = result[model][0]
    mean, variance = result[model][1]
    others = {"start": begun} | {name: each[1][0] for name, each in result.items() if name != model}
    scored = _scored(problem, scene, model, (mean, np.sqrt(variance)), others, watch)
    return replace(scored, chosen_over=chosen)


def _error(problem: DownscalingProblem, scene: ProblemOneScaleUp, mean: np.ndarray) -> float:
    """Mean squared error of standardised means at the scored cells, weighted by area."""
    cell = problem.target_cell[scene.targets.item][scene.joined]
    squares = (in_units(problem, problem.target_scale.backward(mean)) - problem.coarse.flat[cell]) ** 2
    return float(np.average(squares, weights=problem.coarse_grid.area.flat[cell]))


def _downscaled(
    scene: ProblemOneScaleUp, problem: DownscalingProblem, settings: DownscaleSettings, table: Tabulates, check: Check
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Means of the scored cells by a model where it begins, then its means and variances when it has learned."""
    start = starting_spec(problem, settings)
    data = _readable(scene, start, problem, check)
    cells = cells_of(scene, start, problem, check, table if settings.every_pixel else None)
    begun, _ = moments(scene, start, data, problem, cells)
    spec = _learned(scene, start, data, problem, settings, cells, check)
    mean, variance = moments(scene, spec, data, problem, cells)
    return begun.cpu().numpy(), (mean.cpu().numpy(), variance.cpu().numpy())


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
    problem: DownscalingProblem, scene: ProblemOneScaleUp, model: str, result: tuple[np.ndarray, np.ndarray],
    others: dict[str, np.ndarray], watch: Stopwatch,
) -> OneScaleUp:  # fmt: skip
    """Scores in the target's units of standardised means and sds, cells weighted by their area."""
    from deconditioning.metrics.pointwise import rmse

    joined, at = scene.targets, scene.joined
    cell = problem.target_cell[joined.item][at]
    known, area = problem.coarse.flat[cell], problem.coarse_grid.area.flat[cell]
    means = joined.mean(problem.coarse.flat[problem.target_cell])
    found, own = physical_values(problem, result, joined, at, means), means[joined.group][at]
    mean, sd = found.mean, found.sd
    ways = {model: mean, "constant": own, "bilinear": bilinear_of_joined(problem, joined, means)[at]}
    ways |= {name: in_units(problem, problem.target_scale.backward(values)) for name, values in others.items()}
    apart = {
        name: _t(area * ((mean - known) ** 2 - (ways[name] - known) ** 2), joined.group[at])
        for name in OTHERS
        if name in ways
    }
    errors = {name: rmse(truth=known, mean=values, weights=area) for name, values in ways.items()}
    variances = np.square([mean - own, known - own]) @ area
    values = dict(zip(VALUES, (cell, known, own, mean, sd), strict=True))
    return OneScaleUp(
        model,
        joined.count,
        len(cell),
        problem.units,
        watch.seconds()["cpu"],
        errors,
        apart,
        found.crps(known, area),
        tuple(float(share) for share in found.coverage(known, LEVELS, area)),
        tuple(float(count) for count in found.pit(known, area)),
        float(variances[0] / variances[1]) if variances[1] > 0 else None,
        {name: tuple(float(v) for v in row) for name, row in values.items()},
    )


def _t(differences: Float[np.ndarray, " C"], group: np.ndarray) -> float:
    """Mean over standard error of the sums of each group; 0 where they do not differ."""
    sums = np.bincount(group, differences)[np.unique(group)]
    error = sums.std(ddof=1) / np.sqrt(len(sums))
    return float(sums.mean() / error) if error > 0 else 0.0
