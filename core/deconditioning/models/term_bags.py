"""The bags of each term of k: the same for all, or the targets' own footprints for terms of the coordinates.

A model that mediates only part of f has ``f = f₁ + f₂``, independent, with f₂ a function of the coordinates alone.
``f̄`` then stacks the bag means of f₁ and the footprint means of f₂, and K̄ is block-diagonal.
"""

from collections.abc import Callable
from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.by_term import sees_only
from deconditioning.bag_sums.moving import BagGram, over_pairs
from deconditioning.errors import Check, InputError, never
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import part_of
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData


@dataclass(frozen=True)
class TermBags:
    """Bags, and the terms of a kernel that go through them, by their places in it."""

    bags: Bags
    terms: tuple[int, ...]

    def of(self, kernel: KernelSpec) -> KernelSpec:
        """These terms of a kernel."""
        return KernelSpec(tuple(kernel.terms[index] for index in self.terms))

    def built(self, kernel: gpytorch.kernels.Kernel) -> gpytorch.kernels.Kernel:
        """The same of one that is built, with its parameters."""
        return part_of(kernel, self.terms)


def _of_place(kernel: KernelSpec, place: tuple[str, ...]) -> tuple[int, ...]:
    """The terms that look at nothing but columns of the ``place``."""
    return tuple(index for index, term in enumerate(kernel.terms) if sees_only(term, place))


def separate_bags(spec: ModelSpec, place: tuple[str, ...], bags: Bags, footprints: Bags) -> tuple[TermBags, TermBags]:
    """What goes through the bags, and the terms of the place, which go through the footprints; ``InputError`` where
    either is nothing."""
    local = _of_place(spec.kernel, place)
    rest = tuple(index for index in range(len(spec.kernel.terms)) if index not in local)
    if not (local and rest):
        raise InputError(
            f"The model '{spec.model.name}' needs a term in location alone and a mediated term in the covariates: use "
            "both and add their kernels, or choose another model."
        )
    return TermBags(bags, rest), TermBags(footprints, local)


def bags_of_terms(spec: ModelSpec, data: IndirectData, place: tuple[str, ...]) -> tuple[TermBags, ...]:
    """The bags with the terms of ``spec.kernel`` seen through them, in the order of the rows of W."""
    if not spec.model.partial:
        return (TermBags(data.bags, tuple(range(len(spec.kernel.terms)))),)
    assert data.footprints is not None, "`check_matching` asks for footprints"
    return separate_bags(spec, place, data.bags, data.footprints)


def bag_gram_of(
    spec: ModelSpec, data: IndirectData, place: tuple[str, ...], check: Check = never,
    over: Callable[[Bags, Check], BagGram] = over_pairs,
) -> BagGram:  # fmt: skip
    """K̄ over every pair of points, for a kernel like that of ``spec`` at any hyperparameters; a part by ``over``."""
    return block_diagonal([(part, over(part.bags, check)) for part in bags_of_terms(spec, data, place)])


def block_diagonal(parts: list[tuple[TermBags, BagGram]]) -> BagGram:
    """K̄ of independent parts of a kernel, each with its own K̄, as blocks."""
    if len(parts) == 1:
        return parts[0][1]

    def gram(kernel: gpytorch.kernels.Kernel) -> Float[Tensor, "n n"]:
        """The block-diagonal K̄ of the whole kernel."""
        return torch.block_diag(*(over(part.built(kernel)) for part, over in parts))

    return gram
