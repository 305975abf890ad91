"""A grid of hyperparameters: what the evidence, the left-out targets and the truth say of each setting."""

import base64
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.bag_sums.kept import SumsStore
from core.downscaling import interactive
from core.downscaling.interactive import traced_spec
from core.downscaling.prediction import matched_data
from core.errors import Check, InputError, never
from core.fields import DownscalingProblem
from core.figures.downscaled_maps import field_scale
from core.figures.flip import coded
from core.models.catalogue import named
from core.models.parameters import ParameterVector, kernel_parameters
from core.models.spec import ModelSpec
from core.observations import IndirectData

#: Settings of one sweep, and pixels of the longer side of a small map.
MOST_CELLS, LONGEST = 100, 60
#: What is told of each setting; the last four need a truth.
SCORES = ("evidence", "left_out", "rmse", "crps", "coverage50", "coverage95")
_NOISES = {"noise σ²": "noise", "point noise ς²": "point_noise", "regularisation λ": "regularisation"}


@dataclass(frozen=True)
class Axis:
    """``count`` values of a hyperparameter from ``low`` to ``high``, evenly spaced, in logarithms where ``log``.

    Raises ``InputError`` for ends or counts that make no axis.
    """

    name: str
    low: float
    high: float
    count: int = 5
    log: bool = True

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and 0 < self.low < self.high):
            raise InputError(f"The axis {self.name} goes from {self.low:g} to {self.high:g}: give 0 < low < high.")
        if not 2 <= self.count <= MOST_CELLS:
            raise InputError(f"The axis {self.name} has {self.count} values: give 2 to {MOST_CELLS}.")

    @property
    def values(self) -> list[float]:
        """The values, to six digits."""
        space = np.geomspace if self.log else np.linspace
        return [float(f"{value:.6g}") for value in space(self.low, self.high, self.count)]

    @classmethod
    def read(cls, text: str) -> "Axis":
        """An axis from ``name:low:high:count`` with ``:log`` (usual) or ``:linear`` behind it."""
        parts = text.split(":")
        log = parts.pop() == "log" if parts[-1] in ("log", "linear") else True
        try:
            name, low, high, count = ":".join(parts[:-3]), float(parts[-3]), float(parts[-2]), int(parts[-1])
        except (ValueError, IndexError):
            raise InputError(f"`{text}` is no axis: write name:low:high:count, such as 'noise σ²:1e-6:1:5'.") from None
        return cls(name, low, high, count, log)


def sweepable(spec: ModelSpec, problem: DownscalingProblem) -> dict[str, float]:
    """The hyperparameters that can be swept, by the names that learning reports, with their values in ``spec``."""
    found = _values(spec.kernel, "k", problem.columns)
    if spec.mediator_kernel is not None and named(spec.model).mediated:
        found |= _values(spec.mediator_kernel, "ℓ", problem.mediator_columns)
    found["noise σ²"] = spec.noise
    if named(spec.model).mediated:
        found["regularisation λ"] = spec.regularisation
    return found


def _values(kernel: Any, prefix: str, columns: tuple[str, ...]) -> dict[str, float]:
    return ParameterVector(tuple(kernel_parameters(prefix, kernel, kernel.build(columns)))).values()


def check_axes(axes: Sequence[Axis], spec: ModelSpec, problem: DownscalingProblem) -> None:
    """``InputError`` for axes that this model has not, the same one twice, or too many settings."""
    offered = sweepable(spec, problem)
    if len(axes) not in (1, 2) or len({axis.name for axis in axes}) < len(axes):
        raise InputError(f"{len(axes)} axes were given: give one, or two different ones.")
    for axis in axes:
        if axis.name not in offered:
            raise InputError(f"There is no hyperparameter `{axis.name}` here: choose one of {', '.join(offered)}.")
    if (cells := math.prod(axis.count for axis in axes)) > MOST_CELLS:
        raise InputError(f"The axes make {cells} settings, at most {MOST_CELLS} are computed: take fewer values.")


def settings_of(axes: Sequence[Axis]) -> list[dict[str, float]]:
    """Every setting, ordered so that what costs most (sums of a kernel) changes least often."""
    outer = sorted(axes, key=lambda axis: axis.name in _NOISES or axis.name.endswith("variance"))
    found: list[dict[str, float]] = [{}]
    for axis in outer:
        found = [{**setting, axis.name: value} for setting in found for value in axis.values]
    return found


def sweep(
    problem: DownscalingProblem,
    spec: ModelSpec,
    axes: Sequence[Axis],
    known: Sequence[Mapping[str, Any]] = (),
    check: Check = never,
) -> Iterator[dict[str, Any]]:
    """One row after the other, each the exact posterior at its setting; those that are ``known`` come as they are.

    A row holds ``values`` (name → number), the `SCORES` that exist, ``picture`` (a small map of the mean), or a
    ``message`` where the setting is refused. Sums of terms that do not change are taken once. Raises ``InputError``.
    """
    check_axes(axes, spec, problem)
    there = [dict(row) for row in known]
    store, data = SumsStore(), _Data(problem)
    for values in settings_of(axes):
        check()
        old = next((row for row in there if row.get("values") == values), None)
        yield old if old is not None else _row(problem, spec, values, store, data, check)


class _Data:
    """The data a model can use; pseudo-targets once for each mediator kernel."""

    def __init__(self, problem: DownscalingProblem) -> None:
        self._problem = problem
        self._known: dict[Any, IndirectData] = {}

    def of(self, spec: ModelSpec, check: Check) -> IndirectData:
        """Those of a model."""
        key = (spec.model, spec.mediator_kernel)
        if key not in self._known:
            self._known = {key: matched_data(self._problem, spec, check)}
        return self._known[key]


def _row(
    problem: DownscalingProblem, start: ModelSpec, values: dict[str, float], store: SumsStore, data: _Data, check: Check
) -> dict[str, Any]:
    from core.metrics import score_field

    spec = traced_spec(start, problem, values)
    try:
        picture = interactive.picture_or_none(problem, spec)
        found = interactive.exact(spec, data.of(spec, check), problem, "sweep", store, picture, check)
    except InputError as error:
        return {"values": values, "message": str(error)}
    mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
    row: dict[str, Any] = {"values": values, "evidence": found.evidence, "left_out": found.left_out}
    if problem.truth is not None:
        scores = score_field(problem.truth, mean, sd)
        row |= {name: scores[name] for name in SCORES if name in scores}
    return row | {"picture": _small(problem, mean)}


def _small(problem: DownscalingProblem, mean: np.ndarray) -> dict[str, Any]:
    """The mean as bytes on the scale of the maps, rows from south to north."""
    step = max(1, -(-max(mean.shape) // LONGEST))
    scale, thin = field_scale(problem), mean[::step, ::step]
    text = base64.b64encode(coded(thin, scale.low, scale.high).tobytes()).decode("ascii")
    return {"shape": list(thin.shape), "bytes": text}


def small_map(picture: Mapping[str, Any]) -> np.ndarray:
    """A row's small map (h, w) as shares 0 … 1 of the maps' scale; NaN where missing."""
    flat = np.frombuffer(base64.b64decode(picture["bytes"]), np.uint8).reshape(picture["shape"]).astype(float)
    return np.where(flat > 0, (flat - 1) / 254, np.nan)


def best(rows: Sequence[Mapping[str, Any]], score: str) -> dict[str, float] | None:
    """The values of the row with the highest evidence, or the lowest of another score; None where none has it."""
    there = [row for row in rows if row.get(score) is not None and math.isfinite(row[score])]
    if not there:
        return None
    sign = -1 if score == "evidence" else 1
    return dict(min(there, key=lambda row: sign * row[score])["values"])


def sweep_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every setting of the axes, kept as they come; ``rows`` of a stopped sweep are gone on from.

    ``settings``: ``source``, ``problem``, ``model`` (a `ModelSpec`), ``axes``, ``rows``.
    """
    from core.downscaling.source import Source, build_problem
    from core.fields import DownscalingSpec

    problem = build_problem(Source.from_dict(settings["source"]), DownscalingSpec.from_dict(settings["problem"]))
    spec, axes = ModelSpec.from_dict(settings["model"]), [Axis(**axis) for axis in settings["axes"]]
    rows: list[dict[str, Any]] = []
    told = {"axes": settings["axes"], "units": problem.units, "model": spec.model}
    count = math.prod(axis.count for axis in axes)
    for row in sweep(problem, spec, axes, settings.get("rows", ()), context.check):
        rows.append(row)
        context.best(told | {"cells": rows, "cancelled": True})
        context.report(step=len(rows), total=count, message=f"{len(rows)} of {count} settings")
    return told | {"cells": rows, "cancelled": False}
