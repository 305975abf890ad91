"""Bag sums through a few weighted points a bag, in float32: for a picture that a moving slider waits for.

Rounding is 1e-6 of the kernel's variance (at lengthscales far below the data's spread up to 1e-3), the error of
standing in for all points of a bag far larger; K̄ itself is summed in float64, since it is factorised.
"""

import math
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from core.device import one_thread
from core.kernels.bag_mean import Check, gram, never
from core.kernels.blocks import sort_bags
from core.kernels.pixel_sums import TermSums
from core.kernels.spec import Factor, KernelSpec, Term
from core.kernels.tiles import diagonal, evaluate
from core.observations import Bags

#: Pixels at a time: tiles of some thousand points stay in a processor's cache.
PIXELS = 256
_SMOOTHNESS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


@dataclass(frozen=True)
class FewPoints:
    """Bags of about equally few points, laid out so that the i-th points of all bags stand together.

    ``inputs`` (q·B, d), ``weights`` (q·B,), zero where a bag has fewer than q points; ``bags`` as they were given.
    """

    inputs: Float[Tensor, "qB d"]
    weights: Float[Tensor, " qB"]
    bags: Bags


def few_points(bags: Bags) -> FewPoints:
    """Lay out bags; meant for those that ``core.kernels.coreset`` makes, whose largest bag decides the cost."""
    order = torch.argsort(bags.bag, stable=True)
    bag = bags.bag[order]
    sizes = torch.bincount(bag, minlength=bags.count)
    starts = torch.cumsum(sizes, 0) - sizes
    rank = torch.arange(len(bag), device=bag.device) - starts[bag]
    slots = int(sizes.max()) * bags.count
    inputs = bags.inputs.new_zeros(slots, bags.inputs.shape[1])
    weights = bags.weights.new_zeros(slots)
    inputs[rank * bags.count + bag] = bags.inputs[order]
    weights[rank * bags.count + bag] = bags.weights[order]
    return FewPoints(inputs, weights, bags)


def each(work: Callable[[int], None], items: Iterable[int]) -> None:
    """Do the work of every item on up to four threads, torch itself on one in each.

    Threads that fetch tiles one by one do not wait for each other as those inside an operation do; where other
    programs want the same cores, that is the difference between one second and ten.
    """
    with one_thread(), ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        for _ in pool.map(work, items):
            pass


def few_point_sums(
    term: Term, names: tuple[str, ...], few: FewPoints, inputs: Float[Tensor, "P d"], *, check: Check = never
) -> TermSums:
    """Sums of one term (its scale ignored): ``c_j(x) = Σ_{i∈j} w_i k(x, x_i)`` float32, ``K̄`` float64.

    ``names`` are the columns of ``inputs``. Families without a formula here are evaluated by gpytorch, in float32.
    """
    unit = KernelSpec((Term(term.factors),))
    kernel = unit.build(names).to(inputs.device)
    count = few.bags.count
    weights = few.weights.float()[:, None]
    cross = torch.empty(count, len(inputs), dtype=torch.float32, device=inputs.device)
    with torch.no_grad():
        bag_gram, prior = gram(kernel, sort_bags(few.bags)), diagonal(kernel, inputs)
        tile = _tiles(term, names, kernel, few.inputs, inputs)

    def fill(begin: int) -> None:
        check()
        with torch.no_grad():
            part = tile(begin, min(begin + PIXELS, len(inputs))).mul_(weights)
            torch.sum(part.view(-1, count, part.shape[1]), 0, out=cross[:, begin : begin + PIXELS])

    each(fill, range(0, len(inputs), PIXELS))
    return TermSums(cross, bag_gram, prior.float(), "few points")


def _tiles(term: Term, names: tuple[str, ...], kernel, points: Tensor, inputs: Tensor):
    """A function of a range of pixels that gives the kernel between all points and these."""
    if any(factor.family not in ("rbf", "rational_quadratic", *_SMOOTHNESS) for factor in term.factors):
        single, left, right = kernel.float(), points.float(), inputs.float()
        return lambda begin, end: evaluate(single, left, right[begin:end])
    sides = [_sides(factor, names, points, inputs) for factor in term.factors]

    def tile(begin: int, end: int) -> Tensor:
        value = None
        for factor, (left, right) in zip(term.factors, sides, strict=True):
            part = _profile(factor, left @ right[:, begin:end])
            value = part if value is None else value.mul_(part)
        assert value is not None
        return value

    return tile


def _sides(factor: Factor, names: tuple[str, ...], points: Tensor, inputs: Tensor) -> tuple[Tensor, Tensor]:
    """Two matrices whose product is the scaled squared distance, ``[−2u, ‖u‖², 1] [v; 1; ‖v‖²]``."""
    columns = [names.index(name) for name in factor.columns]
    scale = torch.tensor(factor.lengthscales, dtype=inputs.dtype, device=inputs.device)
    middle = points[:, columns].mean(0)
    u, v = ((x[:, columns] - middle) / scale for x in (points, inputs))
    long, wide = u.square().sum(1, keepdim=True), v.square().sum(1, keepdim=True)
    left = torch.cat([-2 * u, long, torch.ones_like(long)], dim=1)
    right = torch.cat([v, torch.ones_like(wide), wide], dim=1)
    return left.float(), right.T.float().contiguous()


def _profile(factor: Factor, square: Tensor) -> Tensor:
    """The factor at scaled squared distances, which are overwritten."""
    square.clamp_min_(0)
    if factor.family == "rbf":
        return square.mul_(-0.5).exp_()
    if factor.family == "rational_quadratic":
        return square.div_(2 * factor.alpha).add_(1).pow_(-factor.alpha)
    nu = _SMOOTHNESS[factor.family]
    distance = square.sqrt_().mul_(math.sqrt(2 * nu))
    decay = torch.neg(distance).exp_()
    if nu == 0.5:
        return decay
    if nu == 1.5:
        return torch.addcmul(decay, distance, decay)
    return torch.addcmul(decay, distance, decay).addcmul_(distance.square_(), decay, value=1 / 3)
