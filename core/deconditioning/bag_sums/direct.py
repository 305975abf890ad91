"""Bag-mean kernel sums in tiles: the tile size bounds the memory and does not affect the result.

``K̄_ij = Σ_{l∈i, r∈j} w_l w_r k(x_l, x_r)`` and ``c_j(x) = Σ_{i∈j} w_i k(x, x_i)`` (Chau et al. 2021, eq. 8-10 at bag
level).

Gradients: for sums of products of radial kernels one pass gives all derivatives; for other kernels, or if the
derivatives do not fit into memory, tiles are evaluated again in the backward pass.
"""

from collections.abc import Callable

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.blocks import Block, SortedBags
from deconditioning.bag_sums.differentiable import OnePass, Piece, Recomputed, assemble
from deconditioning.bag_sums.gradients import (
    cross_with_gradients,
    diagonal_with_gradients,
    fits,
    gaussian_gram,
    gram_with_gradients,
    is_gaussian,
    leaves,
)
from deconditioning.errors import Check, never
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.tiles import evaluate, part_of

#: Entries of one kernel tile (float64: 4 MB each; a few are alive at a time).
TILE = 1 << 19

_Evaluate = Callable[[int, int], Tensor]


def _chunk(rows: int, tile: int) -> int:
    return max(1, tile // max(1, rows))


def _mean_tile(tiles: _Evaluate, bags: SortedBags, row: Block, column: Block, tile: int) -> Tensor:
    """``K̄`` of one pair of blocks (b, b′), its columns taken in chunks where the tile is too small.

    ``tiles(begin, end)`` evaluates the kernel between the row block and points ``begin … end−1``.
    """
    weights, left, total = bags.membership(column), bags.membership(row), None
    step = _chunk(row.stop - row.start, tile)
    for begin in range(column.start, column.stop, step):
        end = min(begin + step, column.stop)
        mean = (left @ tiles(begin, end)) @ weights[:, begin - column.start : end - column.start].T
        total = mean if total is None else total + mean
    assert total is not None
    return total


def _parameters(kernel: gpytorch.kernels.Kernel) -> list[Tensor]:
    """What a gradient is wanted for; empty if none is."""
    return [p for p in kernel.parameters() if p.requires_grad] if torch.is_grad_enabled() else []


def _differentiable(
    kernel: gpytorch.kernels.Kernel, pieces: list[Piece], shape: tuple[int, ...], like: Tensor, *others: Tensor
) -> Tensor:
    """A sum from its pieces, with the gradient in the kernel's parameters (and ``others``) where it is wanted."""
    parameters = [*_parameters(kernel), *others]
    return Recomputed.apply(pieces, shape, like, *parameters) if parameters else assemble(pieces, shape, like)


def gram(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, *, tile: int = TILE, check: Check = never
) -> Float[Tensor, "B B"]:
    """``K̄`` (B, B), differentiable in the kernel's parameters; ``check`` runs before every tile."""
    count = bags.bags.count
    if _parameters(kernel) and fits(kernel, count**2):
        return OnePass.apply(lambda: gram_with_gradients(kernel, bags, tile, check), *leaves(kernel))
    if not _parameters(kernel):
        return _without_gradient(kernel, bags, tile, check)
    pieces = []
    for i, row in enumerate(bags.blocks):
        for column in bags.blocks[i:]:
            pieces.append(_gram_piece(kernel, bags, row, column, tile, check))
    return _differentiable(kernel, pieces, (count, count), bags.bags.inputs)


def _without_gradient(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, tile: int, check: Check
) -> Float[Tensor, "B B"]:
    """``K̄`` without gradient: Gaussian terms of bags of about the same size by products of matrices, the rest by
    tiles."""
    even = bags.even if any(is_gaussian(term) for term in kernel.kernels) else None
    if even is None:
        return _plain_gram(kernel, bags, tile, check)
    grams = [gaussian_gram(term, even, check) if is_gaussian(term) else None for term in kernel.kernels]
    rest = tuple(index for index, each in enumerate(grams) if each is None)
    parts = [each for each in grams if each is not None]
    parts += [_plain_gram(part_of(kernel, rest), bags, tile, check)] if rest else []
    return parts[0] if len(parts) == 1 else torch.stack(parts).sum(0)


def _plain_gram(kernel: gpytorch.kernels.Kernel, bags: SortedBags, tile: int, check: Check) -> Float[Tensor, "B B"]:
    """``K̄`` without gradient: each row of blocks prepared once."""
    out = bags.bags.inputs.new_empty(bags.bags.count, bags.bags.count)
    for i, row in enumerate(bags.blocks):
        tiles = Tiles(kernel, bags.inputs(row), bags.bags.inputs[row.start :])

        def evaluated(begin: int, end: int, tiles: Tiles = tiles, start: int = row.start) -> Tensor:
            """Kernel values between the row's points and the points from ``begin`` to ``end``."""
            return tiles(slice(None), slice(begin - start, end - start))

        for column in bags.blocks[i:]:
            check()
            part = _mean_tile(evaluated, bags, row, column, tile)
            out[row.first : row.last, column.first : column.last] = part
            out[column.first : column.last, row.first : row.last] = part.T
    return out


def _gram_piece(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, row: Block, column: Block, tile: int, check: Check
) -> Piece:
    def evaluated(begin: int, end: int) -> Tensor:
        """Kernel values between the row's points and the points from ``begin`` to ``end``."""
        return evaluate(kernel, bags.inputs(row), bags.bags.inputs[begin:end])

    def compute() -> Tensor:
        """``K̄`` between the bags of the two blocks."""
        check()
        return _mean_tile(evaluated, bags, row, column, tile)

    return Piece((slice(row.first, row.last), slice(column.first, column.last)), compute, mirrored=row is not column)


def diagonal(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, *, tile: int = TILE, check: Check = never
) -> Float[Tensor, " B"]:
    """``K̄_jj`` (B,), the prior variance of each bag mean, differentiable; the cost grows with the
    size of the blocks.
    """
    if _parameters(kernel) and fits(kernel, bags.bags.count):
        return OnePass.apply(lambda: diagonal_with_gradients(kernel, bags, tile, check), *leaves(kernel))

    def piece(block: Block) -> Piece:
        """``K̄_jj`` of one block's bags, which all have one block size."""
        whole = _gram_piece(kernel, bags, block, block, tile, check)
        return Piece(whole.where[:1], lambda: whole.compute().diagonal())

    pieces = [piece(block) for block in bags.blocks]
    return _differentiable(kernel, pieces, (bags.bags.count,), bags.bags.inputs)


def cross(
    kernel: gpytorch.kernels.Kernel,
    bags: SortedBags,
    inputs: Float[Tensor, "P d"],
    *,
    tile: int = TILE,
    check: Check = never,
    precision: torch.dtype = torch.float64,
) -> Float[Tensor, "B P"]:
    """``c_j(x)`` (B, P) for every bag and every row of ``inputs``, without gradient.

    Kernel values are in ``precision``, sums in float64; float32 is for previews.
    """
    out = inputs.new_empty(bags.bags.count, len(inputs))
    for block in bags.blocks:
        tiles, membership = Tiles(kernel, bags.inputs(block), inputs, precision), bags.membership(block).to(precision)
        step = _chunk(block.stop - block.start, tile)
        for begin in range(0, len(inputs), step):
            check()
            columns = slice(begin, min(begin + step, len(inputs)))
            out[block.first : block.last, columns] = membership @ tiles(slice(None), columns)
    return out


def cross_with_gradient(
    kernel: gpytorch.kernels.Kernel,
    bags: SortedBags,
    inputs: Float[Tensor, "P d"],
    *,
    tile: int = TILE,
    check: Check = never,
) -> Float[Tensor, "B P"]:
    """``c_j(x)`` (B, P), differentiable in the kernel's parameters, and in ``inputs`` if they require it."""
    shape = (bags.bags.count, len(inputs))
    if _parameters(kernel) and not inputs.requires_grad and fits(kernel, shape[0] * shape[1]):
        return OnePass.apply(lambda: cross_with_gradients(kernel, bags, inputs, tile, check), *leaves(kernel))
    others = [inputs] if inputs.requires_grad else []
    return _differentiable(kernel, _cross_pieces(kernel, bags, inputs, tile, check), shape, inputs.detach(), *others)


def _cross_pieces(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, inputs: Tensor, tile: int, check: Check
) -> list[Piece]:
    def piece(block: Block, begin: int, end: int) -> Piece:
        """Bag sums of one block at the inputs from ``begin`` to ``end``."""

        def compute() -> Tensor:
            """The bag sums (bags of the block, end − begin)."""
            check()
            return bags.membership(block) @ evaluate(kernel, bags.inputs(block), inputs[begin:end])

        return Piece((slice(block.first, block.last), slice(begin, end)), compute)

    pieces = []
    for block in bags.blocks:
        step = _chunk(block.stop - block.start, tile)
        pieces += [piece(block, begin, min(begin + step, len(inputs))) for begin in range(0, len(inputs), step)]
    return pieces
