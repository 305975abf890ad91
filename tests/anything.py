"""Any kernel, any bags, any settings: what properties are tried on."""

import torch
from hypothesis import strategies as some

from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags
from tests.core.models.small import normal

NAMES = ("a", "b", "c")

seeds = some.integers(0, 10**6)
positive = some.floats(1e-3, 1e3)


@some.composite
def factors(draw: some.DrawFn, names: tuple[str, ...] = NAMES) -> Factor:
    """A factor of any family on some of the columns, with one lengthscale or one a column."""
    kind = FAMILIES[draw(some.sampled_from(sorted(FAMILIES)))]
    columns = tuple(draw(some.lists(some.sampled_from(names), min_size=1, max_size=len(names), unique=True)))
    count = 0 if kind.without_scales else 1 if draw(some.booleans()) else len(columns)
    own = {each.name: draw(some.floats(each.low, each.high)) for each in kind.parameters}
    scales = tuple(draw(some.floats(0.05, 20.0)) for _ in range(count))
    return Factor(kind.name, columns, scales, own)


def kernels(names: tuple[str, ...] = NAMES, terms: int = 3) -> some.SearchStrategy[KernelSpec]:
    """Sums of up to three products of one or two factors."""
    products = some.lists(factors(names), min_size=1, max_size=2).map(tuple)
    each = some.builds(Term, products, positive)
    return some.lists(each, min_size=1, max_size=terms).map(lambda found: KernelSpec(tuple(found)))


@some.composite
def bags(draw: some.DrawFn, most: int = 5, largest: int = 6, columns: int = len(NAMES)) -> Bags:
    """Up to five bags of up to six points with weights of their own, in any order."""
    sizes = draw(some.lists(some.integers(1, largest), min_size=1, max_size=most))
    seed, count = draw(seeds), sum(sizes)
    order = torch.randperm(count, generator=torch.Generator().manual_seed(seed))
    bag = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))[order]
    return Bags(normal(count, columns, seed=seed), bag, len(sizes), weights=normal(count, seed=seed + 1).abs() + 0.05)
