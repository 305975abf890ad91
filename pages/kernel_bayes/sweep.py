"""Which controls of page Kernel Bayes' rule can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sweeping import Settings
from pages.kit.study_sweep import OnPage


def of_dimension(dimension: int) -> OnPage:
    """In so many dimensions."""

    def choices(held: Mapping[str, Any]) -> Settings:
        return {"dimension": dimension, "prior_weights": held["k-norm"] or "one"}

    return OnPage(
        "kernel-bayes",
        {
            "k-delta": "delta", "k-eps": "epsilon", "k-beta": "scale", "k-n": "pairs", "k-l": "prior", "k-y0": "y1",
            "k-y1": "y2", "k-obs": "observation", "k-seed": "seed",
        },
        choices,
    )  # fmt: skip
