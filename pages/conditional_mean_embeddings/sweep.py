"""Which controls of page Conditional mean embeddings can be swept."""

from collections.abc import Mapping
from typing import Any

from deconditioning.studies.sweeping import Settings
from pages.kit.tools.study_sweep import OnPage


def at_layout(sizes: Mapping[str, tuple[int, int]], opening: str) -> OnPage:
    """Bags and points come from the named layouts, or are one's own and can be swept then."""

    def choices(held: Mapping[str, Any]) -> Settings:
        named = sizes.get(held["e-layout"] or opening)
        own = {} if named is None else {"bags": named[0], "per_bag": named[1]}
        return {"unequal": held["e-unequal"], "alike": held["e-alike"], **own}

    return OnPage(
        "conditional-means",
        {
            "e-lam": "regularisation", "e-l": "mediator_scale", "e-k": "input_scale", "e-bags": "bags",
            "e-per": "per_bag", "e-seed": "seed",
        },
        choices,
    )  # fmt: skip
