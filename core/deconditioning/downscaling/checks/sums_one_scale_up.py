"""K̄ of the cells one scale up, and of the merged bags that they form."""

from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.distances import over_many
from deconditioning.bag_sums.moving import BagGram, over_pairs
from deconditioning.downscaling.checks.problem_one_scale_up import ProblemOneScaleUp
from deconditioning.downscaling.learning_data import Tabulates, on_every_pixel
from deconditioning.downscaling.starting import columns_of
from deconditioning.errors import Check
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import TermBags, bags_of_terms, block_diagonal


@dataclass(frozen=True)
class Part:
    """K̄ of the cells (n, n) for one part of the kernel, with what each of them has of every larger bag that it goes
    through; and K̄ of the ``members`` alone, the cells of which larger bags are made."""

    bags: TermBags
    cells: BagGram
    shares: Float[Tensor, "n G"]
    members: Int[Tensor, " m"]
    of_members: BagGram

    def of_larger(self, kernel: gpytorch.kernels.Kernel) -> Float[Tensor, "G G"]:
        """``AᵀK̄A``: K̄ of larger bags, which are averages A of cells."""
        shares = self.shares[self.members]
        return shares.T @ self.of_members(kernel) @ shares


@dataclass(frozen=True)
class Cells:
    """K̄ of the cells and of larger bags made of them, the parts of the kernel below each other."""

    parts: tuple[Part, ...]

    @property
    def of_larger(self) -> BagGram:
        """K̄ of the larger bags."""
        return block_diagonal([(part.bags, part.of_larger) for part in self.parts])

    def across(self, kernel: gpytorch.kernels.Kernel) -> tuple[Float[Tensor, "G n"], Float[Tensor, " n"]]:
        """K̄ of larger bags and cells, and the prior variances of cells."""
        between = [part.cells(kernel if len(self.parts) == 1 else part.bags.built(kernel)) for part in self.parts]
        rows = [part.shares.T @ gram for gram, part in zip(between, self.parts, strict=True)]
        return torch.cat(rows), torch.stack([gram.diagonal() for gram in between]).sum(0)


def cells_of(
    scene: ProblemOneScaleUp, spec: ModelSpec, problem: DownscalingProblem, check: Check, table: Tabulates | None = None
) -> Cells:
    """K̄ of the cells as a model sees them; terms of the place go by the ``table`` of the cells' distances, if given."""

    def part_of(part: TermBags, terms: KernelSpec, shares: Tensor | None) -> Part:
        """K̄ of the cells for one part of the kernel."""
        assert shares is not None
        members = torch.nonzero(shares.sum(1))[:, 0]
        every = (
            None if table is None else on_every_pixel(problem, replace(spec, kernel=terms), scene.cells, table, check)
        )
        if len(members) == len(shares):
            both = every or over_many(scene.cells, check)
            return Part(part, both, shares, members, both)
        if every is not None:
            return Part(part, every, shares, members, every.only(members))
        alone = over_many(scene.cells.subset(members), check)
        return Part(part, over_pairs(scene.cells, check), shares, members, alone)

    parts = bags_of_terms(spec, scene.data, columns_of(problem).place)
    if len(parts) == 1:
        return Cells((part_of(parts[0], spec.kernel, scene.shares),))
    shares = scene.shares, scene.target_shares
    return Cells(tuple(part_of(part, part.of(spec.kernel), each) for part, each in zip(parts, shares, strict=True)))
