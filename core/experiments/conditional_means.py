"""Standard against shrinkage estimation of a conditional mean embedding (Chau et al. 2021, App. C.2)."""

import time
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from core import linalg
from core.embeddings.conditional_mean import MediatorGrams, replicated_weights, shrinkage_weights
from core.errors import InputError
from core.kernels.bag_mean import cross
from core.kernels.blocks import sort_bags
from core.kernels.spec import Factor, KernelSpec, Term
from core.kernels.tiles import evaluate
from core.models.defaults import median_distance
from core.observations import Bags

#: The paper's layouts: bags × points a bag.
LAYOUTS = ((3, 50), (50, 3), (50, 500), (500, 50))
SPREAD = 0.5
#: Points up to which the N×N estimator is computed as written; beyond, its time is extrapolated from this many.
MOST_DENSE = 2000
GRID = 60


@dataclass(frozen=True)
class BagLayout:
    """Data ``y ~ N(0, 2)``, ``x | y ~ N(y sin y, 0.5²)`` in bags.

    Parameters
    ----------
    bags, per_bag : how many bags and points a bag (their mean where sizes are unequal).
    unequal : sizes drawn at random between 1 and about 4 times ``per_bag``, the total kept.
    alike : λ scaled alike, Nλ and Bλ on the two diagonals, so that equal bags give equal estimates; else the number
        ``regularisation`` itself stands on both diagonals, as in the paper's study.
    """

    bags: int = 50
    per_bag: int = 3
    unequal: bool = False
    alike: bool = True
    regularisation: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.bags < 1 or self.per_bag < 1:
            raise InputError(f"{self.bags} bags of {self.per_bag} points were asked for: give at least one of each.")
        if not self.regularisation > 0:
            raise InputError(f"The regularisation is {self.regularisation}: give a positive number.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class BagSample:
    """Bags of x (N, 1) with one mediator y (B, 1) each, and the kernels at median-heuristic lengthscales."""

    bags: Bags
    mediators: Float[Tensor, "B 1"]
    kernel: KernelSpec
    mediator_kernel: KernelSpec


@dataclass(frozen=True)
class Comparison:
    """Both estimates on a grid: ``at`` x and y (G,), ``standard`` and ``shrinkage`` embeddings μ(x, y) (G, G), rows x;
    ``regressions`` E[X | Y = y] by both and the truth (G,); ``difference`` the RMSE between the embeddings over the
    grid; ``seconds`` of each route, ``extrapolated`` whether the dense one was too large to be run."""

    x: Float[Tensor, " G"]
    y: Float[Tensor, " G"]
    standard: Float[Tensor, "G G"]
    shrinkage: Float[Tensor, "G G"]
    regressions: dict[str, Float[Tensor, " G"]]
    difference: float
    seconds: dict[str, float]
    extrapolated: bool


def sample_bags(layout: BagLayout) -> BagSample:
    """Draw the study's data; deterministic in ``layout``. Source: Chau et al. 2021, App. C.2."""
    generator = torch.Generator().manual_seed(layout.seed)

    def normal(count: int) -> Tensor:
        return torch.randn(count, generator=generator, dtype=torch.float64)

    y = normal(layout.bags) * 2**0.5
    sizes = torch.full((layout.bags,), layout.per_bag)
    if layout.unequal:
        share = torch.rand(layout.bags, generator=generator, dtype=torch.float64) ** 3
        total = layout.bags * layout.per_bag
        sizes = (1 + (total - layout.bags) * share / share.sum()).floor().long()
    bag = torch.repeat_interleave(torch.arange(layout.bags), sizes)
    x = y[bag] * torch.sin(y[bag]) + SPREAD * normal(len(bag))
    kernels = (
        KernelSpec((Term((Factor("rbf", (name,), (median_distance(values[:, None]),)),)),))
        for name, values in (("x", x), ("y", y))
    )
    k, ell = kernels
    return BagSample(Bags(x[:, None], bag, layout.bags), y[:, None], k, ell)


def _diagonals(layout: BagLayout, sample: BagSample) -> tuple[float, float]:
    """λ of the standard and of the shrinkage estimator, as they stand inside Nλ and Bλ."""
    if layout.alike:
        return layout.regularisation, layout.regularisation
    return layout.regularisation / len(sample.bags.inputs), layout.regularisation / layout.bags


def estimators(
    layout: BagLayout, sample: BagSample, queries: Float[Tensor, "G 1"]
) -> tuple[Float[Tensor, "B G"], Float[Tensor, "B G"]]:
    """Weights of the standard estimator (exact, at bag level) and of the shrinkage estimator at ``queries``."""
    ell = sample.mediator_kernel.build(("y",))
    with torch.no_grad():
        grams = MediatorGrams(
            evaluate(ell, sample.mediators, sample.mediators),
            evaluate(ell, sample.mediators, queries),
            sample.bags.sizes,
        )
        first, second = _diagonals(layout, sample)
        return replicated_weights(grams, first), shrinkage_weights(grams, second)


def dense_estimator(layout: BagLayout, sample: BagSample, queries: Float[Tensor, "G 1"]) -> Float[Tensor, "N G"]:
    """The standard estimator as written, labels replicated: ``(L + NλI)⁻¹ ℓ(y, ·)`` with N×N matrices."""
    ell, labels = sample.mediator_kernel.build(("y",)), sample.mediators[sample.bags.bag]
    with torch.no_grad():
        identity = torch.eye(len(labels), dtype=labels.dtype)
        total = len(labels) * _diagonals(layout, sample)[0]
        factor = linalg.cholesky(evaluate(ell, labels, labels) + total * identity, "mediator kernel matrix")
        return factor.solve(evaluate(ell, labels, queries))


def compare(layout: BagLayout) -> Comparison:
    """Both estimates of μ_{X|Y=y} on a grid of x and y, their difference, and the time each takes."""
    sample = sample_bags(layout)
    x = torch.linspace(*_range(sample.bags.inputs), GRID, dtype=torch.float64)
    y = torch.linspace(*_range(sample.mediators), GRID, dtype=torch.float64)
    standard, shrinkage = estimators(layout, sample, y[:, None])
    with torch.no_grad():
        sums = cross(sample.kernel.build(("x",)), sort_bags(sample.bags), x[:, None])
    means = sample.bags.mean(sample.bags.inputs)[:, 0]
    values = [sums.T @ standard, sums.T @ shrinkage]
    regressions = {"standard": means @ standard, "shrinkage": means @ shrinkage, "truth": y * torch.sin(y)}
    difference = float((values[0] - values[1]).square().mean().sqrt())
    seconds, extrapolated = _seconds(layout, sample, y[:, None])
    return Comparison(x, y, values[0], values[1], regressions, difference, seconds, extrapolated)


def _range(values: Tensor) -> tuple[float, float]:
    return float(values.min()), float(values.max())


def _seconds(layout: BagLayout, sample: BagSample, queries: Tensor) -> tuple[dict[str, float], bool]:
    """CPU seconds of the weights: N×N as written, the same numbers at bag level, shrinkage."""
    ell = sample.mediator_kernel.build(("y",))

    def grams() -> MediatorGrams:
        within = evaluate(ell, sample.mediators, sample.mediators)
        return MediatorGrams(within, evaluate(ell, sample.mediators, queries), sample.bags.sizes)

    first, second = _diagonals(layout, sample)
    points, part, scale = len(sample.bags.inputs), sample, 1.0
    if points > MOST_DENSE:
        keep = torch.arange(points)[:: -(-points // MOST_DENSE)]
        bags = Bags(sample.bags.inputs[keep], *_renumbered(sample.bags.bag[keep]))
        there = torch.unique(sample.bags.bag[keep])
        part = BagSample(bags, sample.mediators[there], sample.kernel, sample.mediator_kernel)
        scale = (points / len(keep)) ** 3
    with torch.no_grad():
        dense = scale * _cpu(lambda: dense_estimator(layout, part, queries))
        bag_level = _cpu(lambda: replicated_weights(grams(), first))
        shrunk = _cpu(lambda: shrinkage_weights(grams(), second))
    found = {"standard, N×N": dense, "standard, at bag level": bag_level, "shrinkage": shrunk}
    return found, scale > 1


def _renumbered(bag: Tensor) -> tuple[Tensor, int]:
    there, number = torch.unique(bag, return_inverse=True)
    return number, len(there)


def _cpu(work: Any) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin
