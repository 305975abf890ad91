"""Bag sums through a few weighted points per bag in float32, for previews while a slider moves.

The rounding error is 1e-6 of the kernel's variance (up to 1e-3 at lengthscales far below the spread of the data); the
error of representing a bag by few points is far larger. K̄ is summed in float64 because it is factorised.
"""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.cross_sums import Product, Written
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.pixel_sums import PictureSums
from deconditioning.bag_sums.routes import Route, routes_of
from deconditioning.device import one_thread
from deconditioning.errors import Check, never
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import diagonal, features_of
from deconditioning.observations import Bags
from deconditioning.threads import usable_cores

#: Pixels at a time: tiles of some thousand points stay in a processor's cache.
_PIXELS = 256


@dataclass(frozen=True)
class FewPoints:
    """Bags of about equally few points, laid out so that the i-th points of all bags stand together.

    ``inputs`` (q·B, d), ``weights`` (q·B,), zero where a bag has fewer than q points; ``bags`` as they were given.
    """

    inputs: Float[Tensor, "qB d"]
    weights: Float[Tensor, " qB"]
    bags: Bags


def few_points(bags: Bags) -> FewPoints:
    """Lay out bags; meant for those that ``models.sparse.coreset`` makes, whose largest bag decides the cost."""
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
    with one_thread(), ThreadPoolExecutor(min(usable_cores(), 4)) as pool:
        for _ in pool.map(work, items):
            pass  # an exception of an item is raised here


def few_point_sums(
    term: Term, names: tuple[str, ...], few: FewPoints, inputs: Float[Tensor, "P d"], *, check: Check = never
) -> PictureSums:
    """Sums of one term (its scale ignored): ``c_j(x) = Σ_{i∈j} w_i k(x, x_i)`` float32, ``K̄`` float64.

    ``names`` are the columns of ``inputs``. The sums of a degenerate term are a product through its features.
    """
    unit = KernelSpec((Term(term.factors),))
    kernel = unit.build(names).to(inputs.device)
    if routes_of(term, None, names)[0] is Route.FEATURES:
        with torch.no_grad():
            means = few.bags.mean(features_of(kernel.kernels[0], few.bags.inputs))
            right = features_of(kernel.kernels[0], inputs).float().T.contiguous()
            prior = diagonal(kernel, inputs).float()
        return PictureSums(Product(means.float(), right), means @ means.T, prior, (Route.FEATURES.value,))
    count = few.bags.count
    weights = few.weights.float()[:, None]
    cross = torch.empty(count, len(inputs), dtype=torch.float32, device=inputs.device)
    with torch.no_grad():
        bag_gram, prior = gram(kernel, sort_bags(few.bags)), diagonal(kernel, inputs)
        tiles = Tiles(kernel, few.inputs, inputs, torch.float32)

    def fill(begin: int) -> None:
        """Write the sums of the pixels from ``begin`` on into ``cross``."""
        check()
        with torch.no_grad():
            part = tiles(slice(None), slice(begin, min(begin + _PIXELS, len(inputs)))).mul_(weights)
            torch.sum(part.view(-1, count, part.shape[1]), 0, out=cross[:, begin : begin + _PIXELS])

    each(fill, range(0, len(inputs), _PIXELS))
    return PictureSums(Written(cross), bag_gram, prior.float(), ("a few points a bag",))
