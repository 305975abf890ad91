"""A grid of settings: its axes and its order, the rows that come of it, and where scores have their optimum."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deconditioning.errors import Check, InputError

#: Settings of one sweep.
_MOST_CELLS = 100
Row = Mapping[str, Any]
Values = dict[str, float]


@dataclass(frozen=True)
class Axis:
    """``count`` values of a setting from ``low`` to ``high``, evenly spaced, in logarithms where ``log``.

    Where the setting is a ``whole`` number its values are rounded, and each is taken once. Raises ``InputError`` for
    ends or counts that make no axis.
    """

    name: str
    low: float
    high: float
    count: int = 5
    log: bool = True
    whole: bool = False

    def __post_init__(self) -> None:
        ends = math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high
        if not ends or (self.log and self.low <= 0):
            condition = "0 < low < high" if self.log else "low < high"
            raise InputError(f"The axis {self.name} runs from {self.low:g} to {self.high:g}: give {condition}.")
        if not 2 <= self.count <= _MOST_CELLS:
            raise InputError(f"The axis {self.name} has {self.count} values: give 2 to {_MOST_CELLS}.")

    @property
    def values(self) -> list[float]:
        """The values, to six digits."""
        space = np.geomspace if self.log else np.linspace
        result = [float(f"{value:.6g}") for value in space(self.low, self.high, self.count)]
        return list(dict.fromkeys(float(round(value)) for value in result)) if self.whole else result

    @classmethod
    def read(cls, text: str) -> "Axis":
        """An axis from ``name:low:high:count`` with ``:log`` (usual) or ``:linear`` behind it."""
        parts = text.split(":")
        log = parts.pop() == "log" if parts[-1] in ("log", "linear") else True
        try:
            name, low, high, count = ":".join(parts[:-3]), float(parts[-3]), float(parts[-2]), int(parts[-1])
        except (ValueError, IndexError):
            raise InputError(
                f"`{text}` is not an axis: write name:low:high:count, such as 'noise σ²:1e-6:1:5'."
            ) from None
        return cls(name, low, high, count, log)

    def away(self, first: float, second: float) -> float:
        """How far two values lie apart, as a share of the axis."""
        if self.log and min(first, second) > 0:
            return abs(math.log(first / second)) / math.log(self.high / self.low)
        return abs(first - second) / (self.high - self.low)


@dataclass(frozen=True)
class Score:
    """What a score is called, whether ``more`` or ``less`` of it is better ("" for neither: a coverage), and whether it
    needs the ``truth``: the others are what settings can be chosen by."""

    title: str
    better: Literal["more", "less", ""] = "less"
    truth: bool = True


def check_axes(axes: Sequence[Axis], offered: Sequence[str]) -> None:
    """``InputError`` for axes that are not on offer, the same one twice, or too many settings."""
    if len(axes) not in (1, 2):
        raise InputError(f"{len(axes)} axes were given: give one or two.")
    if len({axis.name for axis in axes}) < len(axes):
        raise InputError(f"Both axes are {axes[0].name}: choose another setting for one of them.")
    for axis in axes:
        if axis.name not in offered:
            raise InputError(f"There is no setting `{axis.name}` to sweep: choose one of {', '.join(offered)}.")
    if (cells := cells_of(axes)) > _MOST_CELLS:
        raise InputError(f"The axes make {cells} settings; the limit is {_MOST_CELLS}: choose fewer values.")


def cells_of(axes: Sequence[Axis]) -> int:
    """How many settings the axes make."""
    return math.prod(len(axis.values) for axis in axes)


def settings_of(axes: Sequence[Axis], cheap: Callable[[str], bool]) -> list[Values]:
    """Every setting, ordered so that what costs most (all that is not ``cheap``) changes least often."""
    result: list[Values] = [{}]
    for axis in sorted(axes, key=lambda axis: cheap(axis.name)):
        result = [{**setting, axis.name: value} for setting in result for value in axis.values]
    return result


def rows_of(
    settings: Sequence[Values], row: Callable[[Values], dict[str, Any]], known: Sequence[Row], check: Check
) -> Iterator[dict[str, Any]]:
    """A row a setting: as it is ``known``, else as ``row(values)`` makes it; a refusal becomes its ``message``."""
    there = [dict(each) for each in known]
    for values in settings:
        check()
        old = next((each for each in there if each.get("values") == values), None)
        if old is not None:
            yield old
            continue
        try:
            yield {"values": values} | row(values)
        except InputError as error:
            yield {"values": values, "message": str(error)}


def saved_rows(
    rows: Iterator[dict[str, Any]], content: dict[str, Any], count: int, context: Any,
    small: Callable[[Sequence[Row]], bytes], file: str,
) -> dict[str, Any]:  # fmt: skip
    """An engine's result: ``content`` and all rows as ``cells``, each kept when it comes; ``small`` draws ``file``."""
    cells: list[dict[str, Any]] = []
    for row in rows:
        cells.append(row)
        context.best(content | {"cells": cells, "cancelled": True})
        context.report(step=len(cells), total=count, message=f"{len(cells)} of {count} settings")
        try:
            context.save(file, small(cells))
        except InputError:
            continue  # too few settings yet for a picture
    return content | {"cells": cells, "cancelled": False}


def optimum(rows: Sequence[Row], name: str, score: Score) -> Values | None:
    """The values of the row where a score is best; None if none has it, or no value of it is better than others."""
    there = [row for row in rows if is_finite(row.get(name))]
    if not there or not score.better:
        return None
    sign = -1 if score.better == "more" else 1
    return dict(min(there, key=lambda row: sign * row[name])["values"])


def choosing(rows: Sequence[Row], scores: Mapping[str, Score]) -> str | None:
    """The score that settings are chosen by without a truth: the first that any row has."""
    return next((name for name, score in scores.items() if not score.truth and optimum(rows, name, score)), None)


def erring(rows: Sequence[Row], scores: Mapping[str, Score]) -> str | None:
    """The error against the truth: the first that any row has."""
    return next((name for name, score in scores.items() if score.truth and optimum(rows, name, score)), None)


def is_finite(value: Any) -> bool:
    """Whether a row's entry is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
