"""Means and spreads of scores over seeds, in the shape of the command line's ``summary``."""

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any


def summarise(results: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """One row per model and score, ``{"model", "score", "mean", "sd", "n"}``, over the results with status "ok".

    ``sd`` is the sample standard deviation ``(Σ (s − s̄)²/(n − 1))^½``, None for n = 1. Scores that are missing, null
    or not finite do not count towards n; a model without any such score gets no row. Models and scores appear in the
    order of their first occurrence.
    """
    table: dict[str, dict[str, list[float]]] = {}
    for result in results:
        if result.get("status", "ok") != "ok":
            continue
        scores = table.setdefault(str(result["model"]), {})
        for name, value in (result.get("scores") or {}).items():
            if value is not None and math.isfinite(value):
                scores.setdefault(name, []).append(float(value))
    return [_row(model, name, values) for model, scores in table.items() for name, values in scores.items()]


def _row(model: str, name: str, values: list[float]) -> dict[str, Any]:
    spread = statistics.stdev(values) if len(values) > 1 else None
    return {"model": model, "score": name, "mean": statistics.fmean(values), "sd": spread, "n": len(values)}
