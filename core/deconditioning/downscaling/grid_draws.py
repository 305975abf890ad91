"""Draws of a stationary Gaussian field on a regular grid by circulant embedding, at the cost of an FFT."""

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.offsets import GridLayout
from deconditioning.errors import Check, never
from deconditioning.kernels.spec import KernelSpec, Term
from deconditioning.kernels.tiles import evaluate

#: How many times the grid a torus may be, each way, and which share of its spectrum may be cut off as negative.
_PADDINGS, NEGATIVE = (2, 4, 8), 1e-3
_MOST_CELLS = 4_000_000


@torch.no_grad()
def grid_draws(
    layout: object, term: Term, names: tuple[str, ...], like: Float[Tensor, "N d"], count: int,
    generator: torch.Generator, check: Check = never,
) -> Float[Tensor, "P D"] | None:  # fmt: skip
    """``count`` draws of one term at the points of a layout; None if the term is not a kernel of the grid's coordinates
    alone.

    On a torus the covariance is diagonal in the Fourier basis: with ``λ = FFT(k)``, ``Re`` and ``Im`` of ``FFT(√(λ/MN)
    (a + ib))`` are two independent draws for standard normal a, b. The torus is so large that λ is positive except for
    ``NEGATIVE`` of it, which is set to zero; None if none of ``_PADDINGS`` suffices. The covariance of the draws is k
    if nothing is cut, otherwise it differs by at most about ``NEGATIVE`` k(0). ``like`` gives type and device. Source:
    Dietrich and Newsam 1997, *Fast and exact simulation of stationary Gaussian processes through circulant embedding of
    the covariance matrix*.
    """
    columns = {names.index(name) for factor in term.factors for name in factor.columns}
    if not isinstance(layout, GridLayout) or columns != set(layout.axes):
        return None
    if not all(factor.kind.stationary for factor in term.factors):
        return None
    root = _root(layout, term, names, like)
    if root is None:
        return None
    height, width = layout.cells.shape
    result: list[Tensor] = []
    while len(result) < count:
        check()
        noise = torch.randn(2, *root.shape, generator=generator, dtype=root.dtype)
        field = torch.fft.fft2(root * torch.complex(noise[0], noise[1]))[:height, :width]
        result += [layout.cells.pick(part.contiguous()) for part in (field.real, field.imag)]
    return torch.stack(result[:count], dim=1)


def _root(layout: GridLayout, term: Term, names: tuple[str, ...], like: Tensor) -> Float[Tensor, "M N"] | None:
    """``√(λ/MN)`` of the smallest torus on which the covariance is positive; None if there is none."""
    kernel = KernelSpec((term,)).build(names)
    for padding in _PADDINGS:
        shape = [padding * size for size in layout.cells.shape]
        if shape[0] * shape[1] > _MOST_CELLS:
            return None
        rows, columns = (
            step * torch.minimum(torch.arange(size), size - torch.arange(size)).to(like)
            for step, size in zip(layout.steps, shape, strict=True)
        )
        half = rows[: shape[0] // 2 + 1], columns[: shape[1] // 2 + 1]
        points = like.new_zeros(len(half[0]) * len(half[1]), like.shape[1])
        points[:, layout.axes[0]] = half[0].repeat_interleave(len(half[1]))
        points[:, layout.axes[1]] = half[1].repeat(len(half[0]))
        quarter = evaluate(kernel, points, like.new_zeros(1, like.shape[1])).reshape(len(half[0]), len(half[1]))
        table = torch.cat([quarter, quarter[1 : shape[0] - len(half[0]) + 1].flip(0)])
        table = torch.cat([table, table[:, 1 : shape[1] - len(half[1]) + 1].flip(1)], dim=1)
        spectrum = torch.fft.fft2(table).real
        if float(-spectrum.clamp_max(0).sum()) <= NEGATIVE * float(spectrum.clamp_min(0).sum()):
            return (spectrum.clamp_min(0) / table.numel()).sqrt()
    return None
