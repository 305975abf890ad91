"""A trace as lines to draw: the objective of each stage, and every hyperparameter."""

from collections.abc import Mapping, Sequence
from typing import Any

_NOT_VALUES = {"time", "step", "total", "attempt", "restart", "evaluation"}
_OBJECTIVES = ("evidence", "loss")
Series = dict[str, list[float | None]]


def trace_series(rows: Sequence[Mapping[str, Any]]) -> tuple[list[int], Series, Series]:
    """``(steps, objective, hyperparameters)`` of a trace.

    ``steps`` counts the rows that hold values, 1…T. ``objective`` holds the evidence where the task reported
    it, else the losses, else every other number; each ``stage`` has a line of its own, because stages differ in
    their objectives. ``hyperparameters`` holds what was reported in nested dicts, where positive. What is
    missing is None.
    """
    scalars: list[dict[str, float]] = []
    nested: list[dict[str, float]] = []
    for row in rows:
        plain = {str(name): float(value) for name, value in row.items() if name not in _NOT_VALUES and _number(value)}
        inner = [value for value in row.values() if isinstance(value, Mapping)]
        parameters = {str(n): float(v) for values in inner for n, v in values.items() if _number(v) and v > 0}
        if plain or parameters:
            stage = row.get("stage")
            scalars.append({f"{name} ({stage})" if isinstance(stage, str) else name: v for name, v in plain.items()})
            nested.append(parameters)
    steps = list(range(1, len(scalars) + 1))
    return steps, _lines(_objective(scalars)), _lines(nested)


def _objective(rows: list[dict[str, float]]) -> list[dict[str, float]]:
    names = {name for row in rows for name in row}
    for word in _OBJECTIVES:
        wanted = {name for name in names if word in name}
        if wanted:
            return [{name: value for name, value in row.items() if name in wanted} for row in rows]
    return rows


def _lines(rows: list[dict[str, float]]) -> Series:
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
