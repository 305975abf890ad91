"""``K̄`` during learning: kernels of the coordinates over every pixel by radii, degenerate terms by their features, all
others over few points per bag.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.blocks import SortedBags, sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.radii import RadialTable
from deconditioning.bag_sums.routes import Layout, by_features, by_radii
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import features_of, in_column, part_of, product_of
from deconditioning.observations import Bags

#: ``K̄`` (B, B) of a kernel, differentiable in its parameters.
BagGram = Callable[[gpytorch.kernels.Kernel], Tensor]


def over_pairs(bags: Bags, check: Check = never) -> BagGram:
    """``K̄`` over every pair of points."""
    ordered = sort_bags(bags)
    return lambda kernel: torch.stack(list(over_points(kernel, range(len(kernel.kernels)), ordered, check))).sum(0)


def over_points(
    kernel: gpytorch.kernels.Kernel, terms: Iterable[int], bags: SortedBags, check: Check
) -> Iterator[Tensor]:
    """``K̄`` of some terms of a kernel: of degenerate ones through the bag means of their features, then of all others
    together."""
    pairs: tuple[int, ...] = ()
    for index in terms:
        term = kernel.kernels[index]
        if by_features([factor.family for factor in term.base_kernel.kernels]):
            means = bags.bags.mean(features_of(term, bags.bags.inputs))
            yield term.outputscale * (means @ means.T)
        else:
            pairs += (index,)
    if pairs:
        yield gram(part_of(kernel, pairs), bags, check=check)


def at_radii(kernel: gpytorch.kernels.Kernel, radii: Float[Tensor, " R"], axis: int) -> Float[Tensor, " R"]:
    """Values of an isotropic kernel, a product of factors on the same columns of which ``axis`` is one."""
    there = in_column(radii, axis, 1 + max(int(factor.active_dims.max()) for factor in kernel.kernels))
    return product_of(kernel, there, torch.zeros_like(there[:1]))[:, 0]


@dataclass(frozen=True)
class MovingGram:
    """``K̄`` of any kernel that a specification can become.

    ``tabulated`` says which of its terms go by the ``table`` of distances on the columns ``axes``; ``few`` are the
    points that the others are summed over.
    """

    tabulated: tuple[bool, ...]
    table: RadialTable
    axes: tuple[int, ...]
    few: SortedBags
    check: Check = never

    def __call__(self, kernel: gpytorch.kernels.Kernel) -> Float[Tensor, "B B"]:
        """``K̄`` (B, B)."""
        rest = [index for index, known in enumerate(self.tabulated) if not known]
        result = list(over_points(kernel, rest, self.few, self.check))
        for term, known in zip(kernel.kernels, self.tabulated, strict=True):
            if known:
                self.check()
                result.append(
                    term.outputscale * self.table.gram(at_radii(term.base_kernel, self.table.radii, self.axes[0]))
                )
        return torch.stack(result).sum(0)

    def only(self, bags: Int[Tensor, " m"]) -> "MovingGram":
        """That of these bags alone, in that order."""
        return replace(self, table=self.table.only(bags), few=sort_bags(self.few.bags.subset(bags)))


def moving_gram(
    kernel: KernelSpec, few: Bags, table: Callable[[], RadialTable | None], layout: Layout | None,
    names: tuple[str, ...], check: Check = never,
) -> MovingGram | None:  # fmt: skip
    """By radii what may go so, the rest over the ``few`` points of the same bags; None if nothing may.

    The ``table`` of their distances in the layout is asked for where it is needed; ``names`` are the columns of inputs.
    """
    tabulated = tuple(by_radii(term, layout, names) for term in kernel.terms)
    if layout is None or not any(tabulated):
        return None
    result = table()
    return None if result is None else MovingGram(tabulated, result, layout.axes, sort_bags(few), check)
