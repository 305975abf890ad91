"""Which controls of page Swiss roll can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sweeping import Settings
from pages.kit.tools.study_sweep import OnPage


def _choices(held: Mapping[str, Any]) -> Settings:
    return {"matching": held["r-match"] or "direct", "model": held["r-model"]}


SWEEP = OnPage(
    "swiss-roll",
    {
        "r-n": "noise", "r-lam": "regularisation", "r-ell": "l_scale", "r-ls": "l_size", "r-k0": "k_x",
        "r-k1": "k_width", "r-k2": "k_height", "r-s": "k_size", "r-bags": "slices", "r-points": "points",
        "r-noise": "slice_noise", "r-induce": "inducing", "r-seed": "seed",
    },
    _choices,
)  # fmt: skip
