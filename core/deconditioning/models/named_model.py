"""What a named model of indirect data is, and what other code may ask of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.models.centroids import centroids
from deconditioning.models.learning.initial import USUAL, Start
from deconditioning.models.mediation import MediatorGrams, Misfit, mediation_covariance
from deconditioning.observations import Bags, IndirectData

#: Hyperparameters that not every model has.
Hyperparameter = Literal["regularisation", "mediator_kernel", "mediator_variance", "inducing"]

_UNKNOWN = r" + \tilde{\tilde L} - \tilde L^\top (L + B\lambda I)^{-1}\tilde L"
_PARTIAL = (
    "The spatial part of $k$ is averaged over each target's own footprint; only the rest of $k$ goes through the "
    "mediators: $\\bar K$ is block-diagonal, and $v$ is the error of the mediators, estimated by leaving each bag "
    "out. "
)
_MISFIT = (
    "The conditional mean operator is an estimate: $v$, what leaving each bag out shows that $W$ misses of its own bag "
    "under $\\bar K$, is part of $\\Sigma$. "
)


@dataclass(frozen=True, eq=False, repr=False)
class NamedModel:
    """A model of indirect data, ``z̃ = Wᵀ f̄ + e`` with its own W: what it needs, how it weighs, how it learns.

    There is one object per name: models are equal where their names are, and are copied and pickled by name.

    ``formula`` writes W in TeX, ``ridge`` what its λ is multiplied by, "N" points or "B" bags. ``mediated`` tells
    whether W comes from mediators (and λ matters); ``replicated`` whether labels are replicated over bags, which weighs
    bags by their size; ``sparse`` whether the posterior goes through inducing points; ``centroids`` whether each bag is
    replaced by its mean point; ``correlated`` whether what W leaves unknown of g is part of Σ, ``misfit`` whether what
    leaving each bag out shows that W misses of f is (`Misfit`). ``trend`` says that k
    begins as that of a field in space: an unknown mean, straight lines of the covariates, a rough term of the place
    and, with a ``smooth_term``, one of the covariates (`models.area_to_point`). ``partial`` says that W mediates
    only what a target's footprint does not tell: terms of the place alone are averaged over the footprint itself.
    ``starts`` is where it starts on cells whose targets are known to be their own, and on others.

    The flags are for this package; other code asks the questions below.
    """

    name: str
    title: str
    weights: Callable[[MediatorGrams, float | Tensor], Tensor]
    source: str
    mediated: bool = False
    replicated: bool = False
    formula: str = "W = I"
    ridge: str = ""
    sparse: bool = False
    centroids: bool = False
    correlated: bool = False
    misfit: bool = False
    trend: bool = False
    smooth_term: bool = True
    partial: bool = False
    starts: tuple[Start, Start] = (USUAL, USUAL)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedModel) and self.name == other.name

    def __hash__(self) -> int:
        return hash((NamedModel, self.name))

    def __repr__(self) -> str:
        return f"named({self.name!r})"

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
        said += "Each cell is replaced by its centroid, so that $\\bar f_j = f(\\bar x_j)$. " if self.centroids else ""
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

    def takes(self, data: IndirectData) -> bool:
        """Whether these data are enough as they are, or with a pseudo-target for each bag."""
        return self.reads(data) or not (self.mediated or self.partial)

    def sees(self, data: IndirectData) -> IndirectData:
        """The data as the model takes them: each bag at its mean point, or unchanged."""
        return centroids(data) if self.centroids else data

    def places(self, bags: Bags) -> Float[Tensor, "n d"]:
        """The points at which f enters, among which inducing points are placed."""
        return bags.mean(bags.inputs) if self.centroids else bags.inputs

    def count_places(self, bags: Bags) -> int:
        """How many these are."""
        return bags.count if self.centroids else len(bags.inputs)

    def inducing_count(self, asked: int, bags: Bags) -> int:
        """How many inducing points there can be: on centroids at most one a bag; else as many as are asked for, and
        ``InputError`` where these are more than the bags' points."""
        there = self.count_places(bags)
        if asked > there and not self.centroids:
            raise InputError(
                f"{asked} inducing points were requested, but the bags contain {there} points: request at most "
                "that many."
            )
        return min(asked, there)

    def start(self, matched: bool) -> Start:
        """Where it starts; ``matched``: every cell's target is known to be its own, no pseudo-target."""
        return self.starts[0 if matched else 1]

    def uses(self, hyperparameter: Hyperparameter) -> bool:
        """Whether the posterior depends on a hyperparameter that not every model has.

        λ and ℓ where mediators connect bags and targets; the variance of ℓ where Σ comes from it (elsewhere only its
        ratio to λ matters); inducing points where the posterior goes through them.
        """
        using = {
            "regularisation": self.mediated,
            "mediator_kernel": self.mediated,
            "mediator_variance": self.correlated,
            "inducing": self.sparse,
        }
        return using[hyperparameter]

    @property
    def has_linear_mean(self) -> bool:
        """Whether an unknown mean and straight lines of the covariates are always terms of k."""
        return self.trend

    @property
    def has_covariate_kernel(self) -> bool:
        """Whether k has a term of the covariates whose family can be chosen."""
        return self.smooth_term

    @property
    def chooses_first_stage(self) -> bool:
        """Whether ℓ and λ can be learned in several ways."""
        return self.mediated and not self.partial

    @property
    def looks_at_footprints(self) -> bool:
        """Whether terms of the place alone are averaged over the targets' own footprints (`models.term_bags`)."""
        return self.partial

    def has_local_scale(self, matched: bool) -> bool:
        """Whether the sd may be scaled from place to place, as the cells left out show it: the posterior is read from
        the bags' points, and cells are measured where they lie (``matched``, or through footprints)."""
        return self.on_bags and (matched or self.partial)

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
