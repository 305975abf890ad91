"""How page Likelihood-free inference shows what a sweep has no single control for: the prior's ends, q̄ or by hand."""

from collections.abc import Collection, Mapping
from typing import Any

from deconditioning.studies.likelihood_free.settings import BY_HAND, BY_Q, ModeSettings
from deconditioning.studies.likelihood_free.sweep import HYPERPARAMETERS
from pages.kit.tools.study_sweep import OnPage
from pages.likelihood_free.controls import BOX


def _on_controls(settings: dict[str, Any]) -> Collection[str]:
    """Hyperparameters that follow q̄ are left to it."""
    return [name for name in settings if not (settings["by_q"] and name in HYPERPARAMETERS)]


def _mode(settings: dict[str, Any]) -> Mapping[str, Any]:
    return ModeSettings.on_controls(mode=BY_Q if settings["by_q"] else BY_HAND)


def _others(held: Mapping[str, Any]) -> dict[str, Any]:
    ends = zip(("low", "high"), held.get(BOX, ()), strict=False)
    return {"by_q": held[ModeSettings.mode.key] != BY_HAND} | {name: float(end) for name, end in ends}


SWEEP = OnPage("likelihood-free", others=_others, back=_on_controls, more=_mode)
