"""A run in words: its settings beside the usual ones, where its data come from, how it was made."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from deconditioning.engine.compare import flatten, run_model
from deconditioning.engine.records import Run
from deconditioning.errors import InputError
from deconditioning.figures.colours import model_name
from deconditioning.wording import duration

#: Tasks whose data this software draws, from the part of the settings of that name.
_DRAWN = {"sparse-representation": "toy", "one-dimension": "line", "swiss-roll": "roll"}
_ENDINGS = {
    "done": "",
    "cancelled": " It was cancelled: this is the best so far.",
    "failed": " It failed.",
    "interrupted": " It was interrupted.",
}


def settings_beside_usual(run: Run) -> list[tuple[str, Any, Any]]:
    """Rows ``(setting, the run's value, the usual one)``, those that differ first; None where there is no usual one."""
    try:
        usual = flatten(_usual(run))
    except (InputError, KeyError, TypeError, ValueError):  # damaged settings are shown as they are
        usual = {}
    rows = [(name, value, usual.get(name)) for name, value in flatten(run.spec.settings).items()]
    rows.insert(0, ("seed", run.spec.seed, 0))
    return sorted(rows, key=lambda row: row[1] == row[2] or row[0] not in {"seed", *usual})


def _usual(run: Run) -> dict[str, Any]:
    """What a run of this task would be made of if nothing were chosen."""
    from deconditioning.datasets.entries import find
    from deconditioning.datasets.one_dimension import LineSpec
    from deconditioning.datasets.sparse_toy import ToySpec
    from deconditioning.datasets.swiss_roll import RollSpec
    from deconditioning.downscaling.settings import DownscaleSettings
    from deconditioning.fields.spec import DownscalingSpec
    from deconditioning.studies.one_dimension.problem import LineSettings
    from deconditioning.studies.sparse_representation.study import SparseSettings
    from deconditioning.studies.swiss_roll.study import RollSettings

    task = run.spec.task
    if task == "downscale":
        default = find(run.spec.settings["source"]["fields"]).default
        problem = DownscalingSpec.from_dict(default).to_dict() if default else {}
        return {"problem": problem, "settings": DownscaleSettings().to_dict()}
    own: dict[str, tuple[Any, Any]] = {
        "toy": (ToySpec(), SparseSettings()),
        "line": (LineSpec(), LineSettings()),
        "roll": (RollSpec(), RollSettings()),
    }
    part = _DRAWN.get(task)
    return {} if part is None else {part: asdict(own[part][0]), "settings": asdict(own[part][1])}


def data_sentence(run: Run) -> str:
    """Where a run's data come from and what a figure of them must say; empty where that is not known."""
    from deconditioning.datasets.entries import find

    if run.spec.task in _DRAWN:
        return "Data: drawn by this software from the seed, free to use."
    source = run.spec.settings.get("source")
    key = source.get("fields") if isinstance(source, Mapping) else None
    if not isinstance(key, str):
        return ""
    if key.startswith("upload:"):
        return "Data: a file that somebody uploaded; its source and licence are theirs to tell."
    try:
        entry = find(key)
    except InputError:
        return f"Data: {key}, which this machine does not have."
    return f"Data: {entry.title}. {entry.source}; {entry.licence}."


def made_sentence(run: Run) -> str:
    """What was done, when, and how long it took."""
    begun = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(run.created))
    took = f" in {duration(run.ended - run.started)}" if run.ended and run.started else ""
    return (
        f"Made by the task {run.spec.task} with {model_name(run_model(run))} and seed {run.spec.seed}, begun {begun}"
        f"{took} by version {run.version}; its zip in the library holds a script that makes it again."
        f"{_ENDINGS.get(run.status, '')}"
    )
