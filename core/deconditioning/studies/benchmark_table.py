"""Rows of a benchmark summed up: one line a model of one group, with the paper's number beside where there is one."""

from collections.abc import Mapping, Sequence
from typing import Any

from deconditioning.wording import number


def table_rows(
    rows: Sequence[Mapping[str, Any]],
    group: str,
    value: str,
    score: str = "rmse",
    paper: Mapping[str, tuple[float, float]] | None = None,
) -> list[dict[str, Any]]:
    """One dict a model, of the rows whose ``group`` is ``value``: model, mean, sd, n, means, seconds, paper.

    ``mean`` and ``sd`` are of ``score`` over seeds; ``means`` those of every score; ``seconds`` the mean
    CPU time of a fit, None if unmeasured; ``paper`` the printed mean and sd where there are any.
    """
    from deconditioning.metrics.summary import summarise

    chosen = [row for row in rows if row[group] == value]
    result = {(entry["model"], entry["score"]): entry for entry in summarise(chosen)}
    out = []
    for model in dict.fromkeys(str(row["model"]) for row in chosen):
        main = result.get((model, score), {})
        spent = [row["seconds"]["cpu"] for row in chosen if row["model"] == model and row.get("seconds")]
        out.append(
            {
                "model": model, "mean": main.get("mean"), "sd": main.get("sd"), "n": main.get("n", 0),
                "means": {name: entry["mean"] for (of, name), entry in result.items() if of == model},
                "seconds": sum(spent) / len(spent) if spent else None, "paper": (paper or {}).get(model),
            }
        )  # fmt: skip
    return out


def mediated_compared_with_plain(
    rows: Sequence[Mapping[str, Any]], group: str, titles: Mapping[str, str], mediated: str, plain: str
) -> str:
    """How often a mediated model's RMSE is the larger, group by group, with its signed-rank test; "" without rows."""
    from deconditioning.metrics.significance import pairwise_wilcoxon

    sentences = []
    for value, title in titles.items():
        mine = [row for row in rows if row[group] == value and row["model"] in (mediated, plain)]
        result = {(row["model"], row["seed"]): row["scores"]["rmse"] for row in mine if row["scores"]}
        seeds = [seed for model, seed in result if model == mediated and (plain, seed) in result]
        if not seeds:
            continue
        (test,) = pairwise_wilcoxon(mine, "rmse")
        more = sum(result[mediated, seed] > result[plain, seed] for seed in seeds)
        chance = "too few for a test" if test.note else f"p = {number(test.p_value, 1)}"
        sentences.append(f"{title} {more} of {len(seeds)} ({chance})")
    return "; ".join(sentences)
