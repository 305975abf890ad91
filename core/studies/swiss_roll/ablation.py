"""What on the swiss roll depends on how λ is held and by which optimiser kernels are learned: ways × models × seeds."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from core.datasets.swiss_roll import RollSpec
from core.errors import InputError
from core.models.catalogue import named
from core.studies.swiss_roll.benchmark import one_fit
from core.studies.swiss_roll.study import RollSettings

MODELS = ("cmp", "shrinkage_cmp", "bag_gp")
_ADAM: dict[str, Any] = {"method": "adam", "steps": 300, "restarts": 1, "prior_sd": 0.0}
#: Way → what it changes of the default settings. The paper holds λ at 0.01 and uses Adam.
WAYS: dict[str, dict[str, Any]] = {
    "adam, λ held at 0.01": {**_ADAM, "regularisation": 1e-2, "learn_regularisation": False},
    "adam, λ learned": _ADAM,
    "λ held at 0.01": {"regularisation": 1e-2, "learn_regularisation": False},
    "λ held at 1e-6": {"regularisation": 1e-6, "learn_regularisation": False},
}


def ablation(models: Sequence[str] = MODELS, seeds: Sequence[int] = tuple(range(5))) -> Iterator[dict[str, Any]]:
    """Rows of ``one_fit`` with direct matching, each with its ``way``; ``InputError`` for an unknown model."""
    for model in models:
        if not named(model).mediated and model != "bag_gp":
            raise InputError(f"The ablation is of λ: '{model}' has none, choose among {', '.join(MODELS)}.")
    for way, changes in WAYS.items():
        for seed in seeds:
            for model in models:
                roll = RollSpec(matching="direct", seed=seed).to_dict()
                settings = asdict(RollSettings.from_dict({**changes, "model": model, "seed": seed}))
                yield {**one_fit({"roll": roll, "settings": settings}), "way": way}
