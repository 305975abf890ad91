"""Cells chosen by the user: withheld or kept whatever the seed draws, and a region of whole cells.

Cells are (row, column) of the whole field's coarse cells, counted from 0 at the first row and column of the grid.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.problem.cells import Cell, Region
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec


@dataclass(frozen=True)
class UsedCells:
    """The part of a field's coarse cells that a problem keeps: ``shape`` of the whole, ``part`` of it that is kept."""

    shape: tuple[int, int]
    part: tuple[slice, slice]

    @classmethod
    def of(cls, shape: tuple[int, int], region: Region | None) -> "UsedCells":
        """What a region keeps of so many rows and columns of cells; ``InputError`` if it reaches beyond them."""
        if region is None:
            return cls(shape, (slice(0, shape[0]), slice(0, shape[1])))
        top, bottom, left, right = region
        if bottom >= shape[0] or right >= shape[1]:
            raise InputError(
                f"The region is rows {top} to {bottom} and columns {left} to {right}, the field has {_size(shape)}."
            )
        return cls(shape, (slice(top, bottom + 1), slice(left, right + 1)))

    @property
    def corner(self) -> Cell:
        """The whole field's cell that is the first one kept."""
        return self.part[0].start, self.part[1].start

    @property
    def notes(self) -> list[str]:
        """What is kept in a sentence; none if it is all."""
        (top, bottom), (left, right) = ((each.start, each.stop) for each in self.part)
        if (bottom - top, right - left) == self.shape:
            return []
        return [
            f"Of the field's {self.shape[0]} × {self.shape[1]} coarse cells {bottom - top} × {right - left} are kept: "
            f"rows {top} to {bottom - 1}, columns {left} to {right - 1}."
        ]

    def pixels(self, block: tuple[int, int]) -> tuple[slice, slice]:
        """The pixels of these cells where a cell is a block of so many rows and columns."""
        rows, columns = (slice(each.start * n, each.stop * n) for each, n in zip(self.part, block, strict=True))
        return rows, columns

    def marked(self, cells: Iterable[Cell]) -> np.ndarray:
        """(kept cells,) which are among ``cells`` of the whole field; ``InputError`` for one that the field lacks."""
        result = np.zeros(self.shape, dtype=bool)
        for row, column in cells:
            if row >= self.shape[0] or column >= self.shape[1]:
                raise InputError(f"There is no cell {row}-{column}: the field has {_size(self.shape)}.")
            result[row, column] = True
        return result[self.part].ravel()

    def withhold(self, with_data: np.ndarray, spec: DownscalingSpec) -> "Withheld":
        """Which of the kept cells ``with_data`` (cells,) lose their value: a random share, but for a person's hand."""
        drawn = _draw_withheld(with_data, spec)
        hide, reveal = (self.marked(cells) & with_data for cells in (spec.hide, spec.reveal))
        counts = int((hide & ~drawn).sum()), int((reveal & drawn).sum())
        sentence = f"{counts[0]} cells are hidden and {counts[1]} revealed by hand, regardless of the seed."
        return Withheld((drawn | hide) & ~reveal, drawn, [sentence] if any(counts) else [])

    def noted(self, problem: DownscalingProblem, withheld: "Withheld") -> DownscalingProblem:
        """The problem of the kept cells, with which they are and which were withheld, by the seed or by hand."""
        return replace(
            problem,
            hidden=int(withheld.cells.sum()),
            drawn=withheld.drawn.reshape(problem.coarse_shape),
            whole_shape=self.shape,
            corner=self.corner,
        )


@dataclass(frozen=True, eq=False)
class Withheld:
    """``cells`` (cells,) that lose their value, those of them or others that the seed has ``drawn``, and notes."""

    cells: np.ndarray
    drawn: np.ndarray
    notes: list[str]


def _draw_withheld(with_data: np.ndarray, spec: DownscalingSpec) -> np.ndarray:
    """(cells,) the random fraction ``spec.withhold`` of the cells with data that loses its target."""
    candidates = np.flatnonzero(with_data)
    count = round(spec.withhold * len(candidates))
    chosen = np.random.default_rng(spec.seed).permutation(candidates)[:count]
    withheld = np.zeros(len(with_data), dtype=bool)
    withheld[chosen] = True
    return withheld


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]} × {shape[1]} cells, rows 0 to {shape[0] - 1} and columns 0 to {shape[1] - 1}"
