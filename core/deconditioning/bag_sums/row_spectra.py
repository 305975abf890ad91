"""Bag sums of a stationary kernel on a regular grid where bags have shapes of their own, row by row in frequencies.

``c_j(r, s) = Σ_a Σ_b w_ab κ(r − r_j − a, s − s_j − b)``: the sum over the columns b is a convolution. With ^ for the
transform along columns, padded so that nothing wraps round, ``ĉ_j(r, ·) = Σ_a ŵ_a κ̂(r − r_j − a, ·)``: a bag costs its
height times the pixels, where its convolution in place costs its bounding box times the pixels. Exact up to rounding.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from scipy.fft import next_fast_len
from torch import Tensor


@dataclass(frozen=True)
class RowSpectra:
    """``spectra`` κ̂ (H, F), real as κ is even, of rows 0 … H−1 apart; bags with ``patterns`` (B, h, w) of weights whose
    corners lie in rows ``top`` and columns ``left``; ``columns`` W of the grid, ``length`` of the transforms.
    """

    spectra: Float[Tensor, "H F"]
    patterns: Float[Tensor, "B h w"]
    top: Int[Tensor, " B"]
    left: Int[Tensor, " B"]
    columns: int
    length: int

    def sums(self, rows: slice) -> Iterator[tuple[int, Float[Tensor, "R W"]]]:
        """Every bag with its sums at the grid's ``rows``."""
        there = torch.arange(rows.start, rows.stop, device=self.top.device)
        for bag, (top, left) in enumerate(zip(self.top.tolist(), self.left.tolist(), strict=True)):
            pattern = self.patterns[bag]
            inside = torch.nonzero(pattern.any(1))[:, 0]
            placed = pattern.new_zeros(len(inside), self.length)
            width = min(pattern.shape[1], self.columns - left)
            placed[:, left : left + width] = pattern[inside, :width]
            weights = torch.fft.rfft(placed)
            real, imaginary = (part.contiguous() for part in (weights.real, weights.imag))
            total = [real.new_zeros(len(there), real.shape[1]) for _ in range(2)]
            for a, row in enumerate((top + inside).tolist()):
                near = self.spectra[(there - row).abs()]
                total[0].addcmul_(near, real[a])
                total[1].addcmul_(near, imaginary[a])
            yield bag, torch.fft.irfft(torch.complex(*total), n=self.length)[:, : self.columns]


def row_spectra(
    quarter: Float[Tensor, "H W"], patterns: Float[Tensor, "B h w"], top: Int[Tensor, " B"], left: Int[Tensor, " B"]
) -> RowSpectra:
    """Prepare the sums from ``quarter`` κ(Δr, Δs) at all offsets from 0 on; κ is even in both."""
    columns = quarter.shape[1]
    length = next_fast_len(2 * columns - 1, real=True)
    around = quarter.new_zeros(len(quarter), length)
    around[:, :columns] = quarter
    if columns > 1:
        around[:, 1 - columns :] = quarter[:, 1:].flip(1)
    return RowSpectra(torch.fft.rfft(around).real.contiguous(), patterns, top, left, columns, length)
