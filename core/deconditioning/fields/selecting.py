"""Selection along a dimension by text, ``time=2024-04``, ``expver=5`` or ``level=#2``: a value, part of a date, an
index.
"""

import re
from collections.abc import Sequence

from deconditioning.errors import InputError

#: An index as it is written: ``#0`` is the first.
_INDEX = re.compile(r"#\s*(-?\d+)")
#: How a label ends that only its index tells from another.
REPEATED = re.compile(r" \(#\d+\)$")
_SHORT = re.compile(r"\d{1,3}")
_DATE = re.compile(r"-?\d{4,}-\d\d-\d\d( |$)")
_COMPACT = re.compile(r"(\d{4})(\d\d)(\d\d)?")
_LOOSE = re.compile(r"(\d{4,})[-/.](\d{1,2})(?:[-/.](\d{1,2}))?(?!\d)")
_MOST_LISTED = 12


def index_of(dim: str, labels: Sequence[str], requested: int | str) -> int:
    """The index along a dimension with these ``labels``; a whole number is itself an index from 0.

    Text is, in this order: ``#5``, the index 5; a value of the coordinate, with or without its unit; the beginning of
    exactly one label (``1995-07``, ``r2``). Up to three digits do not begin a date, so along dates they are an index.
    Raises ``InputError`` with the available values if none or several match.
    """
    if not isinstance(requested, str):
        return int(requested)
    if index := _INDEX.fullmatch(requested.strip()):
        return int(index[1])
    result = _fitting(labels, requested.strip())
    if len(result) == 1:
        return result[0]
    if result:
        first, last = result[0], result[-1]
        between = "or" if len(result) == 2 else "to"
        raise InputError(
            f"`{dim}={requested}` fits {len(result)} values of dimension `{dim}`, {labels[first]} to {labels[last]}: "
            f"write out more of the value you mean, or use its index, `{dim}=#{first}` {between} `{dim}=#{last}`."
        )
    raise InputError(
        f"Dimension `{dim}` has no value `{requested}`; it has {what_there_is(labels)}: give one of its values, or "
        f"an index with `#`, `{dim}=#0` to `{dim}=#{max(0, len(labels) - 1)}`."
    )


def distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """The labels; repeated ones with their index: ``1965-12-27 00:00 (#11)``."""
    again = _repeats(labels)
    if not again:
        return tuple(labels)
    return tuple(f"{label} (#{n})" if label in again else label for n, label in enumerate(labels))


def _repeats(labels: Sequence[str]) -> dict[str, list[int]]:
    """Labels that occur more than once, with their indices."""
    if len(set(labels)) == len(labels):
        return {}
    places: dict[str, list[int]] = {}
    for n, label in enumerate(labels):
        places.setdefault(label, []).append(n)
    return {label: indices for label, indices in places.items() if len(indices) > 1}


def what_there_is(labels: Sequence[str]) -> str:
    """The labels of a dimension in words: all if they are few, otherwise the first and the last."""
    if len(labels) > _MOST_LISTED:
        return f"{len(labels)} values from {labels[0]} to {labels[-1]}"
    return ", ".join(labels) if labels else "no values"


def is_dated(labels: Sequence[str]) -> bool:
    """Whether the labels of a dimension are dates."""
    return any(map(_DATE.match, labels))


def _fitting(labels: Sequence[str], requested: str) -> list[int]:
    """Indices of the labels that a text means: those that equal it, else those that begin with it."""
    exact = [n for n, label in enumerate(labels) if label == requested]
    if exact or not requested:
        return exact[:1]
    if is_dated(labels):
        if _SHORT.fullmatch(requested):
            return [int(requested)] if int(requested) < len(labels) else []
        date = _as_label(requested)
        same = [n for n, label in enumerate(labels) if label == date]
        return same or [n for n, label in enumerate(labels) if _begins(label, date)]
    if (number := _number(requested)) is not None:
        values = ((n, _number(label.partition(" ")[0])) for n, label in enumerate(labels))
        return [n for n, value in values if value is not None and abs(value - number) <= 1e-6 * abs(number)]
    return [n for n, label in enumerate(labels) if _begins(label, requested)]


def _begins(label: str, start: str) -> bool:
    """Whether a label begins with a text that does not end inside one of its numbers."""
    rest = label[len(start) :]
    return label.startswith(start) and not (start[-1:].isdigit() and rest[:1].isdigit())


def _as_label(requested: str) -> str:
    """A date, or its beginning, as labels write it: ``2024-04-01 06:00``."""
    text = " ".join(re.sub(r"(?<=\d)[T_](?=\d)", " ", requested).removesuffix("Z").split())
    day, _, clock = text.partition(" ")
    if compact := _COMPACT.fullmatch(day):
        day = "-".join(filter(None, compact.groups()))
    elif loose := _LOOSE.fullmatch(day):
        day = "-".join([loose[1], *(part.zfill(2) for part in loose.groups()[1:] if part)])
    clock = re.sub(r"^(\d\d:\d\d):00(\.0*)?$", r"\1", clock)
    return f"{day} {clock}".strip()


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
