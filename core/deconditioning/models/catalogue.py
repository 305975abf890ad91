"""The named models: each a choice of mediation weights W, with its source."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.models.centroids import centroids
from deconditioning.models.mediation import (
    MediatorGrams,
    Misfit,
    identity_weights,
    mediation_covariance,
    partial_weights,
    replicated_weights,
    shrinkage_weights,
)
from deconditioning.observations import Bags, IndirectData


@dataclass(frozen=True)
class NamedModel:
    """A model of indirect data, ``z̃ = Wᵀ f̄ + e`` with its own W: what it needs, how it weighs, how it learns.

    ``formula`` writes W in TeX, ``ridge`` what its λ is multiplied by, "N" points or "B" bags. ``mediated`` tells
    whether W comes from mediators (and λ matters); ``replicated`` whether labels are replicated over bags, which weighs
    bags by their size; ``sparse`` whether the posterior goes through inducing points; ``centroids`` whether each bag is
    replaced by its mean point; ``correlated`` whether what W leaves unknown of g is part of Σ, ``misfit`` whether what
    leaving each bag out shows that W misses of f is (`Misfit`). ``trend`` says that k
    begins as that of a field in space: an unknown mean, straight lines of the covariates, a rough term of the place
    and, where it is ``smooth``, one of the covariates (`models.area_to_point`). ``partial`` says that W mediates
    only what a target's footprint does not tell: terms of the place alone are averaged over the footprint itself.
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
    misfit: bool = False
    trend: bool = False
    smooth: bool = True
    partial: bool = False

    @property
    def phrase(self) -> str:
        """The title as it stands inside a sentence; Gauss keeps his capital letter."""
        return self.title if self.title.startswith("Gaussian") else self.title[0].lower() + self.title[1:]

    @property
    def quantity(self) -> str:
        """What learning raises and the model's worth is told in."""
        return "bound on the log evidence" if self.sparse else "log evidence"

    @property
    def unknown_formula(self) -> str:
        """``unknown`` in TeX, to stand behind the other parts of Σ; "" where there is none."""
        if self.misfit:
            return r" + \operatorname{diag}(v)"
        return _UNKNOWN if self.correlated else ""

    def approximation(self, inducing: int) -> str:
        """What it does otherwise than the exact model on bags, in words with TeX, with so many inducing points."""
        said = _PARTIAL if self.partial else _MISFIT if self.misfit else ""
        said += (
            "Each cell is replaced by its mean point, so that $\\bar f_j = f(\\bar x_j)$. " if self.centroids else ""
        )
        if self.sparse:
            said += (
                f"The posterior goes through {inducing} inducing values $u = f(w)$ with the optimal Gaussian $q(u)$: "
                "$\\bar K$ becomes $C K_{uu}^{-1} C^\\top$ in the mean, and what that misses stays in the variance. "
            )
        return said

    @property
    def on_bags(self) -> bool:
        """Whether the posterior is read from the bags' own points: through no inducing points, on no centroids."""
        return not (self.sparse or self.centroids)

    def reads(self, data: IndirectData) -> bool:
        """Whether these data are enough: mediators connect bags and targets, or each target is that of one bag; the
        footprints of targets that are no bags are known where the model looks at them."""
        if self.partial:
            return data.footprints is not None and not data.matched
        return self.mediated or data.matched

    def sees(self, data: IndirectData) -> IndirectData:
        """The data as the model takes them: each bag at its mean point, or unchanged."""
        return centroids(data) if self.centroids else data

    def places(self, bags: Bags) -> Float[Tensor, "n d"]:
        """The points at which f enters, among which inducing points are placed."""
        return bags.mean(bags.inputs) if self.centroids else bags.inputs

    def count_places(self, bags: Bags) -> int:
        """How many these are."""
        return bags.count if self.centroids else len(bags.inputs)

    @property
    def knows_unknown(self) -> bool:
        """Whether part of Σ tells what W leaves unknown."""
        return self.correlated or self.misfit

    def unknown(
        self, grams: MediatorGrams, weights: Float[Tensor, "n M"], regularisation: float | Tensor
    ) -> Callable[[Float[Tensor, "n n"]], Float[Tensor, "M M"]] | None:
        """The part of Σ that tells what W leaves unknown, as a function of K̄; None where the model has none."""
        if self.misfit:
            return Misfit.of(grams, weights[: len(grams.within)], regularisation)
        if not self.correlated:
            return None
        covariance = mediation_covariance(grams, weights)
        return lambda bag_gram: covariance

    def contamination(self, data: IndirectData) -> Float[Tensor, " n"]:
        """By how much point noise ς² enters each row of W: that of the footprint's pixels where it is known."""
        if not self.partial or data.footprints is None:
            return data.bags.contamination
        return torch.cat([torch.zeros_like(data.bags.contamination), data.footprints.contamination])

    def expected(self, weights: Float[Tensor, "n M"], mean: float | Tensor) -> Float[Tensor, " M"]:
        """The targets' prior mean ``Wᵀm̄`` (M,) where f has the constant mean m: ``m Σ_j W_jm``.

        In a partial model a constant is a function of the place: the bags see ``m̄ = 0``, the footprints ``m̄ = m``, and
        every target expects m itself.
        """
        return weights.new_full(weights.shape[1:], 1.0) * mean if self.partial else mean * weights.sum(0)

    def weighs_bags_by(self, sizes: Float[Tensor, " B"]) -> Float[Tensor, " B"] | None:
        """What a bag counts for in W: its points, where labels are replicated over them; None for all the same."""
        return sizes if self.replicated else None

    def learns_mediation_first(self, stage_one: str) -> bool:
        """Whether ℓ and λ are learned before, and apart from, k and the noises."""
        return self.partial or (self.mediated and not self.correlated and stage_one != "joint")

    def learns_mediation_with_the_rest(self, joint: bool) -> bool:
        """Whether ℓ is learned by the evidence: asked for (``joint``), or because Σ comes from it."""
        return self.mediated and not self.partial and (joint or self.correlated)


_UNKNOWN = r" + \tilde{\tilde L} - \tilde L^\top (L + B\lambda I)^{-1}\tilde L"
_SHRINKAGE = r"W = (L + B\lambda I)^{-1}\tilde L"
_PARTIAL = (
    "What the place alone tells is averaged over each target's own footprint, only the rest of $k$ goes through the "
    "mediators: $\\bar K$ is block-diagonal, and $v$ is what leaving each bag out shows that they miss. "
)
_MISFIT = (
    "The conditional mean operator is an estimate: $v$, what leaving each bag out shows that $W$ misses of its own bag "
    "under $\\bar K$, is part of $\\Sigma$. "
)
_REPLICATED = r"W = (L + N\lambda D^{-1})^{-1}\tilde L"

MODELS: dict[str, NamedModel] = {
    model.name: model
    for model in (
        NamedModel(
            "area_to_point_gp",
            "Area-to-point Gaussian process",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Kyriakidis 2004; Goovaerts 2008; with a smooth term of the covariates",
            trend=True,
        ),
        NamedModel(
            "regression_kriging",
            "Area-to-point regression kriging (ATPRK)",
            identity_weights,
            mediated=False,
            replicated=False,
            source="Kyriakidis 2004; Goovaerts 2008; Wang et al. 2015",
            trend=True,
            smooth=False,
        ),
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
            "partial_cmp",
            "Partially mediated process",
            partial_weights,
            mediated=True,
            replicated=False,
            source="this project: only what a footprint does not tell is mediated",
            formula=r"W = \begin{pmatrix}(L + B\lambda I)^{-1}\tilde L\\ I\end{pmatrix}",
            ridge="B",
            misfit=True,
            trend=True,
            partial=True,
        ),
        NamedModel(
            "uncertain_cmp",
            "Shrinkage conditional mean process with an uncertain operator",
            shrinkage_weights,
            mediated=True,
            replicated=False,
            source="this project: what the estimated operator misses, bags left out, is part of the noise",
            formula=_SHRINKAGE,
            ridge="B",
            misfit=True,
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
            "variational_shrinkage_cmp",
            "Variational shrinkage conditional mean process",
            shrinkage_weights,
            mediated=True,
            replicated=False,
            source="Chau et al. 2021, eq. 10 and App. C, through inducing points as in App. B",
            formula=_SHRINKAGE,
            ridge="B",
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


#: Models of any inputs: those that need no place and no covariates.
GENERAL = tuple(name for name, model in MODELS.items() if not model.trend)


def named(name: str) -> NamedModel:
    """The model of that name; ``InputError`` lists the names when there is none."""
    if name not in MODELS:
        raise InputError(f"The model '{name}' is unknown: choose one of {', '.join(MODELS)}.")
    return MODELS[name]
