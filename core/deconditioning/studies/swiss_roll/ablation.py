"""What on the swiss roll depends on how λ is held and by which optimiser kernels are learned: ways × models × seeds."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.errors import InputError
from deconditioning.kernels.spec import gaussian
from deconditioning.studies.swiss_roll.benchmark import one_fit
from deconditioning.studies.swiss_roll.study import COLUMNS, RollSettings

MODELS = ("cmp", "shrinkage_cmp", "bag_gp")
_ADAM: dict[str, Any] = {"method": "adam", "steps": 300, "restarts": 1, "prior_sd": 0.0}
_HELD: dict[str, Any] = {"regularisation": 1e-2, "learn_regularisation": False}
#: Where the paper's public code starts: lengthscales one, variances log 2.
_PUBLIC_KERNEL = gaussian(COLUMNS.inputs, (1.0,) * 3, math.log(2))
_PUBLIC = {**_ADAM, **_HELD, "steps": 100, "noise": math.log(2), "kernel": _PUBLIC_KERNEL.to_dict()}
#: Way → what it changes of the default settings. The paper holds λ at 0.01 and uses Adam; its public code takes 100
#: steps at rate 0.1.
WAYS: dict[str, dict[str, Any]] = {
    "adam, λ held at 0.01": {**_ADAM, **_HELD},
    "the public code's start and steps": _PUBLIC,
    "adam, λ learned": _ADAM,
    "λ held at 0.01": _HELD,
    "λ held at 1e-6": {"regularisation": 1e-6, "learn_regularisation": False},
}


def ablation(models: Sequence[str] = MODELS, seeds: Sequence[int] = tuple(range(5))) -> Iterator[dict[str, Any]]:
    """Rows of ``one_fit`` with direct matching, each with its ``way``; ``InputError`` for an unknown model."""
    for model in models:
        if not RollSettings(model).kind.uses("regularisation") and model != "bag_gp":
            raise InputError(f"The ablation varies λ, and '{model}' has none: choose one of {', '.join(MODELS)}.")
    for way, changes in WAYS.items():
        for seed in seeds:
            for model in models:
                roll = RollSpec(matching="direct", seed=seed).to_dict()
                settings = asdict(RollSettings.from_dict({**changes, "model": model, "seed": seed}))
                yield {**one_fit({"roll": roll, "settings": settings}), "way": way}
