"""The exact model of indirect data: builds W and Σ, conditions, and evaluates the posterior at any inputs."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.direct import cross
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.fourier import PriorDraw, draw_prior
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.models.conditioning import Conditioning, condition, observation_noise, with_errors
from deconditioning.models.mediation import MediatorGrams
from deconditioning.models.posterior_moments import POINTS, Moments, read_moments, tile_points
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import bag_gram_of, separate_bags
from deconditioning.observations import Bags, IndirectData

#: The most points a dense covariance is given for.
DENSE_LIMIT = 5000


@dataclass(frozen=True)
class Columns:
    """Column names of inputs and mediators, to which kernels refer; ``place`` are the input columns that are
    coordinates.
    """

    inputs: tuple[str, ...]
    mediators: tuple[str, ...] = ()
    place: tuple[str, ...] = ()


def mediator_grams(
    spec: ModelSpec, data: IndirectData, columns: Columns, kernel: gpytorch.kernels.Kernel | None = None
) -> MediatorGrams:
    """``L = ℓ(y, y)``, ``L̃ = ℓ(y, ỹ)`` and, if Σ needs it, ``ℓ(ỹ, ỹ)``; identity patterns without mediation."""
    sizes = data.bags.sizes[: len(data.mediators)] if spec.model.mediated else data.bags.sizes
    if not spec.model.mediated:
        return MediatorGrams(sizes.new_empty(0, 0), sizes.new_empty(data.bags.count, len(data.targets)), sizes)
    if spec.mediator_kernel is None:
        raise InputError(f"The model '{spec.model.name}' needs a kernel on the mediators: give `mediator_kernel`.")
    ell = kernel or spec.mediator_kernel.build(columns.mediators).to(sizes.device)
    within = evaluate(ell, data.mediators, data.mediators)
    across = within if data.matched else evaluate(ell, data.mediators, data.query_mediators)
    query = None
    if spec.model.has_unknown_part:
        query = within if data.matched else evaluate(ell, data.query_mediators, data.query_mediators)
    return MediatorGrams(within, across, sizes, query, data.importance)


def mediation_weights(spec: ModelSpec, data: IndirectData, columns: Columns) -> Float[Tensor, "B M"]:
    """The model's W for these data, without gradient."""
    check_matching(spec, data)
    with torch.no_grad():
        grams = mediator_grams(spec, data, columns)
        return spec.model.mediation(grams, spec.regularisation, data.bags_without_mediators)[0]


def weights_and_noise(
    spec: ModelSpec, data: IndirectData, columns: Columns, bag_gram: Float[Tensor, "n n"] | None = None
) -> tuple[Float[Tensor, "n M"], Float[Tensor, "M M"]]:
    """The model's W and Σ for these data, without gradient; only for a partial model do they depend on K̄."""
    check_matching(spec, data)
    with torch.no_grad():
        grams = mediator_grams(spec, data, columns)
        model = spec.model
        weights, unknown = model.mediation(grams, spec.regularisation, data.bags_without_mediators)
        noise = observation_noise(weights, spec.noise, spec.point_noise, model.contamination(data))
        noise = with_errors(noise, data, spec.noise, spec.representativeness)
        if unknown is None:
            return weights, noise
        return weights, noise + unknown(weights.new_empty(0, 0) if bag_gram is None else bag_gram)


def check_matching(spec: ModelSpec, data: IndirectData) -> None:
    """Raise ``InputError`` if a model without mediation gets data that are matched only through mediators, or one that
    does not read points gets some."""
    if data.points is not None and not spec.model.takes_points:
        raise InputError(
            f"The model '{spec.model.name}' cannot use stations or further sources: choose a model without inducing "
            "points and centroids, such as area_to_point_gp."
        )
    if data.errors is not None and not spec.model.takes_errors:
        raise InputError(
            f"The model '{spec.model.name}' cannot use an error for each cell: choose a model without inducing points."
        )
    if spec.model.partial and not spec.model.reads(data):
        raise InputError(
            f"The model '{spec.model.name}' is for cells that are matched through mediators and whose locations are "
            "known: add the coordinates, or choose another model."
        )
    if not spec.model.reads(data):
        raise InputError(
            f"The model '{spec.model.name}' needs a target for every bag, but these are matched only through "
            "mediators: give pseudo-targets, or use cmp or shrinkage_cmp."
        )


def condition_on_gram(
    spec: ModelSpec, data: IndirectData, columns: Columns, bag_gram: Float[Tensor, "B B"]
) -> Conditioning:
    """Condition with a given K̄, which a page caches while λ, σ and ς change."""
    weights, noise = weights_and_noise(spec, data, columns, bag_gram)
    residual = data.targets - spec.model.expected(weights, spec.mean)
    conditioning = condition(bag_gram, weights, noise, residual, data.covariance)
    alike = data.points is None and data.errors is None and not spec.model.has_unknown_part
    return replace(conditioning, points=data.points, alike=alike)


def refuse_dense(points: int) -> None:
    """Raise ``InputError`` if a full covariance would be too large."""
    if points > DENSE_LIMIT:
        raise InputError(
            f"A full covariance of {points} points was requested; the limit is {DENSE_LIMIT} points: request "
            "`variance`, or fewer points."
        )


@dataclass(frozen=True)
class IndirectPosterior:
    """Posterior of ``f`` given aggregated targets, evaluated at any inputs, tile by tile.

    ``mean(x) = m + c(x)ᵀ W S⁻¹ (z̃ − Wᵀm̄)``, ``cov(x, x′) = k(x, x′) − c(x)ᵀ W S⁻¹ Wᵀ c(x′)`` (Chau et al. 2021, eq.
    8-10). Some terms of k may use ``footprints`` instead of ``bags`` (`term_bags`).
    """

    spec: ModelSpec
    columns: Columns
    bags: SortedBags
    conditioning: Conditioning
    footprints: SortedBags | None = None

    @property
    def evidence(self) -> float:
        """``log N(z̃; Wᵀm̄, S)``."""
        return float(self.conditioning.evidence)

    def _kernel(self) -> gpytorch.kernels.Kernel:
        return self.spec.kernel.build(self.columns.inputs).to(self.bags.bags.inputs.device)

    @property
    def _parts(self) -> list[tuple[KernelSpec, SortedBags]]:
        """The parts of k with the bags that each is seen through."""
        if self.footprints is None:
            return [(self.spec.kernel, self.bags)]
        pairs = separate_bags(self.spec, self.columns.place, self.bags.bags, self.footprints.bags)
        ordered = (self.bags, self.footprints)
        return [(part.of(self.spec.kernel), bags) for part, bags in zip(pairs, ordered, strict=True)]

    def sums(self, inputs: Float[Tensor, "P d"], check: Check = never) -> Float[Tensor, "n P"]:
        """The bag sums at each input."""
        result = [
            cross(kernel.build(self.columns.inputs).to(inputs.device), bags, inputs, check=check)
            for kernel, bags in self._parts
        ]
        return result[0] if len(result) == 1 else torch.cat(result)

    def mean(self, inputs: Float[Tensor, "P d"], check: Check = never) -> Float[Tensor, " P"]:
        """Posterior mean at each input."""
        parts = [self.conditioning.mean(self.sums(x, check)) for x in inputs.split(POINTS)]
        return self.spec.mean + torch.cat(parts)

    def variance(self, inputs: Float[Tensor, "P d"], check: Check = never) -> Float[Tensor, " P"]:
        """Posterior variance of ``f`` at each input, without the point noise ς²."""
        return self.mean_and_variance(inputs, check)[1]

    def mean_and_variance(
        self,
        inputs: Float[Tensor, "P d"],
        check: Check = never,
        sums: Callable[[slice], Float[Tensor, "B n"]] | None = None,
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " P"]]:
        """Both in one pass; ``sums`` gives c for inputs that need not be summed pair by pair."""
        kernel, conditioning = self._kernel(), self.conditioning

        def tile(part: slice) -> Moments:
            """Moments at one part of the inputs."""
            result = sums(part) if sums else self.sums(inputs[part], check)
            return conditioning.moments(result, diagonal(kernel, inputs[part]))

        mean, variance = read_moments(inputs[:, 0], tile, check, tile_points(len(conditioning.weights), inputs.device))
        return self.spec.mean + mean, variance

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance of ``f`` between all inputs, at most 5,000."""
        refuse_dense(len(inputs))
        kernel = self._kernel()
        with torch.no_grad():
            sums = self.sums(inputs)
            return evaluate(kernel, inputs, inputs) - self.conditioning.reduction_between(sums, sums)

    def sample(self, inputs: Float[Tensor, "P d"], count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Joint draws by Matheron's rule: ``f + c(x)ᵀ W S⁻¹ (z̃ − Wᵀf̄ − e)`` with one prior draw for all tiles.

        Each prior draw ``f`` has its own random Fourier frequencies, so the covariance over draws is exactly ``k``.
        Source: Wilson et al. 2020, *Efficiently sampling functions from GP posteriors*.
        """
        parts = self._parts
        with torch.no_grad():
            draws = [self._prior_and_dual(parts, inputs, generator) for _ in range(count)]
            moved = []
            for x in inputs.split(POINTS):
                sums = self.sums(x).T
                moved.append(torch.stack([sums @ dual for _, dual in draws]))
            return self.spec.mean + torch.stack([prior for prior, _ in draws]) + torch.cat(moved, dim=1)

    def _prior_and_dual(
        self, parts: list[tuple[KernelSpec, SortedBags]], inputs: Float[Tensor, "P d"], generator: torch.Generator
    ) -> tuple[Float[Tensor, " P"], Float[Tensor, " n"]]:
        """One prior draw at the inputs, and what moves it to the data."""
        device = self.bags.bags.inputs.device
        draws: list[tuple[PriorDraw, Bags]] = [
            (draw_prior(kernel, self.columns.inputs, generator, device), bags.bags) for kernel, bags in parts
        ]
        means = torch.cat([bags.mean(_everywhere(prior, bags.inputs)) for prior, bags in draws])
        contamination = self.bags.bags.contamination
        dual = pathwise_dual(self.spec, self.conditioning, means[:, None], contamination, generator)[:, 0]
        return torch.stack([_everywhere(prior, inputs) for prior, _ in draws]).sum(0), dual


def pathwise_dual(
    spec: ModelSpec,
    conditioning: Conditioning,
    means: Float[Tensor, "n D"],
    contamination: Float[Tensor, " B"],
    generator: torch.Generator,
) -> Float[Tensor, "n D"]:
    """``W S⁻¹ (z̃ − m − Wᵀ(f̄ + e_fine) − e)``: what moves D prior draws with these bag ``means`` f̄ to the data.

    ``e_fine`` is the point noise averaged over each bag, ``e`` that of the targets (with what is unknown of the
    mediation, and what estimated targets carry). Source: Wilson et al. 2020, eq. 11.
    """
    rows, draws = means.shape
    fine = _normal(rows * draws, generator, means).reshape(draws, rows).T
    coarse = _normal(len(conditioning.residual) * draws, generator, means).reshape(draws, -1).T
    if not conditioning.alike:
        fine, coarse = (
            torch.zeros_like(fine),
            linalg.cholesky(conditioning.noise, "noise of the targets").lower @ coarse,
        )
    else:
        fine = fine * (contamination * spec.point_noise).sqrt()[:, None]
        coarse = coarse * spec.noise**0.5
    if conditioning.carried is not None:
        more = _normal(len(coarse) * draws, generator, means).reshape(draws, -1).T
        coarse = coarse + linalg.root(conditioning.carried) @ more
    return conditioning.weights @ conditioning.factor.solve(
        conditioning.residual[:, None] - conditioning.weights.T @ (means + fine) - coarse
    )


def _everywhere(prior: PriorDraw, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
    """A prior draw, tile by tile."""
    return torch.cat([prior(x) for x in inputs.split(POINTS)])


def _normal(count: int, generator: torch.Generator, like: Tensor) -> Tensor:
    return torch.randn(count, generator=generator, dtype=like.dtype, device=generator.device).to(like.device)


def posterior(spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never) -> IndirectPosterior:
    """Condition ``f ~ GP(m, k)`` on indirect data with given hyperparameters.

    Raises ``InputError`` for an unknown model, missing columns or a singular matrix.
    """
    check_matching(spec, data)
    kernel = spec.kernel.build(columns.inputs).to(data.targets.device)
    with torch.no_grad():
        bag_gram = bag_gram_of(spec, data, columns.place, check)(kernel)
    footprints = sort_bags(data.footprints) if spec.model.partial and data.footprints is not None else None
    conditioning = condition_on_gram(spec, data, columns, bag_gram)
    return IndirectPosterior(spec, columns, sort_bags(data.bags), conditioning, footprints)
