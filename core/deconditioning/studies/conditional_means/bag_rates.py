"""What the size of bags does to the deconditional mean operator, for the standard and the shrinkage estimate.

On the circle of known operators B bags have one y each and n values of x. With weights w_j of the bags,
``Ĉ = Φ̄ᵀ diag(w) Ψ (Ψᵀ diag(w) Ψ + λI)⁻¹``: the standard estimate has w_j = n_j/N, shrinkage 1/B, and for equal bags
they are one. λ and ε are the best of a grid given the truth, so that no choice of theirs is mistaken for a rate.
Theorem 4.2 has pairs, n = 1, and says nothing of bags. Source: Chau et al. 2021, §3.1, eq. 10 and App. C.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed
from deconditioning.studies.conditional_means.circle import Circle, Moments

ESTIMATES = ("standard", "shrinkage")
#: Regularisers that are tried, as many as needed to have the best ones inside.
_GRID = tuple(10.0**power for power in np.arange(-7.0, 0.1, 0.5))
#: Size of the largest bag in units of the mean, where they are unequal.
_LARGEST_SHARE = 20.0


@dataclass(frozen=True)
class BagSizeSpec:
    """``bags`` B of ``per_bag`` n points, all alike or (``unequal``) geometric around that mean, ``targets`` M of the
    second stage, a ``seed``; ``circle`` is the problem."""

    bags: int = 200
    per_bag: int = 10
    unequal: bool = False
    targets: int = 1000
    seed: int = 0
    circle: Circle = Circle(2.0, 1.5, astray=0.5, most=16)  # noqa: RUF009

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if min(self.bags, self.per_bag, self.targets) < 1 or self.bags * self.per_bag > 10_000_000:
            raise InputError(
                f"{self.bags} bags of {self.per_bag} points and {self.targets} targets were requested: give at "
                "least one of each, and at most 10,000,000 points."
            )

    def sizes(self, generator: torch.Generator) -> Tensor:
        """n_j of every bag."""
        if not self.unequal or self.per_bag == 1:
            return torch.full((self.bags,), self.per_bag)
        draws = torch.rand(self.bags, generator=generator, dtype=torch.float64)
        result = 1 + (draws.log() / math.log(1 - 1 / self.per_bag)).floor().long()
        return result.clamp_max(int(_LARGEST_SHARE * self.per_bag))


def bag_means(spec: BagSizeSpec, generator: torch.Generator) -> tuple[Tensor, Tensor, Tensor]:
    """Means of the bags' features (B, q), features of their y (B, q), and their sizes."""
    sizes, circle = spec.sizes(generator), spec.circle
    y = torch.rand(spec.bags, generator=generator, dtype=torch.float64)
    bag = torch.arange(spec.bags).repeat_interleave(sizes)
    features = circle.waves(circle.draw_x(y[bag], generator)) * circle.input_scales
    total = torch.zeros(spec.bags, features.shape[1], dtype=torch.float64).index_add_(0, bag, features)
    return total / sizes[:, None], circle.waves(y) * circle.mediator_scales, sizes


def moments_of(means: Float[Tensor, "B q"], mediators: Float[Tensor, "B q"], weights: Float[Tensor, " B"]) -> Moments:
    """Of bags with these weights, which sum to one."""
    weighed = weights[:, None] * mediators
    return Moments(means.T @ weighed, mediators.T @ weighed)


def bag_size_errors(spec: BagSizeSpec) -> list[dict[str, Any]]:
    """A row for each estimate: the least excess risk over λ and ε, and these."""
    state = np.random.SeedSequence([spec.seed, spec.bags, spec.per_bag]).generate_state(1, np.uint64)[0]
    generator = torch.Generator().manual_seed(int(state >> np.uint64(1)))
    means, mediators, sizes = bag_means(spec, generator)
    query = spec.circle.draw(spec.targets, generator, inputs=False)
    weights = {"standard": sizes / sizes.sum(), "shrinkage": torch.full((spec.bags,), 1 / spec.bags)}
    rows = []
    for name in ESTIMATES:
        first = moments_of(means, mediators, weights[name].double())
        risk, lam, epsilon = min(
            (spec.circle.error(first, query, lam, epsilon).risk, lam, epsilon) for lam in _GRID for epsilon in _GRID
        )
        scores = {"risk": risk, "lambda": lam, "epsilon": epsilon}
        more = {"bags": spec.bags, "per_bag": spec.per_bag, "unequal": spec.unequal}
        rows.append({"model": name, "seed": spec.seed, "scores": scores, "more": more})
    return rows


def bag_size_sweep(
    bags: Sequence[int], per_bag: Sequence[int], seeds: Sequence[int], report: Callable[[dict[str, Any]], None]
) -> list[dict[str, Any]]:
    """Every number of bags, size and seed, equal and unequal (a size of one is equal alone)."""
    rows = []
    for count in bags:
        for size in per_bag:
            for unequal in (False, True)[: 1 if size == 1 else 2]:
                for seed in seeds:
                    for row in bag_size_errors(BagSizeSpec(count, size, unequal, seed=seed)):
                        rows.append(row)
                        report(row)
    return rows


def exponents(rows: Sequence[dict[str, Any]], model: str, unequal: bool) -> tuple[float, float]:
    """α and β of ``risk ∝ B^−α n^−β``, by least squares of the logarithms of the means over seeds."""
    groups: dict[tuple[int, int], list[float]] = {}
    for row in rows:
        if row["model"] == model and (row["unequal"] == unequal or row["per_bag"] == 1):
            groups.setdefault((row["bags"], row["per_bag"]), []).append(row["scores"]["risk"])
    design = np.array([[1.0, -math.log(b), -math.log(n)] for b, n in groups])
    result = np.linalg.lstsq(design, np.log([np.mean(each) for each in groups.values()]), rcond=None)[0]
    return float(result[1]), float(result[2])
