"""Bag-mean kernel sums, tiled: memory is bounded by the tile, results do not depend on it.

``K̄_ij = Σ_{l∈i, r∈j} w_l w_r k(x_l, x_r)`` and ``c_j(x) = Σ_{i∈j} w_i k(x, x_i)``
(Chau et al. 2021, eq. 8-10 at bag level).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from core.kernels.gram_gradients import fits, gram_with_gradients, leaves
from core.kernels.tiles import evaluate
from core.observations import Bags

#: Entries of one kernel tile (float64: 8 MB each; a few are alive at a time).
TILE = 1 << 20

Check = Callable[[], None]


def _never() -> None:
    """The default cancel check: nothing to do."""


@dataclass(frozen=True)
class Block:
    """Consecutive bags ``first … last-1`` whose points are rows ``start … stop-1`` of the sorted inputs."""

    first: int
    last: int
    start: int
    stop: int


@dataclass(frozen=True)
class SortedBags:
    """Bags with their points in bag order, cut into blocks of at most about ``points`` points."""

    bags: Bags
    order: Tensor
    blocks: tuple[Block, ...]

    def membership(self, block: Block) -> Float[Tensor, "b n"]:
        """Aggregation weights of one block's bags over its points, dense (b, n)."""
        bag = self.bags.bag[block.start : block.stop] - block.first
        matrix = self.bags.inputs.new_zeros(block.last - block.first, block.stop - block.start)
        rows = torch.arange(len(bag), device=bag.device)
        matrix[bag, rows] = self.bags.weights[block.start : block.stop]
        return matrix

    def inputs(self, block: Block) -> Float[Tensor, "n d"]:
        """The block's points."""
        return self.bags.inputs[block.start : block.stop]


def sort_bags(bags: Bags, points: int = 512) -> SortedBags:
    """Sort points by bag and cut into blocks; a bag larger than ``points`` is a block of its own."""
    order = torch.argsort(bags.bag, stable=True)
    sorted_bags = replace(bags, inputs=bags.inputs[order], bag=bags.bag[order], weights=bags.weights[order])
    counts = torch.bincount(sorted_bags.bag, minlength=bags.count).tolist()
    blocks: list[Block] = []
    first = start = stop = 0
    for index, count in enumerate(counts):
        if stop > start and stop - start + count > points:
            blocks.append(Block(first, index, start, stop))
            first, start = index, stop
        stop += count
    blocks.append(Block(first, bags.count, start, stop))
    return SortedBags(sorted_bags, order, tuple(blocks))


def _chunk(rows: int, tile: int) -> int:
    return max(1, tile // max(1, rows))


def _mean_tile(kernel: gpytorch.kernels.Kernel, bags: SortedBags, row: Block, column: Block, tile: int) -> Tensor:
    """``K̄`` of one pair of blocks (b, b′), its columns taken in chunks where the tile is too small."""
    weights, inputs = bags.membership(column), bags.inputs(column)
    left, total = bags.membership(row), None
    step = _chunk(row.stop - row.start, tile)
    for begin in range(0, len(inputs), step):
        part = evaluate(kernel, bags.inputs(row), inputs[begin : begin + step])
        mean = (left @ part) @ weights[:, begin : begin + step].T
        total = mean if total is None else total + mean
    assert total is not None
    return total


class _Gram(torch.autograd.Function):
    """``K̄`` over the upper triangle of blocks; the backward pass evaluates each tile again."""

    @staticmethod
    def forward(ctx, kernel, bags, tile, check, *parameters):
        ctx.saved = (kernel, bags, tile, check, parameters)
        count = bags.bags.count
        gram = bags.bags.inputs.new_empty(count, count)
        for i, row in enumerate(bags.blocks):
            for column in bags.blocks[i:]:
                check()
                part = _mean_tile(kernel, bags, row, column, tile)
                gram[row.first : row.last, column.first : column.last] = part
                gram[column.first : column.last, row.first : row.last] = part.T
        return gram

    @staticmethod
    def backward(ctx, gradient):
        kernel, bags, tile, check, parameters = ctx.saved
        totals = [torch.zeros_like(p) for p in parameters]
        for i, row in enumerate(bags.blocks):
            for j, column in enumerate(bags.blocks[i:]):
                check()
                with torch.enable_grad():
                    part = _mean_tile(kernel, bags, row, column, tile)
                weight = gradient[row.first : row.last, column.first : column.last]
                if j:  # a block off the diagonal stands for its mirror image too
                    weight = weight + gradient[column.first : column.last, row.first : row.last].T
                for total, change in zip(totals, torch.autograd.grad(part, parameters, weight), strict=True):
                    total += change
        return None, None, None, None, *totals


class _GramOnePass(torch.autograd.Function):
    """``K̄`` with its derivatives kept from the same pass, so that the backward pass evaluates no kernel."""

    @staticmethod
    def forward(ctx, kernel, bags, tile, check, *values):
        total, slopes = gram_with_gradients(kernel, bags, tile, check)
        ctx.shapes = [value.shape for value in values]
        ctx.save_for_backward(slopes)
        return total

    @staticmethod
    def backward(ctx, gradient):
        (slopes,) = ctx.saved_tensors
        flat = torch.einsum("pij,ij->p", slopes, gradient).split([shape.numel() for shape in ctx.shapes])
        return None, None, None, None, *(part.reshape(shape) for part, shape in zip(flat, ctx.shapes, strict=True))


def gram(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, *, tile: int = TILE, check: Check = _never
) -> Float[Tensor, "B B"]:
    """``K̄`` (B, B), differentiable in the kernel's parameters; ``check`` runs before every tile.

    Sums of products of radial kernels keep all derivatives from one pass; other kernels, and derivatives too many to
    keep, are evaluated again in the backward pass.
    """
    parameters = [p for p in kernel.parameters() if p.requires_grad]
    if torch.is_grad_enabled() and parameters:
        if fits(kernel, bags.bags.count):
            return _GramOnePass.apply(kernel, bags, tile, check, *leaves(kernel))
        return _Gram.apply(kernel, bags, tile, check, *parameters)
    with torch.no_grad():
        return _Gram.forward(_Discard(), kernel, bags, tile, check)


class _Discard:
    """Stands in for autograd's context where no gradient is wanted."""


def cross(
    kernel: gpytorch.kernels.Kernel,
    bags: SortedBags,
    inputs: Float[Tensor, "P d"],
    *,
    tile: int = TILE,
    check: Check = _never,
) -> Float[Tensor, "B P"]:
    """``c_j(x)`` (B, P) for every bag and every row of ``inputs``; no gradient."""
    out = inputs.new_empty(bags.bags.count, len(inputs))
    with torch.no_grad():
        for block in bags.blocks:
            weights, points = bags.membership(block), bags.inputs(block)
            step = _chunk(len(points), tile)
            for begin in range(0, len(inputs), step):
                check()
                part = evaluate(kernel, points, inputs[begin : begin + step])
                out[block.first : block.last, begin : begin + step] = weights @ part
    return out
