"""A named model of indirect data and its interface to other code."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.models.centroids import centroids
from deconditioning.models.learning.initial import Start
from deconditioning.models.mediation import MediatorGrams, Misfit, mediation_covariance, with_own_bags
from deconditioning.observations import Bags, IndirectData

#: Hyperparameters that not every model has.
Hyperparameter = Literal["regularisation", "mediator_kernel", "mediator_variance", "inducing"]

_UNKNOWN = r" + \tilde{\tilde L} - \tilde L^\top (L + B\lambda I)^{-1}\tilde L"
_PARTIAL = (
    "The spatial part of $k$ is averaged over each target's own footprint; only the rest of $k$ is mediated: $\\bar K$ "
    "is block-diagonal, and $v$ is the error of the mediators, estimated by leaving each bag out. "
)
_MISFIT = (
    "The conditional mean operator is an estimate: $v$, the leave-one-bag-out error of $W$ under $\\bar K$, is part of "
    "$\\Sigma$. "
)


@dataclass(frozen=True, eq=False, repr=False)
class NamedModel:
    """A model of indirect data, ``z̃ = Wᵀ f̄ + e``: its W, the data that it needs, and how it learns.

    There is one object per name: models are equal if their names are, and are copied and pickled by name.

    ``formula`` is W in TeX; ``ridge`` is the factor of λ, "N" points or "B" bags. ``mediated``: W depends on mediators
    (and λ matters); ``replicated``: labels are replicated over bags, which weights bags by their size; ``sparse``: the
    posterior uses inducing points; ``centroids``: each bag is replaced by its mean point; ``correlated``: Σ contains
    the uncertainty of g given W; ``misfit``: Σ contains the leave-one-bag-out error of W (`Misfit`). ``trend``: the
    starting kernel is that of a spatial field, with an unknown mean, linear terms of the covariates, a rough term of
    the coordinates and, with ``smooth_term``, one of the covariates (`models.area_to_point`). ``partial``: W mediates
    only what a target's footprint does not determine; terms of the coordinates alone are averaged over the footprint.
    ``starts`` are the starting values for matched cells and for others.

    The flags are for this package; other code uses the methods below.
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
    starts: tuple[Start, Start] = (Start(), Start())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NamedModel) and self.name == other.name

    def __hash__(self) -> int:
        return hash((NamedModel, self.name))

    def __repr__(self) -> str:
        return f"named({self.name!r})"

    @property
    def phrase(self) -> str:
        """The title as it appears inside a sentence; names keep their capitals."""
        return self.title if self.title.startswith("Gaussian") else self.title[0].lower() + self.title[1:]

    @property
    def quantity(self) -> str:
        """The quantity that learning maximises and that measures the model."""
        return "bound on the log evidence" if self.sparse else "log evidence"

    @property
    def unknown_formula(self) -> str:
        """``unknown`` in TeX, to stand behind the other parts of Σ; "" where there is none."""
        if self.misfit:
            return r" + \operatorname{diag}(v)"
        return _UNKNOWN if self.correlated else ""

    def approximation(self, inducing: int) -> str:
        """What it does otherwise than the exact model on bags, in words with TeX, with so many inducing points."""
        sentence = _PARTIAL if self.partial else _MISFIT if self.misfit else ""
        sentence += (
            "Each cell is replaced by its centroid, so that $\\bar f_j = f(\\bar x_j)$. " if self.centroids else ""
        )
        if self.sparse:
            sentence += (
                f"The posterior is represented by {inducing} inducing values $u = f(w)$ with the optimal Gaussian "
                f"$q(u)$: "
                "$\\bar K$ becomes $C K_{uu}^{-1} C^\\top$ in the mean, and the remainder stays in the variance. "
            )
        return sentence

    @property
    def on_bags(self) -> bool:
        """Whether the posterior uses the bags' own points, without inducing points or centroids."""
        return not (self.sparse or self.centroids)

    def reads(self, data: IndirectData) -> bool:
        """Whether the data suffice: mediators connect bags and targets, or each target belongs to one bag; footprints
        of targets that are not bags are known if the model uses them.
        """
        if self.partial:
            return data.footprints is not None and not data.matched
        return self.mediated or data.matched

    @property
    def takes_points(self) -> bool:
        """Whether targets may be measured at points, each a bag of its own without mediators."""
        return self.on_bags

    @property
    def takes_errors(self) -> bool:
        """Whether every target may have an error of its own."""
        return not self.sparse

    def takes(self, data: IndirectData) -> bool:
        """Whether the data suffice as they are or with a pseudo-target for each bag."""
        return self.reads(data) or not (self.mediated or self.partial)

    def sees(self, data: IndirectData) -> IndirectData:
        """The data in the form that the model uses: each bag at its mean point, or unchanged."""
        return centroids(data) if self.centroids else data

    def places(self, bags: Bags) -> Float[Tensor, "n d"]:
        """The points at which f enters, among which inducing points are placed."""
        return bags.mean(bags.inputs) if self.centroids else bags.inputs

    def count_places(self, bags: Bags) -> int:
        """How many these are."""
        return bags.count if self.centroids else len(bags.inputs)

    def inducing_count(self, requested: int, bags: Bags) -> int:
        """How many inducing points there can be: on centroids at most one a bag; else as many as are asked for, and
        ``InputError`` if these are more than the bags' points."""
        there = self.count_places(bags)
        if requested > there and not self.centroids:
            raise InputError(
                f"{requested} inducing points were requested, but the bags contain {there} points: request at most "
                "that many."
            )
        return min(requested, there)

    def start(self, matched: bool) -> Start:
        """The starting values; ``matched``: every cell has its own target, not a pseudo-target."""
        return self.starts[0 if matched else 1]

    def uses(self, hyperparameter: Hyperparameter) -> bool:
        """Whether the posterior depends on a hyperparameter that not every model has.

        λ and ℓ if mediators connect bags and targets; the variance of ℓ if Σ depends on it (otherwise only its ratio to
        λ matters); inducing points if the posterior uses them.
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
        """Whether the sd may have a local scale: the posterior uses the bags' points, and cells are measured at their
        own locations (``matched``, or through footprints).
        """
        return self.on_bags and (matched or self.partial)

    @property
    def has_unknown_part(self) -> bool:
        """Whether Σ has a part for the uncertainty of W."""
        return self.correlated or self.misfit

    def unknown(
        self, grams: MediatorGrams, weights: Float[Tensor, "n M"], regularisation: float | Tensor
    ) -> Callable[[Float[Tensor, "n n"]], Float[Tensor, "M M"]] | None:
        """The part of Σ for the uncertainty of W, as a function of K̄; None if the model has none."""
        if self.misfit:
            return Misfit.of(grams, weights[: len(grams.within)], regularisation)
        if not self.correlated:
            return None
        covariance = mediation_covariance(grams, weights)
        return lambda bag_gram: covariance

    def mediation(
        self, grams: MediatorGrams, regularisation: float | Tensor, points: int = 0
    ) -> tuple[Float[Tensor, "n M"], Callable[[Float[Tensor, "n n"]], Float[Tensor, "M M"]] | None]:
        """W, and the part of Σ for its uncertainty, if the last ``points`` targets are means of bags of their own.

        Each kind of bags has W beside an identity, ``diag(W, I)``; what is unknown of W is nothing for these targets.
        """
        weights = self.weights(grams, regularisation)
        unknown = self.unknown(grams, weights, regularisation)
        if not (self.mediated and points):
            return weights, unknown
        extended = with_own_bags(weights, len(grams.within), points)
        if unknown is None:
            return extended, None
        return extended, lambda bag_gram: torch.nn.functional.pad(unknown(bag_gram), (0, points, 0, points))

    def contamination(self, data: IndirectData) -> Float[Tensor, " n"]:
        """The factor by which point noise ς² enters each row of W: that of the footprint's pixels if it is known."""
        if not self.partial or data.footprints is None:
            return data.bags.contamination
        return torch.cat([torch.zeros_like(data.bags.contamination), data.footprints.contamination])

    def covariance(self, weights: Float[Tensor, "n M"] | None, bag_gram: Float[Tensor, "n n"]) -> Float[Tensor, "M M"]:
        """``WᵀK̄W``, None for ``W = I``. In a partial model K̄ is block-diagonal and W ends with the identity."""
        if weights is None:
            return bag_gram
        if not self.partial:
            return weights.T @ bag_gram @ weights
        bags = len(weights) - weights.shape[1]
        return weights[:bags].T @ bag_gram[:bags, :bags] @ weights[:bags] + bag_gram[bags:, bags:]

    def expected(self, weights: Float[Tensor, "n M"], mean: float | Tensor) -> Float[Tensor, " M"]:
        """The targets' prior mean ``Wᵀm̄`` (M,) for a constant mean m of f: ``m Σ_j W_jm``.

        In a partial model a constant is a function of the coordinates: the bags have ``m̄ = 0``, the footprints ``m̄ =
        m``, and every target has prior mean m.
        """
        return weights.new_full(weights.shape[1:], 1.0) * mean if self.partial else mean * weights.sum(0)

    def weighs_bags_by(self, sizes: Float[Tensor, " B"]) -> Float[Tensor, " B"] | None:
        """The weight of a bag in W: its number of points if labels are replicated; None for equal weights."""
        return sizes if self.replicated else None

    def learns_mediation_first(self, stage_one: str) -> bool:
        """Whether ℓ and λ are learned before k and the noise variances, in a separate stage."""
        return self.partial or (self.mediated and not self.correlated and stage_one != "joint")

    def learns_mediation_with_the_rest(self, joint: bool) -> bool:
        """Whether ℓ is learned by the evidence, because of ``joint`` or because Σ depends on it."""
        return self.mediated and not self.partial and (joint or self.correlated)
