"""A grid of hyperparameters: evidence, leave-one-out errors and scores at each setting."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.downscaling import interactive
from deconditioning.downscaling.interactive import traced_spec
from deconditioning.downscaling.prediction import matched_data
from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.downscaling.warping.physical_map import physical_map, warped
from deconditioning.errors import Check, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp
from deconditioning.figures.downscaled_maps import field_scale
from deconditioning.figures.small_multiples import small_picture
from deconditioning.figures.sweep import sweep_thumbnail
from deconditioning.models.learning.parameters import ParameterVector, kernel_parameters
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.sweeps import (
    Axis,
    Row,
    Score,
    cells_of,
    check_axes,
    choosing,
    rows_of,
    saved_rows,
    settings_of,
)

#: Pixels of the longer side of a small map.
_LONGEST = 60
#: Scores of each setting.
SCORES = {
    "evidence": Score("Log evidence", "more", truth=False),
    "left_out": Score("Leave-one-out RMSE of the targets (standardised)", truth=False),
    "rmse": Score("RMSE against truth"),
    "crps": Score("CRPS against truth"),
    "coverage50": Score("Coverage of 50 % intervals", ""),
    "coverage95": Score("Coverage of 95 % intervals", ""),
}
_NOISES = ("noise σ²", "regularisation λ")


def sweepable(spec: ModelSpec, problem: DownscalingProblem) -> dict[str, float]:
    """The hyperparameters that can be swept, by the names that learning reports, with their values in ``spec``."""
    result = _values(spec.kernel, "k", problem.columns)
    if spec.mediator_kernel is not None and spec.model.uses("mediator_kernel"):
        result |= _values(spec.mediator_kernel, "ℓ", problem.mediator_columns)
    result["noise σ²"] = spec.noise
    if spec.model.uses("regularisation"):
        result["regularisation λ"] = spec.regularisation
    return result


def _values(kernel: Any, prefix: str, columns: tuple[str, ...]) -> dict[str, float]:
    return ParameterVector(tuple(kernel_parameters(prefix, kernel, kernel.build(columns)))).values()


def is_cheap(name: str) -> bool:
    """Whether a hyperparameter leaves all sums of kernel values unchanged."""
    return name in _NOISES or name.endswith("variance")


def sweep(
    problem: DownscalingProblem,
    spec: ModelSpec,
    axes: Sequence[Axis],
    known: Sequence[Mapping[str, Any]] = (),
    check: Check = never,
) -> Iterator[dict[str, Any]]:
    """Yield one row per setting, each from the exact posterior; ``known`` rows are returned unchanged.

    A row contains ``values`` (name → number), the available `SCORES`, ``picture`` (a small map of the mean), or a
    ``message`` if the setting is refused. Sums of unchanged terms are computed once. Raises ``InputError``.
    """
    check_axes(axes, list(sweepable(spec, problem)))
    store, data = SumsStore(), _Data(problem)
    settings = settings_of(axes, is_cheap)
    return rows_of(settings, lambda values: _row(problem, spec, values, store, data, check), known, check)


class _Data:
    """The data a model can use; pseudo-targets once for each mediator kernel."""

    def __init__(self, problem: DownscalingProblem) -> None:
        self._problem = problem
        self._known: dict[Any, IndirectData] = {}

    def of(self, spec: ModelSpec, check: Check) -> IndirectData:
        """Those of a model."""
        key = (spec.model.name, spec.mediator_kernel)
        if key not in self._known:
            self._known = {key: matched_data(self._problem, spec, check)}
        return self._known[key]


def _row(
    problem: DownscalingProblem, start: ModelSpec, values: dict[str, float], store: SumsStore, data: _Data, check: Check
) -> dict[str, Any]:
    from deconditioning.metrics.field_scores import score_field

    spec = traced_spec(start, problem, values)
    picture = interactive.picture_or_none(problem, spec)
    result = interactive.exact(spec, data.of(spec, check), problem, "sweep", store, picture, check)
    predictive = physical_map(problem, result.parts, result.cells)
    row: dict[str, Any] = {"evidence": result.evidence, "left_out": result.left_out}
    if problem.truth is not None:
        scores = score_field(problem.truth, predictive)
        row |= {name: scores[name] for name in SCORES if name in scores}
    return row | {"picture": _small(problem, predictive.mean)}


def _small(problem: DownscalingProblem, mean: np.ndarray) -> dict[str, Any]:
    """The mean on the scale of the maps, thinned."""
    step = max(1, -(-max(mean.shape) // _LONGEST))
    scale = field_scale(problem)
    return small_picture(mean[::step, ::step], scale.low, scale.high)


def sweep_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every setting of the axes, stored as they are computed; ``rows`` of a stopped sweep are
    reused.

    ``settings``: ``source``, ``problem``, ``model`` (a `ModelSpec`), ``axes``, ``rows``, ``warp`` where there
    is one.
    """
    from deconditioning.downscaling.source import Source, build_problem
    from deconditioning.fields.spec import DownscalingSpec

    problem = build_problem(Source.from_dict(settings["source"]), DownscalingSpec.from_dict(settings["problem"]))
    if settings.get("warp"):
        problem = warped(problem, Warp.from_dict(settings["warp"]))
    spec, axes = ModelSpec.from_dict(settings["model"]), [Axis(**axis) for axis in settings["axes"]]
    rows = sweep(problem, spec, axes, settings.get("rows", ()), context.check)
    content = {"axes": settings["axes"], "units": problem.units, "model": spec.model.name}

    def small(cells: Sequence[Row]) -> bytes:
        """The thumbnail (PNG) of the cells."""
        return sweep_thumbnail(cells, choosing(cells, SCORES) or "")

    return saved_rows(rows, content, cells_of(axes), context, small, THUMBNAIL)
