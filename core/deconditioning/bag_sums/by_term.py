"""Sums in which terms have different bags: kernels of coordinates use footprints, all others the bags."""

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.bag_sums.cross_sums import CrossSums
from deconditioning.bag_sums.pixel_sums import Picture, PictureSums
from deconditioning.kernels.spec import Term


@dataclass(frozen=True)
class Rows:
    """Sums of ``bags`` bags, rows ``first`` and on of ``count``; those of the other rows are zero."""

    sums: CrossSums
    first: int
    bags: int
    count: int

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.sums.nbytes

    def at(self, pixels: slice | Int[Tensor, " n"]) -> Float[Tensor, "rows P"]:
        """The sums at some pixels, written out."""
        result = self.sums.at(pixels)
        out = result.new_zeros(self.count, result.shape[1])
        out[self.first : self.first + self.bags] = result
        return out

    def across(self, dual: Float[Tensor, " n"]) -> Float[Tensor, " P"]:
        """``Σ_j dual_j c_j(x)`` at every pixel."""
        return self.sums.across(dual[self.first : self.first + self.bags])


@dataclass(frozen=True)
class PartedPicture:
    """One picture for the terms that look at the ``place`` (columns) alone, another for all others.

    The rows of their sums stand below each other, those of ``rest`` first.
    """

    rest: Picture
    footprints: Picture
    place: tuple[str, ...]

    def of(self, term: Term) -> Picture:
        """The picture that a term is seen in."""
        return self.footprints if self.sees_place(term) else self.rest

    def sees_place(self, term: Term) -> bool:
        """Whether a term looks at nothing but the place."""
        return sees_only(term, self.place)

    def placed(self, term: Term, sums: PictureSums) -> PictureSums:
        """The sums of a term, with rows for the bags that it does not go through."""
        above, below = self.rest.bags.count, self.footprints.bags.count
        return rows_of(sums, *((above, below) if self.sees_place(term) else (0, above)), above + below)

    def to(self, device: torch.device) -> "PartedPicture":
        """The same on another device."""
        return PartedPicture(self.rest.to(device), self.footprints.to(device), self.place)


def rows_in(sums: CrossSums, count: int) -> tuple[int, int]:
    """From which row on, and up to which of ``count``, sums are not known to be zero."""
    return (sums.first, sums.first + sums.bags) if isinstance(sums, Rows) else (0, count)


def sees_only(term: Term, names: tuple[str, ...]) -> bool:
    """Whether a term looks at nothing but columns of these names."""
    return {name for factor in term.factors for name in factor.columns} <= set(names)


def rows_of(sums: PictureSums, first: int, own: int, count: int) -> PictureSums:
    """Sums of some bags among more, all others zero."""
    gram = sums.gram.new_zeros(count, count)
    gram[first : first + own, first : first + own] = sums.gram
    return PictureSums(Rows(sums.cross, first, own, count), gram, sums.prior, sums.routes)
