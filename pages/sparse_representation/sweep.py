"""Which controls of page Sparse representation can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sparse_representation.study import PLACES
from deconditioning.studies.sweeping import Settings
from pages.kit.study_sweep import OnPage


def _places(held: Mapping[str, Any]) -> Settings:
    return {"places": held["s-places"] or PLACES[0]}


SWEEP = OnPage(
    "sparse-representation",
    {
        "s-n": "noise", "s-scale": "k_scale", "s-size": "k_size", "s-points": "points", "s-made": "made_of",
        "s-noise": "data_noise", "s-data": "data", "s-seed": "seed",
    },
    _places,
    stops=("s-data",),
)  # fmt: skip
