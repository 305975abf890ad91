"""Measured risks gathered into curves over n and m, their paired tests, and slopes beside the theory's."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from deconditioning.kernels.families.registry import FAMILIES


def curves(rows: Sequence[dict[str, Any]], score: str = "posterior_risk") -> list[dict[str, Any]]:
    """Risks gathered by method, n and m: ``{model, subjects, measures, seeds, risks, mean, se}``.

    ``score``: "posterior_risk", or "squared_error" of the posterior mean alone.
    """
    result: dict[tuple[str, int, int], dict[int, float]] = {}
    for row in rows:
        key = (row["model"], row["subjects"], row["measures"])
        result.setdefault(key, {})[row["seed"]] = row["scores"][score]
    return [
        {
            "model": model, "subjects": n, "measures": m, "seeds": list(risks),
            "risks": [float(f"{v:.8g}") for v in risks.values()], "mean": float(np.mean(list(risks.values()))),
            "se": float(np.std(list(risks.values()), ddof=1) / len(risks) ** 0.5) if len(risks) > 1 else None,
        }
        for (model, n, m), risks in result.items()
    ]  # fmt: skip


def paired_tests(result: Sequence[dict[str, Any]], first: str = "gpdr", second: str = "kde") -> list[dict[str, Any]]:
    """Two methods' risks compared over the same seeds at every n and m.

    The t-test of the mean difference first − second (``mean_difference``, ``p_mean``), as the claim is on mean risks,
    and beside it Wilcoxon's signed-rank test (``difference``, the median, and ``p_value``); both two-sided.
    """
    from scipy.stats import ttest_rel

    from deconditioning.metrics.significance import pairwise_wilcoxon

    risks = {(c["model"], c["subjects"], c["measures"]): dict(zip(c["seeds"], c["risks"], strict=True)) for c in result}
    out = []
    for n, m in sorted({(c["subjects"], c["measures"]) for c in result}):
        one, two = risks.get((first, n, m)), risks.get((second, n, m))
        if one is None or two is None:
            continue
        seeds = [seed for seed in one if seed in two]
        results = [
            {"model": name, "seed": seed, "scores": {"risk": scores[seed]}}
            for name, scores in ((first, one), (second, two))
            for seed in seeds
        ]
        a, b = np.array([one[seed] for seed in seeds]), np.array([two[seed] for seed in seeds])
        p = float(ttest_rel(a, b).pvalue) if len(seeds) > 1 else float("nan")
        test = asdict(pairwise_wilcoxon(results, "risk")[0])
        out.append({"subjects": n, "measures": m, **test, "mean_difference": float((a - b).mean()), "p_mean": p})
    return out


def slope(sizes: Sequence[float], risks: Sequence[float]) -> float:
    """Least-squares slope of log risk on log size."""
    return float(np.polyfit(np.log(np.asarray(sizes, dtype=float)), np.log(np.asarray(risks)), 1)[0])


def slopes(result: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Slope in n at every m, and in m at every n, of each method's mean risk: ``{model, along, fixed, slope}``."""
    out = []
    for model in dict.fromkeys(c["model"] for c in result):
        cells = [c for c in result if c["model"] == model]
        for along, other in (("subjects", "measures"), ("measures", "subjects")):
            for fixed in sorted({c[other] for c in cells}):
                line = sorted((c[along], c["mean"]) for c in cells if c[other] == fixed)
                if len(line) > 1:
                    value = slope([n for n, _ in line], [risk for _, risk in line])
                    out.append({"model": model, "along": along, "fixed": fixed, "slope": value})
    return out


def theory_exponent(family: str, dimension: int = 1) -> float | None:
    """The bound's exponent of n at β = α, ``−2α/(2α + d)`` for a kernel of order α; −1 is its limit α → ∞.

    Source: Tang et al., theorems 2 and 3.
    """
    alpha = FAMILIES[family].order
    if alpha is None:
        return None
    return -1.0 if np.isinf(alpha) else -2 * alpha / (2 * alpha + dimension)
