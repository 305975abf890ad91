"""Measured times and memory as `make bench` keeps them: read for the page, refused with a sentence where damaged."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from deconditioning.errors import InputError

_TEXT = ("what", "size", "unit", "against", "accuracy", "device", "note")
_FACTS = {
    "processor": "{}", "cores": "{} cores", "memory_gb": "{} GB memory", "gpu": "{}", "python": "Python {}",
    "torch": "torch {}", "threads": "{} torch threads", "load": "load {} when it ended",
}  # fmt: skip


@dataclass(frozen=True)
class Measurement:
    """One measurement, ours beside a yardstick.

    ``what`` was done at which ``size``; ``ours`` and ``yardstick`` (None: none) in ``unit``, lower is better;
    ``against`` says what the yardstick is; ``accuracy`` how far the two results lie apart, or the scores of both;
    ``note`` what is extrapolated or was held fixed; ``peak_mb`` of the process that did ours; ``more`` what a
    figure draws, such as sizes.
    """

    what: str
    size: str
    ours: float
    unit: str = "CPU s"
    yardstick: float | None = None
    against: str = ""
    accuracy: str = ""
    peak_mb: float | None = None
    device: str = "cpu"
    note: str = ""
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        """How many times ours is faster (or smaller) than the yardstick; None without one."""
        return self.yardstick / self.ours if self.yardstick is not None and self.ours > 0 else None


@dataclass(frozen=True)
class Measured:
    """The rows of one benchmark, the command, version and day that made them, and the machine in words."""

    name: str
    command: str
    version: str
    date: str
    machine: str
    rows: tuple[Measurement, ...]


def measured(path: Path) -> Measured:
    """One stored benchmark; ``InputError`` that names the file and what is wrong with it."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        facts = dict(stored["machine"])
        machine = ", ".join(text.format(facts[name]) for name, text in _FACTS.items() if facts.get(name) is not None)
        rows = tuple(_row(row) for row in stored["rows"])
        details = (str(stored["command"]), str(stored["version"]), str(stored["measured"]))
        return Measured(str(stored["benchmark"]), *details, machine, rows)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise InputError(f"'{path.name}' contains no measurements ({problem}): run `make bench` again.") from None


def _row(row: dict[str, Any]) -> Measurement:
    texts = {name: str(row.get(name, "")) for name in _TEXT}
    numbers = {name: None if row.get(name) is None else float(row[name]) for name in ("yardstick", "peak_mb")}
    return Measurement(**texts | numbers, ours=float(row["ours"]), more=dict(row.get("more", {})))  # type: ignore[arg-type]


def all_measured(folder: Path) -> tuple[list[Measured], list[str]]:
    """Every benchmark kept in a folder by name, and one sentence for each file that cannot be read."""
    result, refused = [], []
    for path in sorted(folder.glob("*.json")):
        try:
            result.append(measured(path))
        except InputError as error:
            refused.append(str(error))
    return result, refused
