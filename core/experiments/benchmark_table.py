"""Rows of a benchmark summed up: one line a model of one group, with the paper's number beside where there is one."""

from collections.abc import Mapping, Sequence
from typing import Any


def table_rows(
    rows: Sequence[Mapping[str, Any]],
    group: str,
    value: str,
    score: str = "rmse",
    paper: Mapping[str, tuple[float, float]] | None = None,
) -> list[dict[str, Any]]:
    """One dict a model, of the rows whose ``group`` is ``value``: model, mean, sd, n, means, seconds, paper.

    ``mean`` and ``sd`` are of ``score`` over seeds; ``means`` those of every score; ``seconds`` the mean
    CPU time of a fit, None where unmeasured; ``paper`` the printed mean and sd where there are any.
    """
    from core.metrics import summarise

    chosen = [row for row in rows if row[group] == value]
    found = {(entry["model"], entry["score"]): entry for entry in summarise(chosen)}
    out = []
    for model in dict.fromkeys(str(row["model"]) for row in chosen):
        main = found.get((model, score), {})
        spent = [row["seconds"]["cpu"] for row in chosen if row["model"] == model and row.get("seconds")]
        out.append(
            {
                "model": model, "mean": main.get("mean"), "sd": main.get("sd"), "n": main.get("n", 0),
                "means": {name: entry["mean"] for (of, name), entry in found.items() if of == model},
                "seconds": sum(spent) / len(spent) if spent else None, "paper": (paper or {}).get(model),
            }
        )  # fmt: skip
    return out


def kept(spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], *, cancelled: bool) -> dict[str, Any]:
    """What a benchmark leaves: its settings, its rows, the version that made them."""
    import core

    return {"cancelled": cancelled, "version": core.__version__, "settings": dict(spec), "rows": list(rows)}
