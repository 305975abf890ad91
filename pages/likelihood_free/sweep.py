"""Which controls of page Likelihood-free inference can be swept."""

from collections.abc import Collection, Mapping
from typing import Any

from deconditioning.studies.likelihood_free.sweep import HYPERPARAMETERS
from deconditioning.studies.sweeping import Settings
from pages.kit.tools.study_sweep import OnPage
from pages.likelihood_free.controls import BY_HAND, BY_Q

_SLIDERS = dict(zip(("lf-eps", "lf-len", "lf-k", "lf-lam", "lf-del"), HYPERPARAMETERS, strict=True))


def _back(given: Settings) -> Collection[str]:
    """Hyperparameters that follow q̄ are left to it."""
    return [name for name in given if not (given["by_q"] and name in HYPERPARAMETERS)]


def _mode(given: Settings) -> Mapping[str, Any]:
    return {"lf-mode": BY_Q if given["by_q"] else BY_HAND}


def of_problem(name: str) -> OnPage:
    """Of a simulator; a table of one's own has none."""

    def choices(held: Mapping[str, Any]) -> Settings:
        low, high = held.get("lf-box") or (-5.0, 2.0)
        return {
            "problem": name, "method": held["lf-shown"] or "dme", "by_q": (held["lf-mode"] or BY_Q) == BY_Q,
            "low": float(low), "high": float(high),
        }  # fmt: skip

    return OnPage(
        "likelihood-free",
        _SLIDERS
        | {
            f"lf-n-{name}": "simulations", "lf-y": "observed", "lf-shape": "shape", "lf-rate": "rate",
            "lf-d": "dimension", "lf-noise": "noise", "lf-sd": "sd", "lf-seed": "seed",
        },
        choices,
        back=_back,
        more=_mode,
    )  # fmt: skip
