"""The prior covariance K̄ of the bags' means as the collapsed bound needs it, affordable with any number of points."""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from core.kernels.bag_mean import Check, diagonal, gram, never
from core.kernels.blocks import SortedBags, sort_bags
from core.kernels.coreset import coreset
from core.observations import Bags

#: Points up to which K̄ is summed over all pairs (1.25e9 of them); more are first thinned to that many.
MOST_POINTS = 50_000
#: Pairs within bags up to which the diagonal of K̄ is exact all the same.
MOST_OWN_PAIRS = 2_000_000_000
#: Points per block where only sums within bags are needed: small blocks waste few pairs between bags.
_SMALL_BLOCK = 128


@dataclass(frozen=True)
class BagPrior:
    """K̄ (B, B), or its diagonal (B,) alone where W = I.

    Up to ``MOST_POINTS`` points exact. Beyond, pairs of different bags are summed over a weighted coreset of each bag
    (k-means), pairs within a bag over all its points: that is where a kernel with a kink is hard to thin. The bound
    then carries the coreset's error; ``exact`` tells.
    """

    bags: SortedBags
    own: SortedBags | None
    whole: bool
    exact: bool

    @staticmethod
    def of(bags: Bags, *, whole: bool) -> "BagPrior":
        """The prior of these bags; ``whole`` for all of K̄."""
        own = sort_bags(bags, _SMALL_BLOCK)
        if not whole:
            return BagPrior(own, own, False, True)
        if len(bags.inputs) <= MOST_POINTS:
            return BagPrior(sort_bags(bags), None, True, True)
        thin = coreset(bags, max(1, MOST_POINTS // bags.count))
        affordable = float(torch.bincount(bags.bag).double().square().sum()) <= MOST_OWN_PAIRS
        return BagPrior(sort_bags(thin), own if affordable else None, True, False)

    def __call__(self, kernel: gpytorch.kernels.Kernel, check: Check = never) -> Float[Tensor, "B *B"]:
        """K̄ or its diagonal, differentiable in the kernel's parameters; ``check`` runs before every tile."""
        if not self.whole:
            return diagonal(kernel, self.bags, check=check)
        between = gram(kernel, self.bags, check=check)
        return between if self.own is None else between.diagonal_scatter(diagonal(kernel, self.own, check=check))
