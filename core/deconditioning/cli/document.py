"""The one JSON shape that every command prints (ARCHITECTURE, "The command line")."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import deconditioning
from deconditioning.engine.records import jsonable
from deconditioning.errors import InputError


@dataclass(frozen=True)
class Result:
    """One model's scores at one seed. ``seconds`` and ``peak_mb`` are None if they were not measured."""

    model: str
    seed: int
    scores: Mapping[str, float | None] = field(default_factory=dict)
    units: str = "1"
    status: str = "ok"
    message: str | None = None
    seconds: Mapping[str, float | None] | None = None
    peak_mb: float | None = None
    more: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``results``."""
        return {
            "model": self.model,
            "seed": self.seed,
            "status": self.status,
            "message": self.message,
            "scores": self.scores,
            "units": units_of(self.scores, self.units),
            "seconds": self.seconds or {"cpu": None, "wall": None},
            "peak_mb": self.peak_mb,
            **self.more,
        }


def units_of(scores: Iterable[str], units: str) -> dict[str, str]:
    """The units of each score of a quantity in ``units``."""
    from deconditioning.metrics.field_scores import score_units

    fixed = {
        "ms_per_step": "ms",
        "angle": "degrees",
        "ralsd": "dB",
        "posterior_risk": score_units(["mse"], units)["mse"],
    }
    return {name: fixed.get(name.removesuffix("_area"), of) for name, of in score_units(scores, units).items()}


def document(
    command: str, settings: dict[str, Any], results: list[Result], *, device: str = "cpu", by: tuple[str, ...] = (),
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    """The whole document; numbers that are not finite become null.

    ``by``: keys of the results, such as a dimension, whose values are summarised separately. ``more`` adds further
    keys.
    """
    entries = [jsonable(result.to_dict()) for result in results]
    head = {"schema": 1, "command": command, "version": deconditioning.__version__, "device": device}
    good = [entry for entry in entries if entry["status"] == "ok"]
    return jsonable({**head, "settings": settings, "results": entries, "summary": _summary(good, by), **more})


def _summary(entries: list[dict[str, Any]], by: tuple[str, ...]) -> list[dict[str, Any]]:
    if not any(entry["scores"] for entry in entries):
        return []
    from deconditioning.metrics.summary import summarise

    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for entry in entries:
        groups.setdefault(tuple(entry.get(name) for name in by), []).append(entry)
    return [{**row, **dict(zip(by, values, strict=True))} for values, rows in groups.items() for row in summarise(rows)]


def add_json_option(parser: argparse._ActionsContainer, default: str | None = "-") -> None:
    """The option ``--json PATH`` (``-`` is standard output)."""
    sentence = "default" if default == "-" else "a table is printed without it"
    parser.add_argument(
        "--json", metavar="PATH", default=default, help=f"file for the JSON; - is standard output ({sentence})"
    )


def check_writable(path: str | None) -> None:
    """Raise ``InputError`` if no file can be written at ``path``; called before long computations."""
    if path in (None, "-"):
        return
    file = Path(str(path))
    if file.is_dir():
        raise InputError(f"{file} is a folder: give the name of a file to write.")
    if not file.absolute().parent.is_dir():
        raise InputError(f"The folder of {file} does not exist: create it first or choose another.")


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file; ``InputError`` if that fails."""
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise InputError(f"{path} cannot be written ({error.strerror}): choose another location.") from None


def write(content: dict[str, Any], path: str) -> None:
    """Write the document to a file, or to standard output for ``-``."""
    text = json.dumps(content, allow_nan=False, indent=2, ensure_ascii=False) + "\n"
    if path == "-":
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_bytes(path, text.encode())


def table(heads: list[str], rows: list[list[Any]]) -> str:
    """Text columns for display."""
    cells = [heads, *[["" if cell is None else str(cell) for cell in row] for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join(lines)
