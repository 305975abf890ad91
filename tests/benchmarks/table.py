"""The one table of measurements: rows kept with the machine's facts, a file for each benchmark."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import deconditioning
from deconditioning.cli.commands.benchmark import machine
from deconditioning.studies.measurements import Measurement as Row

RESULTS = Path(__file__).parent / "results"
#: What this process measured: (benchmark, rows), for the table at the end.
KEPT: list[tuple[str, Sequence[Row]]] = []
#: Measured by another target than `make bench`.
TARGETS = {"latency": "bench-latency", "play": "bench-latency", "start_up": "bench-latency", "load": "bench-load",
           "lesson": "bench-load", "soak": "soak"}  # fmt: skip
TARGETS |= dict.fromkeys(
    ("period", "period_statistics", "period_statistics_climatology", "period_gaps", "period_gaps_archive",
     "period_gaps_climatology", "period_climatology", "period_pooled", "period_plan", "period_plan_archive"),
    "bench-period",
)  # fmt: skip
HEAD = ("what", "size", "ours", "yardstick", "ratio", "peak memory", "device", "accuracy", "note")


def keep(name: str, rows: Sequence[Row]) -> None:
    """Store the rows as ``results/<name>.json`` with the machine's facts and the command that makes them."""
    KEPT[:] = [(other, of) for other, of in KEPT if other != name] + [(name, rows)]
    kept = {
        "schema": 1, "benchmark": name, "command": command(name), "version": deconditioning.__version__,
        "measured": time.strftime("%Y-%m-%d"), "machine": facts(), "rows": [asdict(row) for row in rows],
    }  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.json").write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def command(name: str) -> str:
    """How to measure again."""
    return f"make {TARGETS[name]}" if name in TARGETS else f'make bench ARGS="-k bench_{name}"'


def facts() -> dict[str, object]:
    """What of the machine matters for times and memory: processor, cores, memory, library, GPU; no names."""
    import psutil
    import torch

    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        **machine(), "memory_gb": round(psutil.virtual_memory().total / 1e9, 1), "torch": torch.__version__,
        "threads": torch.get_num_threads(), "load": round(os.getloadavg()[0], 1), **({"gpu": gpu} if gpu else {}),
    }  # fmt: skip


def table(kept: Sequence[tuple[str, Sequence[Row]]]) -> list[str]:
    """The lines of one table over all benchmarks, its columns aligned."""
    cells = [HEAD, *(_cells(row) for _, rows in kept for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(HEAD))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in cells]


def _cells(row: Row) -> tuple[str, ...]:
    beside = row.yardstick is not None
    return (
        row.what, row.size, f"{row.ours:.3g} {row.unit}",
        f"{row.yardstick:.3g} {row.unit} ({row.against})" if beside else "–",
        "–" if row.ratio is None else f"{row.ratio:.3g}×",
        "–" if row.peak_mb is None else f"{row.peak_mb:.0f} MB", row.device, row.accuracy or "–", row.note or "–",
    )  # fmt: skip
