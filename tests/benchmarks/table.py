"""The one table of measurements: rows kept with the machine's facts, a file for each benchmark."""

import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import core
from core.cli.commands.benchmark import machine

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Row:
    """One measurement, ours beside a yardstick.

    ``what`` was done at which ``size``; ``ours`` and ``yardstick`` (None: none) in ``unit``, lower is better;
    ``against`` says what the yardstick is; ``accuracy`` how far the two results lie apart, or the scores of both;
    ``note`` what is extrapolated or was held fixed; ``peak_mb`` of the process that did ours;
    ``more`` plain numbers that a figure reads.
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


def keep(name: str, rows: Sequence[Row]) -> None:
    """Print the rows and store them as ``results/<name>.json`` with the machine's facts."""
    for row in rows:
        ratio = "" if row.yardstick is None else f" | {row.yardstick:.3g} | {row.yardstick / row.ours:.3g}×"
        peak = "" if row.peak_mb is None else f" | {row.peak_mb:.0f} MB"
        print(f"\n{row.what} | {row.size} | {row.ours:.3g} {row.unit}{ratio}{peak} | {row.accuracy}", end="")
    print()
    kept = {
        "schema": 1, "benchmark": name, "version": core.__version__, "measured": time.strftime("%Y-%m-%d"),
        "machine": machine(), "rows": [asdict(row) for row in rows],
    }  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
