"""Compares runs: rows of a table with the settings in which they differ, and their scores."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from deconditioning.engine.records import Run


def flatten(settings: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested settings as ``{"problem.block": [9, 9], …}``; lists stay whole."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping) and value:
            flat |= flatten(value, f"{prefix}{name}.")
        else:
            flat[f"{prefix}{name}"] = value
    return flat


def compare_settings(runs: Sequence[Run], *, only_differences: bool = False) -> list[tuple[str, list[Any]]]:
    """Rows ``(setting, value of each run)``, those that differ first; None if a run has no such setting."""
    flats = [{"task": run.spec.task, "seed": run.spec.seed, **flatten(run.spec.settings)} for run in runs]
    names = list(dict.fromkeys(name for flat in flats for name in flat))
    rows = [(name, [flat.get(name) for flat in flats]) for name in names]
    differ = [row for row in rows if any(value != row[1][0] for value in row[1][1:])]
    return differ if only_differences else differ + [row for row in rows if row not in differ]


def run_scores(run: Run, part: str = "scores") -> dict[str, dict[str, float | None]]:
    """Model → scores of a run's result; empty if it has none (or its result is not one of ours).

    Scores without model names are those of the one model that the run fitted.
    """
    scores = (run.result or {}).get(part)
    if not isinstance(scores, Mapping):
        return {}
    model = _named_model(run)
    if model and scores and not any(isinstance(result, Mapping) for result in scores.values()):
        scores = {model: scores}
    return {
        str(model): {str(name): value for name, value in result.items() if _number(value)}
        for model, result in scores.items()
        if isinstance(result, Mapping)
    }


def run_sentences(run: Run, part: str) -> list[str]:
    """The texts in a part of a run's result, such as its warnings; none if it contains something else."""
    result = (run.result or {}).get(part)
    return [text for text in result if isinstance(text, str)] if isinstance(result, list) else []


def run_model(run: Run) -> str:
    """The model that a run fitted: from its result or settings, otherwise the first one scored, otherwise its task."""
    return next(iter([*filter(None, [_named_model(run)]), *run_scores(run), run.spec.task]))


def _named_model(run: Run) -> str | None:
    """The model that a run's result or its settings name."""
    model = run.spec.settings.get("model")
    nested = model.get("model") if isinstance(model, Mapping) else model
    return next((name for name in ((run.result or {}).get("model"), nested) if isinstance(name, str)), None)


def over_seeds(chosen: Sequence[Run], runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Rows ``{model, seed, scores}`` of the chosen runs' models, from all runs with the same task, data and problem.

    Problems that differ only by the seed count as the same, with other withheld cells. Of several runs of one model and
    seed the newest counts.
    """
    problems = {_problem(run) for run in chosen}
    if len(problems) != 1:
        return []
    models = {run_model(run) for run in chosen}
    result: dict[tuple[str, int], dict[str, Any]] = {}
    for run in sorted([*runs, *chosen], key=lambda run: run.created):
        model = run_model(run)
        scores = run_scores(run).get(model)
        if model in models and scores and _problem(run) in problems:
            result[model, run.spec.seed] = {"model": model, "seed": run.spec.seed, "scores": scores}
    return list(result.values())


def _problem(run: Run) -> str:
    """What a run is about, but for its seed and its model."""
    spec = run.spec.settings.get("problem")
    problem = {name: value for name, value in spec.items() if name != "seed"} if isinstance(spec, Mapping) else spec
    return json.dumps([run.spec.task, run.spec.settings.get("source"), problem], sort_keys=True)


def _number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
