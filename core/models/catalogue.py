"""The named models: each a choice of mediation weights W, with its source."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from core.errors import InputError
from core.models.mediation import MediatorGrams, identity_weights, replicated_weights, shrinkage_weights


@dataclass(frozen=True)
class NamedModel:
    """A model of indirect data: ``z̃ = Wᵀ f̄ + e`` with its own W.

    ``mediated`` tells whether W comes from mediators (and λ matters); ``replicated`` whether labels
    are replicated over bags, which weighs bags by their size.
    """

    name: str
    title: str
    weights: Callable[[MediatorGrams, float | Tensor], Tensor]
    mediated: bool
    replicated: bool
    source: str


MODELS: dict[str, NamedModel] = {
    model.name: model
    for model in (
        NamedModel(
            "shrinkage_cmp",
            "Shrinkage conditional mean process",
            shrinkage_weights,
            mediated=True,
            replicated=False,
            source="Chau et al. 2021, eq. 10 and App. C",
        ),
        NamedModel(
            "cmp",
            "Conditional mean process",
            replicated_weights,
            mediated=True,
            replicated=True,
            source="Chau et al. 2021, eq. 6-9",
        ),
        NamedModel(
            "bag_gp",
            "Bag Gaussian process",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Law et al. 2018; exact form",
        ),
    )
}


def named(name: str) -> NamedModel:
    """The model of that name; ``InputError`` lists the names when there is none."""
    if name not in MODELS:
        raise InputError(f"The model '{name}' is unknown: choose one of {', '.join(MODELS)}.")
    return MODELS[name]
