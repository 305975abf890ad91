"""Numbers of stored results, found by what they are about."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

from deconditioning.bundled import bundled
from deconditioning.errors import InputError

FOLDER = bundled("benchmarks")
#: What tells one draw from another, beside its model.
_ABOUT = ("case", "matching", "seed", "dimension", "size", "way", "observed", "simulations", "system", "train")
_Row = Mapping[str, Any]
_OF_VALUES: dict[str, Callable[[Sequence[float]], float]] = {
    "mean": mean,
    "se": lambda values: stdev(values) / len(values) ** 0.5,
    "median": median,
    "sum": sum,
}


@dataclass(frozen=True)
class Query:
    """Where one number stands.

    Parameters
    ----------
    file : a file of ``data/benchmarks`` without its ending.
    take : ``mean``, its standard error ``se``, ``median`` or ``sum`` of ``value`` over the rows; ``count`` of the rows;
        ``wins``, the draws on which the first of two ``models`` has the smaller value; ``p`` of the signed-rank test
        between them.
    value : key of a row, with dots into what it holds.
    where, below, above : values that rows have, and numbers they lie below or above, by key; ``says``: part of a row's
        message; ``rows``: the file's key that holds the rows (its results without it).
    models : two names, for ``wins`` and ``p``.
    format : how the number is written.
    """

    file: str
    take: str = "mean"
    value: str = ""
    where: _Row = field(default_factory=dict)
    below: Mapping[str, float] = field(default_factory=dict)
    above: Mapping[str, float] = field(default_factory=dict)
    says: str = ""
    rows: str = ""
    models: tuple[str, ...] = ()
    format: str = ".0f"


@lru_cache(maxsize=64)
def _read(path: Path, changed: float) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _stored_rows(query: Query, folder: Path = FOLDER) -> list[_Row]:
    """The rows that a query is about; ``InputError`` if its file is missing or none fits."""
    path = folder / f"{query.file}.json"
    if not path.is_file():
        raise InputError(f"`{path.name}` is not among the stored results: run its command.")
    stored = _read(path, path.stat().st_mtime)
    every = stored[query.rows] if query.rows else stored["rows"] if "rows" in stored else stored["results"]
    result = [row for row in every if _fits(row, query)]
    if not result and query.take != "count":
        raise InputError(f"`{path.name}` contains no row with {dict(query.where)}.")
    return result


def stored_number(query: Query, folder: Path = FOLDER) -> float:
    """The number; ``InputError`` if nothing is stored that it could come from."""
    result = _stored_rows(query, folder)
    if query.take == "count":
        return len(result)
    if query.take in _OF_VALUES:
        return float(_OF_VALUES[query.take]([_inside(row, query.value) for row in result]))
    pairs = _pairs(result, query)
    if query.take == "wins":
        return sum(first < second for first, second in pairs)
    if query.take != "p":
        raise InputError(f"`take` is '{query.take}': choose mean, se, median, sum, count, wins or p.")
    from deconditioning.metrics.significance import pairwise_wilcoxon

    compared = [row for row in result if row["model"] in query.models]
    return float(pairwise_wilcoxon(compared, query.value.removeprefix("scores."))[0].p_value)


def _pairs(rows: Sequence[_Row], query: Query) -> list[tuple[float, float]]:
    by_draw: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        if row["model"] in query.models and row["scores"]:
            by_draw.setdefault(tuple(row.get(key) for key in _ABOUT), {})[row["model"]] = _inside(row, query.value)
    first, second = query.models
    return [(both[first], both[second]) for both in by_draw.values() if len(both) == 2]


def _fits(row: _Row, query: Query) -> bool:
    return (
        all(_inside(row, key) == value for key, value in query.where.items())
        and all(_inside(row, key) < limit for key, limit in query.below.items())
        and all(_inside(row, key) > limit for key, limit in query.above.items())
        and query.says in (row.get("message") or "")
    )


def _inside(row: _Row, key: str) -> Any:
    """The value at a key with dots; None if there is none."""
    result: Any = row
    for part in key.split("."):
        result = result.get(part) if isinstance(result, Mapping) else None
    return result
