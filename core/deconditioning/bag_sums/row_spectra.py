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
    """``spectra`` κ̂ (2H − 1, F), real as κ is even, of rows −(H−1) … H−1 apart; bags with ``patterns`` (B, h, w) of
    weights whose corners lie in rows ``top`` and columns ``left``; ``columns`` W, ``length`` of the transforms.
    """

    spectra: Float[Tensor, "R F"]
    patterns: Float[Tensor, "B h w"]
    top: Int[Tensor, " B"]
    left: Int[Tensor, " B"]
    columns: int
    length: int

    def sums(self, rows: slice) -> Iterator[tuple[int, Float[Tensor, "R W"]]]:
        """Every bag with its sums at the grid's ``rows``."""
        first, count = (len(self.spectra) - 1) // 2 + rows.start, rows.stop - rows.start
        for bag, (top, left) in enumerate(zip(self.top.tolist(), self.left.tolist(), strict=True)):
            pattern = self.patterns[bag]
            inside = torch.nonzero(pattern.any(1))[:, 0]
            placed = pattern.new_zeros(len(inside), self.length)
            width = min(pattern.shape[1], self.columns - left)
            placed[:, left : left + width] = pattern[inside, :width]
            weights = torch.view_as_real(torch.fft.rfft(placed)).movedim(-1, 0)[:, :, None].contiguous()
            total = placed.new_zeros(2, count, weights.shape[-1])  # real and imaginary parts
            for a, row in enumerate((top + inside).tolist()):
                total.addcmul_(self.spectra[first - row : first - row + count], weights[:, a])
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
    half = torch.fft.rfft(around).real
    return RowSpectra(torch.cat([half.flip(0)[:-1], half]), patterns, top, left, columns, length)
