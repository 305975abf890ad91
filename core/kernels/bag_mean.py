"""Bag-mean kernel sums, tiled: memory is bounded by the tile, results do not depend on it.

``K̄_ij = Σ_{l∈i, r∈j} w_l w_r k(x_l, x_r)`` and ``c_j(x) = Σ_{i∈j} w_i k(x, x_i)``
(Chau et al. 2021, eq. 8-10 at bag level).

Gradients: sums of products of radial kernels keep all derivatives from one pass; other kernels, and derivatives too
many to keep, are evaluated again in the backward pass.
"""

from collections.abc import Callable

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from core.kernels.blocks import Block, SortedBags
from core.kernels.differentiable import OnePass, Piece, Recomputed, assemble
from core.kernels.gram_gradients import (
    cross_with_gradients,
    diagonal_with_gradients,
    fits,
    gram_with_gradients,
    leaves,
)
from core.kernels.tiles import evaluate

#: Entries of one kernel tile (float64: 8 MB each; a few are alive at a time).
TILE = 1 << 20

Check = Callable[[], None]


def never() -> None:
    """The default cancel check: nothing to do."""


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


def _parameters(kernel: gpytorch.kernels.Kernel) -> list[Tensor]:
    """What a gradient is wanted for; empty where none is."""
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
    pieces = []
    for i, row in enumerate(bags.blocks):
        for column in bags.blocks[i:]:
            pieces.append(_gram_piece(kernel, bags, row, column, tile, check))
    return _differentiable(kernel, pieces, (count, count), bags.bags.inputs)


def _gram_piece(kernel, bags: SortedBags, row: Block, column: Block, tile: int, check: Check) -> Piece:
    def compute() -> Tensor:
        check()
        return _mean_tile(kernel, bags, row, column, tile)

    return Piece((slice(row.first, row.last), slice(column.first, column.last)), compute, mirrored=row is not column)


def diagonal(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, *, tile: int = TILE, check: Check = never
) -> Float[Tensor, " B"]:
    """``K̄_jj`` (B,), the prior variance of each bag's mean, differentiable; cost grows with the blocks' size."""
    if _parameters(kernel) and fits(kernel, bags.bags.count):
        return OnePass.apply(lambda: diagonal_with_gradients(kernel, bags, tile, check), *leaves(kernel))

    def piece(block: Block) -> Piece:
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
) -> Float[Tensor, "B P"]:
    """``c_j(x)`` (B, P) for every bag and every row of ``inputs``; no gradient."""
    return assemble(_cross_pieces(kernel, bags, inputs, tile, check), (bags.bags.count, len(inputs)), inputs)


def cross_with_gradient(
    kernel: gpytorch.kernels.Kernel,
    bags: SortedBags,
    inputs: Float[Tensor, "P d"],
    *,
    tile: int = TILE,
    check: Check = never,
) -> Float[Tensor, "B P"]:
    """``c_j(x)`` (B, P), differentiable in the kernel's parameters, and in ``inputs`` where they ask for it."""
    shape = (bags.bags.count, len(inputs))
    if _parameters(kernel) and not inputs.requires_grad and fits(kernel, shape[0] * shape[1]):
        return OnePass.apply(lambda: cross_with_gradients(kernel, bags, inputs, tile, check), *leaves(kernel))
    others = [inputs] if inputs.requires_grad else []
    return _differentiable(kernel, _cross_pieces(kernel, bags, inputs, tile, check), shape, inputs.detach(), *others)


def _cross_pieces(
    kernel: gpytorch.kernels.Kernel, bags: SortedBags, inputs: Tensor, tile: int, check: Check
) -> list[Piece]:
    def piece(block: Block, begin: int, end: int) -> Piece:
        def compute() -> Tensor:
            check()
            return bags.membership(block) @ evaluate(kernel, bags.inputs(block), inputs[begin:end])

        return Piece((slice(block.first, block.last), slice(begin, end)), compute)

    pieces = []
    for block in bags.blocks:
        step = _chunk(block.stop - block.start, tile)
        pieces += [piece(block, begin, min(begin + step, len(inputs))) for begin in range(0, len(inputs), step)]
    return pieces
