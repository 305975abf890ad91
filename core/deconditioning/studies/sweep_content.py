"""What a page takes from a run that swept, checked where it is read: axes, rows, and what they are called."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from deconditioning.engine.records import Run
from deconditioning.errors import InputError
from deconditioning.figures.small_multiples import small_map
from deconditioning.sweeps import Axis, Score, is_finite
from deconditioning.wording import hyperparameter_names

TASKS = ("sweep", "sweep-study")
_WRONG = (KeyError, TypeError, ValueError, AttributeError)


@dataclass(frozen=True)
class Swept:
    """A sweep as far as it went: its ``axes``, the ``rows`` that are sound, ``scores`` and ``names`` of settings."""

    axes: tuple[Axis, ...]
    rows: tuple[dict[str, Any], ...]
    scores: Mapping[str, Score]
    names: Mapping[str, str]

    def axis(self, name: str) -> Axis:
        """An axis by its name."""
        return next(axis for axis in self.axes if axis.name == name)


def swept(run: Run) -> Swept | None:
    """The sweep of a run; None if it is not one, or its settings are damaged. Rows that are damaged are left out."""
    if run.spec.task not in TASKS:
        return None
    try:
        axes = tuple(Axis(**axis) for axis in run.spec.settings["axes"])
        scores, names = _scores_and_axes(run)
        cells = (run.result or {}).get("cells") or []
        return Swept(axes, tuple(_row(cell, scores) for cell in cells if _is_cell(cell, axes)), scores, names)
    except (*_WRONG, InputError):
        return None


def page_of(run: Run) -> tuple[str, dict[str, list[str]]] | None:
    """The address of the page that began a sweep and what its controls were, with the sweep itself; None if unknown."""
    page = run.spec.settings.get("page")
    if run.spec.task not in TASKS or not isinstance(page, Mapping):
        return None
    url, query = page.get("url"), page.get("query")
    if not isinstance(url, str) or not isinstance(query, str):
        return None
    return url, parse_qs(query) | {"sweep": ["true"], "swept": [run.id]}


def _scores_and_axes(run: Run) -> tuple[Mapping[str, Score], Mapping[str, str]]:
    if run.spec.task == "sweep":
        from deconditioning.downscaling.sweep import SCORES

        return SCORES, hyperparameter_names([axis["name"] for axis in run.spec.settings["axes"]])
    from deconditioning.studies.sweeping import study_of

    study = study_of(run.spec.settings["study"])
    return study.scores, {name: setting.title for name, setting in study.settings.items()}


def _is_cell(cell: Any, axes: tuple[Axis, ...]) -> bool:
    """Whether it has a number for every axis."""
    values = cell.get("values") if isinstance(cell, Mapping) else None
    if not isinstance(values, Mapping) or set(values) != {axis.name for axis in axes}:
        return False
    return all(is_finite(value) for value in values.values())


def _row(cell: Mapping[str, Any], scores: Mapping[str, Score]) -> dict[str, Any]:
    """The cell with what of it can be drawn."""
    result: dict[str, Any] = {"values": dict(cell["values"])}
    result |= {name: float(cell[name]) for name in scores if is_finite(cell.get(name))}
    if isinstance(cell.get("message"), str):
        result["message"] = cell["message"]
    if _is_picture(cell.get("picture")):
        result["picture"] = cell["picture"]
    return result


def _is_picture(picture: Any) -> bool:
    try:
        if "shape" in picture:
            return bool(small_map(picture).ndim == 2)
        lines = [picture["x"], *picture["lines"].values(), *([picture["sd"]] if "sd" in picture else [])]
        same = all(len(line) == len(picture["x"]) > 1 for line in lines)
        return same and all(value is None or is_finite(value) for line in lines for value in line)
    except (*_WRONG, KeyError):
        return False
