"""What a page takes from a run, checked where it is read: a damaged run is a sentence, no error inside a page.

The engine sees to it that a run's files hold JSON objects; what is in them is known here, a task at a time.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from deconditioning.engine.compare import run_model, run_sentences
from deconditioning.engine.records import Run
from deconditioning.errors import InputError
from deconditioning.models.spec import ModelSpec
from deconditioning.sweeps import is_finite

if TYPE_CHECKING:
    from deconditioning.downscaling.checks.scale_up_result import OneScaleUp

_Parser = Callable[[dict[str, Any]], Any]
_WRONG = (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, ZeroDivisionError, RecursionError)


def readable(run: Run) -> Run:
    """The run as a page may use it: settings as its task takes them, a result that can be taken over, or none.

    Raises ``InputError`` if the settings are not settings of the task. Where the result is damaged it is left out,
    and the run's warnings say so.
    """
    settings, result = _PARSERS.get(run.spec.task, (dict, dict))
    if not _is_parsed(settings, run.spec.settings):
        raise InputError(
            f"The settings of run {run.id} are damaged, so it cannot be shown. Delete it on page Runs and learn again."
        )
    if run.result is None:
        return run
    learned = run.result.get("learned")
    if not learned or _is_parsed(result, learned):
        return run
    sentences = [
        *run_sentences(run, "warnings"),
        "The result of this run is damaged and cannot be read: run it again.",
    ]
    return replace(run, result=run.result | {"learned": None, "warnings": sentences})


def readable_runs(runs: Iterable[Run], task: str) -> list[Run]:
    """Those runs of a task that a page may use, damaged ones left out."""
    result = []
    for run in runs:
        if run.spec.task == task:
            with suppress(InputError):  # page Runs shows it and says so
                result.append(readable(run))
    return result


def one_scale_up_in(result: Mapping[str, Any] | None, cells: int) -> "OneScaleUp | None":
    """What a downscaling run found one scale up on so many coarse cells; None if it did not look or is damaged."""
    from deconditioning.downscaling.checks.scale_up_result import OneScaleUp

    try:
        check = OneScaleUp.from_dict((result or {})["diagnostics"]["one_scale_up"])
    except _WRONG:
        return None
    rows = (
        check.rmse.values(),
        check.t.values(),
        check.held,
        check.pit,
        (check.crps, check.within or 0.0),
        *check.values.values(),
    )
    inside = all(0 <= cell < cells for cell in check.values["cell"])
    return check if inside and all(math.isfinite(v) for row in rows for v in row) else None


def scored_stations(run: Run) -> dict[str, Any] | None:
    """The scores of a downscaling run at stations that no method used (`source_report`); None if it has none or they
    are damaged."""
    try:
        scored = (run.result or {})["diagnostics"]["stations"]["scored"]
        single = [scored[name] for name in ("count", "rmse", "bias", "crps", "inside_50", "inside_90", "inside_95")]
        maps = [
            scored[name][model] for name in ("rmse_of", "bias_of") for model in (*scored["rmse_of"], run_model(run))
        ]
    except _WRONG:
        return None
    return dict(scored) if all(map(is_finite, (*single, *maps))) else None


def hyperparameters(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Those rows of a trace that tell hyperparameters, which are then finite numbers by name."""
    result = []
    for row in rows:
        values = row.get("hyperparameters")
        if isinstance(values, Mapping):
            plain = {name: float(value) for name, value in values.items() if is_finite(value)}
            result.append({**row, "hyperparameters": plain})
    return result


def locations(rows: list[dict[str, Any]]) -> list[list[float]]:
    """Where the points of a sparse representation stood, row by row of a trace."""
    places = [row.get("locations") for row in rows]
    return [points for points in places if isinstance(points, list) and points and all(map(is_finite, points))]


def benchmark_rows(rows: Any, group: str) -> list[dict[str, Any]]:
    """Those rows of a benchmark that are fits: model, seed, scores, seconds and the group they belong to."""
    return [row for row in rows if _is_fit(row, group)] if isinstance(rows, list) else []


def learned_downscaling(learned: Mapping[str, Any]) -> ModelSpec:
    """The model that a downscaling run learned, from its settings; errors of any kind where they are none."""
    stored = {field.name: learned[field.name] for field in fields(ModelSpec) if learned.get(field.name) is not None}
    points, spread = stored.get("inducing", {}), learned.get("integrate")
    stored["spread"] = spread if isinstance(spread, Mapping) else None
    if isinstance(average := learned.get("average"), Mapping):
        stored["others"] = average["others"]
    return ModelSpec.from_dict(stored | {"inducing": points if isinstance(points, dict) else {"count": points}})


def _is_parsed(parser: _Parser, data: Any) -> bool:
    try:
        parser(data)
    except _WRONG:
        return False
    return True


def _is_fit(row: Any, group: str) -> bool:
    if not isinstance(row, dict) or not isinstance(row.get(group), str) or not is_finite(row.get("seed")):
        return False
    seconds = row.get("seconds")
    timed = seconds is None or (isinstance(seconds, dict) and is_finite(seconds.get("cpu")))
    more = row.get("more", {None: row.get("scores")})
    scored = isinstance(more, dict) and all(_are_scores(scores) for scores in more.values())
    return timed and scored and ("more" in row or isinstance(row.get("model"), str))


def _are_scores(scores: Any) -> bool:
    return isinstance(scores, dict) and all(value is None or is_finite(value) for value in scores.values())


def _downscaling(settings: dict[str, Any]) -> None:
    from deconditioning.downscaling.settings import DownscaleSettings
    from deconditioning.downscaling.source import Source
    from deconditioning.fields.spec import DownscalingSpec
    from deconditioning.models.catalogue import named

    source = settings["source"]
    if not all(isinstance(key, str | None) for key in source.values()):
        raise TypeError("a key of a source is text")
    Source.from_dict(source)
    DownscalingSpec.from_dict(settings["problem"])
    DownscaleSettings.from_dict(settings["settings"])
    named(settings["model"])


def _period(settings: dict[str, Any]) -> None:
    from deconditioning.period.tasks.write import PeriodTask

    PeriodTask.from_dict(settings)


def _swiss_roll(settings: dict[str, Any]) -> None:
    from deconditioning.datasets.swiss_roll import RollSpec

    RollSpec(**settings["roll"])


def _one_dimension(settings: dict[str, Any]) -> None:
    from deconditioning.datasets.one_dimension import LineSpec
    from deconditioning.studies.one_dimension.settings import LineSettings

    LineSpec.from_dict(settings["line"])
    LineSettings.from_dict(settings["settings"])


def _sparse(settings: dict[str, Any]) -> None:
    from deconditioning.datasets.sparse_toy import ToySpec
    from deconditioning.studies.sparse_representation.study import SparseSettings

    ToySpec(**settings["toy"])
    SparseSettings(**settings["settings"])


def _sparse_learned(learned: dict[str, Any]) -> None:
    from deconditioning.studies.sparse_representation.study import spec_from_dict

    spec = spec_from_dict(learned)
    math.log10(spec.noise)
    if not spec.locations or not all(map(is_finite, (value for row in spec.locations for value in row))):
        raise TypeError("locations are numbers")


def _roll_learned(learned: dict[str, Any]) -> None:
    _for_sliders(ModelSpec.from_dict(learned))
    math.log10(learned["noise"])


def _line_learned(learned: dict[str, Any]) -> None:
    spec = ModelSpec.from_dict(learned)
    _for_sliders(spec)
    if spec.mediator_kernel is None:
        raise TypeError("a model of this problem has a kernel on y")
    math.log10(spec.noise)
    math.log10(spec.regularisation)


def _downscaling_learned(learned: dict[str, Any]) -> None:
    _for_sliders(learned_downscaling(learned))


def _for_sliders(spec: ModelSpec) -> None:
    """Sliders hold logarithms: nothing may be 0 that one of them shows."""

    if spec.model.uses("regularisation"):
        math.log10(spec.regularisation)


_PARSERS: dict[str, tuple[_Parser, _Parser]] = {
    "downscale": (_downscaling, _downscaling_learned),
    "write-period": (_period, dict),
    "swiss-roll": (_swiss_roll, _roll_learned),
    "one-dimension": (_one_dimension, _line_learned),
    "sparse-representation": (_sparse, _sparse_learned),
}
