"""Standard against shrinkage estimation of a conditional mean embedding (Chau et al. 2021, App. C.2)."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.embeddings.conditional_mean import MediatorGrams, replicated_weights, shrinkage_weights
from deconditioning.embeddings.weighted_bags import BagEmbedding
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec, gaussian
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.defaults import median_distance
from deconditioning.observations import Bags
from deconditioning.plain_data import check_seed
from deconditioning.studies.conditional_means.settings import (
    PAPER_BAGS,
    PAPER_PER_BAG,
    PAPER_REGULARISATION,
    BagSettings,
)

_SPREAD = 0.5
#: The most points a layout may hold, and the most for which the N×N estimator is computed as written.
_MOST_POINTS = 100_000
MOST_DENSE = 5000
GRID = 60


@dataclass(frozen=True)
class BagLayout:
    """Data ``y ~ N(0, 2)``, ``x | y ~ N(y sin y, 0.5²)`` in bags.

    Parameters
    ----------
    bags, per_bag : how many bags and points a bag (their mean where sizes are unequal).
    unequal : sizes drawn at random, some bags many times larger than others, the total kept.
    alike : λ scaled alike, Nλ and Bλ on the two diagonals, so that equal bags give equal estimates; else the number
        ``regularisation`` itself stands on both diagonals.
    input_scale, mediator_scale : lengthscales of k and ℓ as multiples of the median heuristic's.
    """

    bags: int = PAPER_BAGS
    per_bag: int = PAPER_PER_BAG
    unequal: bool = False
    alike: bool = BagSettings.alike.default
    regularisation: float = PAPER_REGULARISATION
    seed: int = 0
    input_scale: float = BagSettings.input_scale.default
    mediator_scale: float = BagSettings.mediator_scale.default

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.bags < 1 or self.per_bag < 1:
            raise InputError(f"{self.bags} bags of {self.per_bag} points were requested: give at least one of each.")
        if self.points > _MOST_POINTS:
            raise InputError(f"{self.points:,} points were requested: give at most {_MOST_POINTS:,} in all.")
        for name in ("regularisation", "input_scale", "mediator_scale"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"`{name}` is {value}: give a positive number.")

    @property
    def points(self) -> int:
        """N, all points together."""
        return self.bags * self.per_bag

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)


@dataclass(frozen=True)
class BagSample:
    """Bags of x (N, 1), sorted, with one mediator y (B, 1) each, and the Gaussian kernels on both."""

    sorted_bags: SortedBags
    mediators: Float[Tensor, "B 1"]
    kernel: KernelSpec
    mediator_kernel: KernelSpec

    @property
    def bags(self) -> Bags:
        """The bags, points in bag order."""
        return self.sorted_bags.bags

    @property
    def lengthscales(self) -> tuple[float, float]:
        """Of k and of ℓ."""
        k, ell = (spec.terms[0].factors[0].lengthscales[0] for spec in (self.kernel, self.mediator_kernel))
        return k, ell


@dataclass(frozen=True)
class Comparison:
    """Both estimates on a grid of x and y (G,).

    ``standard``, ``shrinkage`` and ``truth`` hold μ(x, y) (G, G), rows x; ``regressions`` E[X | Y = y] of the same
    three names (G,); ``difference`` is the RMSE between the two estimates of μ over the grid, ``distance`` their
    largest distance in the RKHS (None above 5,000 points: it costs N² kernel values); ``regression_rmse`` and
    ``embedding_rmse`` are errors against the truth, by estimate.
    """

    x: Float[Tensor, " G"]
    y: Float[Tensor, " G"]
    standard: Float[Tensor, "G G"]
    shrinkage: Float[Tensor, "G G"]
    truth: Float[Tensor, "G G"]
    regressions: dict[str, Float[Tensor, " G"]]
    difference: float
    distance: float | None
    regression_rmse: dict[str, float]
    embedding_rmse: dict[str, float]


def sample_bags(layout: BagLayout) -> BagSample:
    """Draw the study's data; deterministic in ``layout``. Source: Chau et al. 2021, App. C.2."""
    generator = torch.Generator().manual_seed(layout.seed)

    def normal(count: int) -> Tensor:
        """``count`` standard normal numbers."""
        return torch.randn(count, generator=generator, dtype=torch.float64)

    y = normal(layout.bags) * 2**0.5
    sizes = torch.full((layout.bags,), layout.per_bag)
    if layout.unequal:
        share = torch.rand(layout.bags, generator=generator, dtype=torch.float64) ** 3
        sizes = 1 + _shared_out(layout.points - layout.bags, share, generator)
    bag = torch.repeat_interleave(torch.arange(layout.bags), sizes)
    x = conditional_mean(y[bag]) + _SPREAD * normal(len(bag))
    bags = sort_bags(Bags(x[:, None], bag, layout.bags))
    k = _gaussian("x", x, layout.input_scale)
    return BagSample(bags, y[:, None], k, _gaussian("y", y, layout.mediator_scale))


def conditional_mean(y: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """``E[X | Y = y] = y sin y``."""
    return y * torch.sin(y)


def true_embedding(x: Float[Tensor, " P"], y: Float[Tensor, " G"], lengthscale: float) -> Float[Tensor, "P G"]:
    """``E[k(x, X) | Y = y]`` of a Gaussian k with lengthscale s and ``X ~ N(m, v)``, ``m = y sin y``, ``v = 0.5²``.

    A Gaussian smoothed by a Gaussian: ``s/√(s² + v) · exp(−(x − m)²/(2(s² + v)))``.
    """
    width = lengthscale**2 + _SPREAD**2
    square = (x[:, None] - conditional_mean(y)) ** 2
    return lengthscale / math.sqrt(width) * torch.exp(-square / (2 * width))


def _gaussian(name: str, values: Tensor, scale: float) -> KernelSpec:
    return gaussian((name,), (scale * median_distance(values[:, None]),))


def _shared_out(count: int, share: Tensor, generator: torch.Generator) -> Tensor:
    """``count`` points given out at random, in proportion to ``share``."""
    if not count:
        return torch.zeros(len(share), dtype=torch.long)
    drawn = torch.multinomial(share, count, replacement=True, generator=generator)
    return torch.bincount(drawn, minlength=len(share))


def diagonals(layout: BagLayout) -> tuple[float, float]:
    """λ of the standard and of the shrinkage estimator, as they stand inside Nλ and Bλ."""
    if layout.alike:
        return layout.regularisation, layout.regularisation
    return layout.regularisation / layout.points, layout.regularisation / layout.bags


def estimators(
    layout: BagLayout, sample: BagSample, queries: Float[Tensor, "G 1"]
) -> tuple[Float[Tensor, "B G"], Float[Tensor, "B G"]]:
    """Weights of the standard estimator (exact, at bag level) and of the shrinkage estimator at ``queries``."""
    first, second = diagonals(layout)
    grams = mediator_grams(sample, queries)
    return replicated_weights(grams, first), shrinkage_weights(grams, second)


def mediator_grams(sample: BagSample, queries: Float[Tensor, "G 1"]) -> MediatorGrams:
    """``L`` over the bags and ``ℓ`` between bags and queries."""
    ell = sample.mediator_kernel.build(("y",))
    with torch.no_grad():
        within, across = evaluate(ell, sample.mediators, sample.mediators), evaluate(ell, sample.mediators, queries)
    return MediatorGrams(within, across, sample.bags.sizes)


def dense_estimator(layout: BagLayout, sample: BagSample, queries: Float[Tensor, "G 1"]) -> Float[Tensor, "N G"]:
    """The standard estimator as written, labels replicated: ``(L + NλI)⁻¹ ℓ(y, ·)`` with N×N matrices."""
    if layout.points > MOST_DENSE:
        raise InputError(
            f"The N×N estimator of {layout.points:,} points needs {8e-9 * layout.points**2:.1f} GB for its matrix: it "
            f"is computed up to {MOST_DENSE:,} points; the bag-level form gives the same numbers."
        )
    ell, labels = sample.mediator_kernel.build(("y",)), sample.mediators[sample.bags.bag]
    with torch.no_grad():
        identity = torch.eye(len(labels), dtype=labels.dtype)
        total = len(labels) * diagonals(layout)[0]
        factor = linalg.cholesky(evaluate(ell, labels, labels) + total * identity, "mediator kernel matrix")
        return factor.solve(evaluate(ell, labels, queries))


def embeddings(
    layout: BagLayout, sample: BagSample, queries: Float[Tensor, "G 1"]
) -> tuple[BagEmbedding, BagEmbedding]:
    """The standard and the shrinkage estimate of μ_{X|Y=y} at each query y."""
    kernel = sample.kernel.build(("x",))
    standard, shrinkage = estimators(layout, sample, queries)
    bags = sample.sorted_bags
    return BagEmbedding(kernel, bags, standard), BagEmbedding(kernel, bags, shrinkage)


def compare(layout: BagLayout) -> Comparison:
    """Both estimates of μ_{X|Y=y} on a grid of x and y, against each other and against the truth."""
    sample = sample_bags(layout)
    x, y = _grid(sample.bags.inputs), _grid(sample.mediators)
    standard, shrinkage = embeddings(layout, sample, y[:, None])
    values = {"standard": standard.at(x[:, None]), "shrinkage": shrinkage.at(x[:, None])}
    inputs = sample.bags.inputs[:, 0]
    lines = {"standard": standard.expectation(inputs), "shrinkage": shrinkage.expectation(inputs)}
    truth, line = true_embedding(x, y, sample.lengthscales[0]), conditional_mean(y)
    return Comparison(
        x,
        y,
        **values,
        truth=truth,
        regressions={**lines, "truth": line},
        difference=_rmse(values["standard"], values["shrinkage"]),
        distance=float(standard.distance(shrinkage).max()) if layout.points <= MOST_DENSE else None,
        regression_rmse={name: _rmse(result, line) for name, result in lines.items()},
        embedding_rmse={name: _rmse(result, truth) for name, result in values.items()},
    )


def _grid(values: Tensor) -> Tensor:
    return torch.linspace(float(values.min()), float(values.max()), GRID, dtype=torch.float64)


def _rmse(left: Tensor, right: Tensor) -> float:
    return float((left - right).square().mean().sqrt())
