"""The keys that distinguish the messages of a GRIB field, which become dimensions besides rows and columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deconditioning.fields.reading.grib.messages import Message

#: Keys that become dimensions wherever they differ, in the order of dimensions; the times stand before ``level``.
_ALWAYS = ("number", "derived", "percentile", "probability", "level")
#: What may stand for the times, the best first: each is taken where it tells as many messages apart as all of them.
_TIMES = (
    ("time",), ("time", "period"), ("reference_time", "step"), ("time", "reference_time"),
    ("reference_time", "step", "period"), ("time", "reference_time", "period"),
)  # fmt: skip
_ATTRIBUTES: dict[str, dict[str, str]] = {
    "number": {"standard_name": "realization"},
    "time": {"standard_name": "time"},
    "reference_time": {"standard_name": "forecast_reference_time"},
    "step": {"standard_name": "forecast_period", "units": "hours"},
    "period": {"long_name": "period that values are taken over", "units": "hours"},
    "derived": {"long_name": "derived from all members"},
    "percentile": {"units": "%"},
    "probability": {"long_name": "event that the probability is of"},
    "level": {"axis": "Z"},
}
#: Coded keys that are taken before others where several tell the same messages apart.
_PREFERRED = (
    "quantileValue", "clusterIdentifier", "typeOfStatisticalProcessing", "typeOfEnsembleForecast", "constituentType",
    "aerosolType", "waveDirectionNumber", "waveFrequencyNumber", "directionNumber", "frequencyNumber",
    "experimentVersionNumber", "marsStream", "marsType", "marsClass", "hdate", "referenceDate", "systemNumber",
    "methodNumber", "centre", "subCentre", "generatingProcessIdentifier", "typeOfGeneratingProcess",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Line:
    """One coordinate of a field.

    Parameters
    ----------
    name : of the coordinate, and of its dimension where ``along`` is None.
    labels : its values.
    index : (messages,) the place of every message along it; empty for an auxiliary coordinate.
    along : the dimensions of an auxiliary coordinate.
    """

    name: str
    labels: np.ndarray
    index: np.ndarray
    attributes: dict[str, str] = field(default_factory=dict)
    along: tuple[str, ...] | None = None


def lines_of(
    name: str, messages: list[Message], coded: Callable[[set[int]], dict[int, dict[str, str]]]
) -> tuple[list[Line], list[str]]:
    """Coordinates that give every message of a field a place of its own, and sentences.

    Where the usual keys do not suffice, ``coded`` is asked for all that the messages code; those that agree in these,
    too, are numbered as they come along ``copy``.
    """
    always = [key for key in _ALWAYS if len({m.keys[key] for m in messages}) > 1]
    every = _distinct(messages, [*always, *_all_times()])
    times = min(
        (t for t in _TIMES if _distinct(messages, [*always, *t]) == every),
        key=lambda t: np.prod([float(len({m.keys[key] for m in messages})) for key in t]),
    )
    heads = [key for key in always if key != "level"]
    order = [*heads, *times, *(["level"] if "level" in always else [])]
    lines = [_line(key, [m.keys[key] for m in messages], messages[0]) for key in order]
    if "time" not in times:
        lines.append(_valid_times(messages, lines, times[:2]))
    if every == len(messages):
        return lines, []
    more, notes = _further(name, messages, [tuple(m.keys[key] for key in order) for m in messages], coded)
    return [*more, *lines], notes


def _all_times() -> list[str]:
    return list(dict.fromkeys(key for times in _TIMES for key in times))


def _distinct(messages: list[Message], keys: Sequence[str]) -> int:
    return len({tuple(m.keys[key] for key in keys) for m in messages})


def _line(key: str, values: list[Any], message: Message) -> Line:
    """The sorted values of a key with their labels."""
    result = sorted(set(values), key=lambda value: (isinstance(value, str), value))
    index = {value: n for n, value in enumerate(result)}
    attributes = dict(_ATTRIBUTES.get(key, {}))
    labels: list[Any] = result
    if key == "level":
        labels, attributes = _levels(result, message.level_units)
    elif any(isinstance(value, str) for value in result):
        labels = [str(value) if value != "" else "none" for value in result]
    return Line(key, np.array(labels), np.array([index[value] for value in values]), attributes)


def _levels(result: list[tuple[float, float]], units: str) -> tuple[list[Any], dict[str, str]]:
    """Numbers for levels, words for layers: ``0.1-0.4 m``."""
    if all(top == bottom for top, bottom in result):
        return [top for top, _ in result], _ATTRIBUTES["level"] | ({"units": units} if units else {})
    words = [f"{top:g}" if top == bottom else f"{top:g}-{bottom:g}" if np.isfinite(bottom) else f"below {top:g}"
             for top, bottom in result]  # fmt: skip
    return [f"{word} {units}".strip() for word in words], _ATTRIBUTES["level"]


def _valid_times(messages: list[Message], lines: list[Line], along: tuple[str, ...]) -> Line:
    """The time of validity by reference time and step."""
    first, second = (next(line for line in lines if line.name == key) for key in along)
    labels = np.full((len(first.labels), len(second.labels)), np.datetime64("NaT", "s"))
    labels[first.index, second.index] = [m.keys["time"] for m in messages]
    return Line("time", labels, np.array([], dtype=int), _ATTRIBUTES["time"], along)


def _further(
    name: str,
    messages: list[Message],
    known: list[tuple[Any, ...]],
    coded: Callable[[set[int]], dict[int, dict[str, str]]],
) -> tuple[list[Line], list[str]]:
    """Coordinates of further coded keys, as few as tell apart what ``known`` does not."""
    coded_values = coded({m.place for m in messages})
    keys = [coded_values[m.place] for m in messages]
    varying = [
        key for key in dict.fromkeys(key for one in keys for key in one) if len({one.get(key) for one in keys}) > 1
    ]
    varying.sort(key=lambda key: _PREFERRED.index(key) if key in _PREFERRED else len(_PREFERRED))
    lines: list[Line] = []
    while (distinct := len(set(known))) < len(messages):
        gains = [len({(*k, one.get(key)) for k, one in zip(known, keys, strict=True)}) for key in varying]
        if not gains or max(gains) == distinct:
            break
        enough = [key for key, gain in zip(varying, gains, strict=True) if gain == max(gains)]
        values = [_number(one.get(enough[0], "")) for one in keys]
        lines.append(_line(enough[0], values, messages[0]))
        known = [(*k, value) for k, value in zip(known, values, strict=True)]
    if distinct == len(messages):
        return lines, []
    counts: dict[tuple[Any, ...], int] = {}
    copies = []
    for one in known:
        counts[one] = counts.get(one, 0) + 1
        copies.append(counts[one])
    note = (
        f"Messages of `{name}` that differ only in their order ({len(messages) - distinct} repeat the keys of "
        "another) are numbered in file order along `copy`."
    )
    return [_line("copy", copies, messages[0]), *lines], [note]


def _number(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text
