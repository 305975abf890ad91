"""A trace as curves: the objective of each stage, and every hyperparameter."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from deconditioning.figures.colours import model_name
from deconditioning.wording import hyperparameter_names

_NOT_VALUES = {"time", "step", "total", "share", "attempt", "restart", "evaluation"}
#: The name of the best value so far, beside a quantity's own.
BEST = "best so far"
_OBJECTIVES = ("evidence", "loss")
_Stage = tuple[list[float], dict[str, list[float | None]]]


def trace_series(rows: Sequence[Mapping[str, Any]]) -> tuple[dict[str, _Stage], _Stage]:
    """``(objectives, hyperparameters)`` of a trace, each as ``(steps, name → values)``.

    Steps count the rows that hold values, 1…T. ``objectives`` has one entry a ``stage`` (they differ in what is
    maximised or minimised; ``""`` where none is named): ``value`` and ``best`` under the name of their ``quantity``
    where the task reported them so, else the evidence, else the losses, else every other number. ``hyperparameters``
    holds what was reported in nested dicts, where positive. What is missing is None. Where another fit begins, of
    another model or from another start, the task's own ``step`` begins anew or its ``restart`` changes: a row without
    values, half a step before, parts the two.
    """
    stages: dict[str, list[tuple[float, dict[str, float]]]] = {}
    nested: list[tuple[float, dict[str, float]]] = []
    step, fit = 0, _Fit()
    for row in rows:
        plain, parameters = _values(row)
        step += bool(plain or parameters)
        if (plain or parameters) and fit.ends_before(row):
            for lines in (*stages.values(), nested):
                lines.append((step - 0.5, {}))
        if plain:
            plain = _named(row.get("quantity"), plain)
            stages.setdefault(str(row.get("stage") or ""), []).append((step, plain))
        if parameters:
            nested.append((step, parameters))
    return {stage: _lines(_objective(_inner(result))) for stage, result in stages.items()}, _lines(_inner(nested))


def _values(row: Mapping[str, Any]) -> tuple[dict[str, float], dict[str, float]]:
    """The numbers of a row but for its counters, and those of its nested dicts where positive."""
    plain = {str(name): float(value) for name, value in row.items() if name not in _NOT_VALUES and _number(value)}
    inner = [value for value in row.values() if isinstance(value, Mapping)]
    return plain, {str(n): float(v) for values in inner for n, v in values.items() if _number(v) and v > 0}


@dataclass
class _Fit:
    """Where a task is in its fits: the last step, the start and the model of its current one."""

    step: float = -math.inf
    restart: Any = None
    model: str = ""

    def ends_before(self, row: Mapping[str, Any]) -> bool:
        """Whether another fit, of another model or from another start, begins with this row; a row that counts no
        steps belongs to the current one."""
        if not _number(row.get("step")):
            return False
        restart = row["restart"] if _number(row.get("restart")) else self.restart
        result = row["step"] < self.step or (self.restart is not None and restart != self.restart)
        self.step, self.restart, self.model = row["step"], restart, str(row.get("model") or "")
        return result


def fit_names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the fits of a trace are called, in their order: by model, by start where one model has several."""
    current, fits = _Fit(), list[tuple[str, Any]]()
    for row in rows:
        if any(_values(row)) and (current.ends_before(row) or not fits):
            fits.append((current.model, current.restart))
    models = [model for model, _ in fits]
    if not all(models):
        return [f"Fit {n}" for n in range(1, len(fits) + 1)]
    one, starts = len(set(models)) == 1, [f"start {(restart or 0) + 1}" for _, restart in fits]
    if one:
        return [start.capitalize() for start in starts]
    return [
        model_name(model) if models.count(model) == 1 else f"{model_name(model)}, {start}"
        for model, start in zip(models, starts, strict=True)
    ]


def hyperparameters_of_fits(
    values: Mapping[str, Sequence[float | None]],
) -> tuple[dict[str, list[float | None]], list[list[str]]]:
    """Hyperparameters (T,) as `trace_series` returns them, under the names of their sliders, and those of each fit.

    A kernel's terms are numbered anew in every fit. A term of the same columns is the same curve in all of them.
    """
    fits, lines, rows = [list[str]()], dict[str, list[float | None]](), list(zip(*values.values(), strict=True))
    for row in rows:
        there = [name for name, value in zip(values, row, strict=True) if value is not None]
        if not there:
            fits.append([])
        fits[-1] += [name for name in there if name not in fits[-1]]
    called = [hyperparameter_names(fit) for fit in fits]
    fit = 0
    for at, row in enumerate(rows):
        known = {name: value for name, value in zip(values, row, strict=True) if value is not None}
        fit += not known
        for name, value in known.items():
            lines.setdefault(called[fit][name], [None] * len(rows))[at] = value
    return lines, [list(names.values()) for names in called]


def _inner(rows: list[tuple[float, dict[str, float]]]) -> list[tuple[float, dict[str, float]]]:
    """The rows up to the last one with values, and of gaps in a row only the last."""
    return [row for row, after in pairwise([*rows, (0.0, {})]) if row[1] or after[1]]


def best_objective(rows: Sequence[Mapping[str, Any]]) -> tuple[str, float] | None:
    """The quantity that the last stage of learning climbed or descended, and its best value; None if the trace has
    none."""
    for lines in reversed([lines for _, lines in trace_series(rows)[0].values() if BEST in lines]):
        name = next(name for name in lines if name != BEST)
        known = [value for value in lines[BEST] if value is not None]
        return name.split(" (")[0], (min if "loss" in name else max)(known)
    return None


def _named(quantity: Any, plain: dict[str, float]) -> dict[str, float]:
    """``value`` under the name of its quantity, ``best`` beside it; as it was where no quantity is named."""
    if not isinstance(quantity, str) or "value" not in plain:
        return plain
    return {quantity: plain["value"], **({BEST: plain["best"]} if "best" in plain else {})}


def _objective(rows: list[tuple[float, dict[str, float]]]) -> list[tuple[float, dict[str, float]]]:
    names = {name for _, row in rows for name in row}
    if BEST in names:
        return rows
    for word in _OBJECTIVES:
        matching = {name for name in names if word in name}
        if matching:
            return [(step, {name: value for name, value in row.items() if name in matching}) for step, row in rows]
    return rows


def _lines(rows: list[tuple[float, dict[str, float]]]) -> _Stage:
    names = dict.fromkeys(name for _, row in rows for name in row)
    return [step for step, _ in rows], {name: [row.get(name) for _, row in rows] for name in names}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
