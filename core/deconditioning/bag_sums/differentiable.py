"""Two ways to differentiate a tiled sum: storing derivatives from one pass, or evaluating tiles again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor


class OnePass(torch.autograd.Function):
    """A sum whose derivatives come with it: ``compute()`` gives the sum (…) and its slopes (p, …) in ``values``."""

    @staticmethod
    def forward(ctx: Any, compute: Callable[[], tuple[Tensor, Tensor]], *values: Tensor) -> Tensor:
        """The sum; its slopes are kept."""
        total, slopes = compute()
        ctx.shapes = [value.shape for value in values]
        ctx.save_for_backward(slopes)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """``Σ gradient · slope`` for every number."""
        (slopes,) = ctx.saved_tensors
        flat = (slopes.flatten(1) @ gradient.flatten()).split([shape.numel() for shape in ctx.shapes])
        return None, *(part.reshape(shape) for part, shape in zip(flat, ctx.shapes, strict=True))


@dataclass(frozen=True)
class Piece:
    """A part of a sum: where it stands in the output, how to evaluate it, and its mirror image where it has one."""

    where: tuple[slice, ...]
    compute: Callable[[], Tensor]
    mirrored: bool = False


class Recomputed(torch.autograd.Function):
    """A sum in pieces of bounded size; the backward pass evaluates each piece again."""

    @staticmethod
    def forward(ctx: Any, pieces: list[Piece], shape: tuple[int, ...], like: Tensor, *parameters: Tensor) -> Tensor:
        """The sum, put together from its pieces."""
        ctx.saved = (pieces, parameters)
        return assemble(pieces, shape, like)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Any, ...]:
        """Gradients in ``parameters``, piece by piece."""
        pieces, parameters = ctx.saved
        totals = [torch.zeros_like(p) for p in parameters]
        for piece in pieces:
            with torch.enable_grad():
                part = piece.compute()
            weight = gradient[piece.where]
            if piece.mirrored:
                weight = weight + gradient[piece.where[::-1]].T
            for total, change in zip(totals, torch.autograd.grad(part, parameters, weight), strict=True):
                total += change
        return None, None, None, *totals


def assemble(pieces: list[Piece], shape: tuple[int, ...], like: Tensor) -> Tensor:
    """The sum put together from its pieces, without gradient."""
    out = like.new_empty(shape)
    with torch.no_grad():
        for piece in pieces:
            part = piece.compute()
            out[piece.where] = part
            if piece.mirrored:
                out[piece.where[::-1]] = part.T
    return out
