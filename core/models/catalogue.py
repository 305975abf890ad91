"""The named models: each a choice of mediation weights W, with its source."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from core.errors import InputError
from core.models.mediation import MediatorGrams, identity_weights, replicated_weights, shrinkage_weights


@dataclass(frozen=True)
class NamedModel:
    """A model of indirect data: ``z̃ = Wᵀ f̄ + e`` with its own W.

    ``formula`` writes W in TeX, ``ridge`` what its λ is multiplied by, "N" points or "B" bags. ``mediated`` tells
    whether W comes from mediators (and λ matters); ``replicated`` whether labels are replicated over bags, which weighs
    bags by their size; ``sparse`` whether the posterior goes through inducing points; ``centroids`` whether each bag is
    replaced by its mean point; ``correlated`` whether what W leaves unknown of g is part of Σ.
    """

    name: str
    title: str
    weights: Callable[[MediatorGrams, float | Tensor], Tensor]
    mediated: bool
    replicated: bool
    source: str
    formula: str = "W = I"
    ridge: str = ""
    sparse: bool = False
    centroids: bool = False
    correlated: bool = False

    @property
    def phrase(self) -> str:
        """The title as it stands inside a sentence; Gauss keeps his capital letter."""
        return self.title if self.title.startswith("Gaussian") else self.title[0].lower() + self.title[1:]


_SHRINKAGE = r"W = (L + B\lambda I)^{-1}\tilde L"
_REPLICATED = r"W = (L + N\lambda D^{-1})^{-1}\tilde L"

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
            formula=_SHRINKAGE,
            ridge="B",
        ),
        NamedModel(
            "cmp",
            "Conditional mean process",
            replicated_weights,
            mediated=True,
            replicated=True,
            source="Chau et al. 2021, eq. 6-9",
            formula=_REPLICATED,
            ridge="N",
        ),
        NamedModel(
            "bag_gp",
            "Bag Gaussian process",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Law et al. 2018; exact form",
        ),
        NamedModel(
            "task_transformed_gp",
            "Task-transformed Gaussian process",
            shrinkage_weights,
            mediated=True,
            replicated=False,
            source="Hsu and Ramos 2019, theorem 5.3 (2)",
            formula=_SHRINKAGE,
            ridge="B",
            correlated=True,
        ),
        NamedModel(
            "variational_cmp",
            "Variational conditional mean process",
            replicated_weights,
            mediated=True,
            replicated=True,
            source="Chau et al. 2021, App. B and E.2.2",
            formula=_REPLICATED,
            ridge="N",
            sparse=True,
        ),
        NamedModel(
            "vbagg",
            "Variational bag Gaussian process (VBAgg)",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Law et al. 2018, Gaussian likelihood",
            sparse=True,
        ),
        NamedModel(
            "centroid_gp",
            "Gaussian process on centroids",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Chau et al. 2021, §5 (gpr)",
            centroids=True,
        ),
        NamedModel(
            "variational_gp",
            "Variational Gaussian process on centroids",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Titsias 2009; Chau et al. 2021, §5.2 (vargpr)",
            sparse=True,
            centroids=True,
        ),
    )
}


def named(name: str) -> NamedModel:
    """The model of that name; ``InputError`` lists the names when there is none."""
    if name not in MODELS:
        raise InputError(f"The model '{name}' is unknown: choose one of {', '.join(MODELS)}.")
    return MODELS[name]
