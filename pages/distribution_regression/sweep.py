"""Which controls of page Distribution regression can be swept: those of the simulation."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sweeping import Settings
from pages.kit.tools.study_sweep import OnPage


def _choices(held: Mapping[str, Any]) -> Settings:
    return {
        "unequal": held["d-unequal"], "family": held["d-family"], "noise_by": held["d-noise-by"] or "given",
        "intercept": held["d-s-intercept"], "rank": int(held.get("d-rank") or 0),
    }  # fmt: skip


SWEEP = OnPage(
    "distribution-regression",
    {
        "d-s-noise": "noise", "d-s-scale": "scale", "d-s-size": "size", "d-n": "n", "d-alpha": "spread", "d-m": "m",
        "d-seed": "seed",
    },
    _choices,
    stops=("d-m",),
)  # fmt: skip
