"""Bag sums c (B, P) at all pixels of a picture, stored explicitly or as factors."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor


@runtime_checkable
class CrossSums(Protocol):
    """``c_j(x)`` of every bag j at every pixel x."""

    @property
    def nbytes(self) -> int:
        """Memory it takes."""

    def at(self, pixels: slice | Int[Tensor, " n"]) -> Float[Tensor, "B n"]:
        """The sums at some pixels, written out."""

    def across(self, dual: Float[Tensor, " B"]) -> Float[Tensor, " P"]:
        """``Σ_j dual_j c_j(x)`` at every pixel."""


@dataclass(frozen=True)
class Written:
    """The sums themselves; float32 where they are a preview's."""

    values: Float[Tensor, "B P"]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.values.nbytes

    def at(self, pixels: slice | Int[Tensor, " n"]) -> Float[Tensor, "B n"]:
        """The sums at some pixels."""
        return self.values[:, pixels]

    def across(self, dual: Float[Tensor, " B"]) -> Float[Tensor, " P"]:
        """``Σ_j dual_j c_j(x)`` at every pixel."""
        return self.values.T @ dual.to(self.values.dtype)


@dataclass(frozen=True)
class Product:
    """``c = left · right`` through a few nodes of one column."""

    left: Float[Tensor, "B r"]
    right: Float[Tensor, "r P"]

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.left.nbytes + self.right.nbytes

    def at(self, pixels: slice | Int[Tensor, " n"]) -> Float[Tensor, "B n"]:
        """The sums at some pixels."""
        return self.left @ self.right[:, pixels]

    def across(self, dual: Float[Tensor, " B"]) -> Float[Tensor, " P"]:
        """``Σ_j dual_j c_j(x)`` at every pixel."""
        return (self.left.T @ dual.to(self.left.dtype)) @ self.right


@dataclass(frozen=True)
class Windowed:
    """Every bag's sums are a window (H, W) of the table of its kind, read at the pixels' places on the grid.

    ``tables`` (k, U, V), ``kind`` of each bag with the first row ``down`` and column ``right`` of its window; ``shape``
    (H, W), and of each pixel its ``row`` and ``column`` there.
    """

    tables: Float[Tensor, "k U V"]
    kind: Int[Tensor, " B"]
    down: Int[Tensor, " B"]
    right: Int[Tensor, " B"]
    shape: tuple[int, int]
    row: Int[Tensor, " P"]
    column: Int[Tensor, " P"]

    @property
    def nbytes(self) -> int:
        """Memory it takes, without what the grid's layout holds anyhow."""
        return self.tables.nbytes

    def windows(self) -> Iterator[Float[Tensor, "H W"]]:
        """The window of each bag, as a view."""
        for kind, down, right in zip(self.kind.tolist(), self.down.tolist(), self.right.tolist(), strict=True):
            yield self.tables[kind, down : down + self.shape[0], right : right + self.shape[1]]

    def at(self, pixels: slice | Int[Tensor, " n"]) -> Float[Tensor, "B n"]:
        """The sums at some pixels."""
        _, rows, columns = self.tables.shape
        corner = (self.kind * rows + self.down) * columns + self.right
        index = self.row[pixels] * columns + self.column[pixels]
        return self.tables.take(corner[:, None] + index)

    def across(self, dual: Float[Tensor, " B"]) -> Float[Tensor, " P"]:
        """``Σ_j dual_j c_j(x)`` at every pixel."""
        total = self.tables.new_zeros(self.shape)
        for window, weight in zip(self.windows(), dual.tolist(), strict=True):
            total.add_(window, alpha=weight)
        return total[self.row, self.column]
