"""The prior covariance K̄ of the bag means in the collapsed bound, affordable for any number of points."""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.direct import cross_with_gradient, diagonal, gram
from deconditioning.errors import Check, never
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags

#: Points up to which K̄ is summed over all pairs (2e8 of them); more are first thinned to about that many.
MOST_POINTS = 20_000
#: Pairs within bags up to which the diagonal of K̄ is exact all the same.
MOST_PAIRS_WITHIN = 300_000_000
#: Points per block where only sums within bags are needed: small blocks waste few pairs between bags.
_SMALL_BLOCK = 128


@dataclass(frozen=True)
class Through:
    """What is exact through inducing points: ``inducing`` w (p, d), ``factor`` of ``K_uu = L Lᵀ``, ``half`` ``L⁻¹Cᵀ``
    (p, B) with C the bag sums of all points."""

    inducing: Float[Tensor, "p d"]
    factor: linalg.Factor
    half: Float[Tensor, "p B"]


@dataclass(frozen=True)
class BagPrior:
    """K̄ (B, B), or only its diagonal (B,) if W = I.

    Exact for up to ``MOST_POINTS`` points. Beyond that, ``K̄ ≈ Q̄ + (K̄_c − Q̄_c)`` off the diagonal, with ``Q̄ = C
    K_uu⁻¹ Cᵀ`` from all points and the subscript c for a weighted coreset of each bag (k-means): thinning affects only
    the part that the inducing points miss, the only part of K̄ beyond Q̄ in the bound. The diagonal is exact, because a
    kernel with a kink is hard to thin there. Measured on the synthetic planet with 3 to 10 points per bag: the bound
    changes by 0.04 to 6 nats of 63 to 214, by 4 to 70 without Q̄, and by 15 to 740 with the coreset alone.
    """

    bags: SortedBags
    within: SortedBags | None
    whole: bool
    exact: bool

    @staticmethod
    def of(bags: Bags, *, whole: bool) -> "BagPrior":
        """The prior of these bags; ``whole`` for all of K̄."""
        blocks = sort_bags(bags, _SMALL_BLOCK)
        if not whole:
            return BagPrior(blocks, blocks, False, True)
        if len(bags.inputs) <= MOST_POINTS:
            return BagPrior(sort_bags(bags), None, True, True)
        thin = coreset(bags, max(1, MOST_POINTS // bags.count))
        affordable = float(torch.bincount(bags.bag).double().square().sum()) <= MOST_PAIRS_WITHIN
        return BagPrior(sort_bags(thin), blocks if affordable else None, True, False)

    def __call__(
        self, kernel: gpytorch.kernels.Kernel, through: Through, check: Check = never
    ) -> Float[Tensor, "B *B"]:
        """K̄ or its diagonal, differentiable in the kernel's parameters; ``check`` runs before every tile."""
        if not self.whole:
            return diagonal(kernel, self.bags, check=check)
        between = gram(kernel, self.bags, check=check)
        if self.exact:
            return between
        thin = through.factor.half_solve(cross_with_gradient(kernel, self.bags, through.inducing, check=check).T)
        between = between + through.half.T @ through.half - thin.T @ thin
        return between if self.within is None else between.diagonal_scatter(diagonal(kernel, self.within, check=check))


def thinning_error(
    kernel: gpytorch.kernels.Kernel,
    bags: Bags,
    bag_gram: Float[Tensor, "B B"],
    weights: Float[Tensor, "B B"],
    pairs: int = 400,
    seed: int = 0,
) -> tuple[float, float]:
    """``Σ_ij T_ij (K̄ − K̄_approx)_ij`` and its standard error, from pairs of bags drawn by ``|T_ij|``, summed exactly.

    ``bag_gram`` is the approximation, ``weights`` T. Unbiased (importance sampling); costs ``pairs`` small tiles.
    """
    ordered, generator = sort_bags(bags).bags, torch.Generator().manual_seed(seed)
    ends = torch.bincount(bags.bag, minlength=bags.count).cumsum(0).tolist()
    starts = [0, *ends[:-1]]
    mass = weights.abs().flatten().cumsum(0)
    drawn = torch.rand(pairs, generator=generator, dtype=mass.dtype).to(mass.device) * mass[-1]
    result = []
    for index in torch.searchsorted(mass, drawn).clamp_max(len(mass) - 1).tolist():
        i, j = divmod(index, bags.count)
        left, right = slice(starts[i], ends[i]), slice(starts[j], ends[j])
        tile = evaluate(kernel, ordered.inputs[left], ordered.inputs[right])
        exact = ordered.weights[left] @ tile @ ordered.weights[right]
        result.append(torch.sign(weights[i, j]) * (exact - bag_gram[i, j]))
    values = torch.stack(result) * mass[-1]
    return float(values.mean()), float(values.std() / len(values) ** 0.5)
