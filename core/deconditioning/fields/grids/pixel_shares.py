"""The share of each pixel in each cell: a pixel across an edge belongs to both cells by its shares of area.

Cell means are sums over these shares, ``z_c = Σ_p f_cp a_p v_p / Σ_p f_cp a_p``, with the area ``a_p`` of a pixel and
its share ``f_cp`` in the cell. Source: Jones 1999, *First- and Second-Order Conservative Remapping Schemes*.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.grids.overlap import Overlap, fractions_of_lines, one_system, overlap, parts_of

LEAST_SHARE = 0.5
#: Parts of a row or column that the rounding of single-precision edges makes: less is none, all but that is the whole.
_ROUNDED = 5e-3


@dataclass(frozen=True, eq=False)
class Shares:
    """Pixels of an (H, W) grid in ``count`` cells, in the order of the pixels.

    Parameters
    ----------
    pixel : (n,) flat index of the pixel.
    cell : (n,) a cell that overlaps the pixel.
    fraction : (n,) share of the pixel's area in that cell, above 0 and at most 1; the shares of a pixel sum to at most
        one.
    count : number of cells.
    weight : (n,) weight of the pixel in cell means beside its area; None for one.
    """

    pixel: np.ndarray
    cell: np.ndarray
    fraction: np.ndarray
    count: int
    weight: np.ndarray | None = None

    @staticmethod
    def whole(cell: np.ndarray, count: int) -> "Shares":
        """Shares for pixels that lie entirely in one cell (H, W), −1 for none."""
        pixel = np.flatnonzero(cell >= 0)
        return Shares(pixel, cell.flat[pixel], np.ones(len(pixel)), count)

    def weighted(self, weight: np.ndarray | None) -> "Shares":
        """The shares with the weights (H, W) of the pixels; as they are for None."""
        return self if weight is None else replace(self, weight=weight.flat[self.pixel])

    @property
    def split(self) -> int:
        """Number of pixels that cross an edge."""
        return len(np.unique(self.pixel[self.fraction < 1]))

    def renumbered(self, number: np.ndarray, count: int) -> "Shares":
        """The shares in some of the cells: ``number`` (cells,) is their new number, −1 for cells that are left out."""
        cell = number[self.cell]
        return replace(self._some(cell >= 0), cell=cell[cell >= 0], count=count)

    def of_valid(self, valid: np.ndarray) -> "Shares":
        """The shares of the valid pixels (H, W) alone: what a mean over these is of."""
        return self if valid.all() else self._some(valid.flat[self.pixel])

    def window(self, shape: tuple[int, int], rows: slice, columns: slice) -> "Shares":
        """The shares of the pixels in a slice of the grid's rows and columns, counted there."""
        index = np.full(shape, -1)
        part = index[rows, columns]
        part[...] = np.arange(part.size).reshape(part.shape)
        inside = index.flat[self.pixel] >= 0
        return replace(self._some(inside), pixel=index.flat[self.pixel[inside]])

    def _some(self, chosen: np.ndarray) -> "Shares":
        """Some of the shares, by index or mask."""
        weight = None if self.weight is None else self.weight[chosen]
        return Shares(self.pixel[chosen], self.cell[chosen], self.fraction[chosen], self.count, weight)

    def areas(self, area: np.ndarray) -> np.ndarray:
        """(n,) area of each share, of pixels with areas (H, W), times its weight."""
        areas = area.flat[self.pixel] * self.fraction
        return areas if self.weight is None else areas * self.weight

    def valid_area(self, valid: np.ndarray, area: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(count,) area of the valid pixels (H, W) in every cell, and of all its pixels."""
        areas, there = self.areas(area), valid.flat[self.pixel]
        return np.bincount(self.cell[there], areas[there], self.count), np.bincount(self.cell, areas, self.count)

    def mean(self, values: np.ndarray, area: np.ndarray) -> np.ndarray:
        """(count,) area-weighted means of values (H, W) over their valid pixels, NaN if less than half is valid."""
        result = values.flat[self.pixel]
        valid, areas = np.isfinite(result), self.areas(area)
        covered = np.bincount(self.cell[valid], areas[valid], self.count)
        mass = np.bincount(self.cell[valid], (areas * np.where(valid, result, 0.0))[valid], self.count)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(mostly(covered, np.bincount(self.cell, areas, self.count)), mass / covered, np.nan)

    def with_means(self, field: np.ndarray, means: np.ndarray, area: np.ndarray, cell: np.ndarray) -> np.ndarray:
        """(H, W) a field with the pixels of each cell moved alike, so that the cells have the ``means`` (count,).

        ``cell`` (H, W) is the cell with which a pixel moves, −1 for none; unchanged also where a mean is not known.
        Exact for pixels that are in one cell only.
        """
        return field + np.append(np.nan_to_num(means - self.mean(field, area)), 0.0)[cell]

    def of(self, pixel: np.ndarray, size: int) -> tuple[np.ndarray, "Shares"]:
        """The shares of some pixels (P,) of ``size``: which of these each belongs to (m,), and they themselves."""
        row = _numbers(pixel, size)[self.pixel]
        there = row >= 0
        return row[there], self._some(there)

    def bags(self, chosen: np.ndarray, pixel: np.ndarray, size: int) -> tuple[np.ndarray, "Shares"]:
        """`of` in the ``chosen`` cells alone, numbered in their order and sorted by it: rows of bags."""
        row, result = self.renumbered(_numbers(chosen, self.count), len(chosen)).of(pixel, size)
        order = np.argsort(result.cell, kind="stable")
        return row[order], result._some(order)


def _numbers(chosen: np.ndarray, count: int) -> np.ndarray:
    """(count,) the place of each index among the ``chosen`` ones, −1 for the others."""
    number = np.full(count, -1)
    number[chosen] = np.arange(len(chosen))
    return number


def mostly(covered: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Whether at least half of an area is covered (exactly half counts, despite rounding)."""
    return (covered > 0) & (covered >= LEAST_SHARE * total * (1 - 1e-9))


def shares_between(grid: Grid, cells: Grid, main: np.ndarray | None = None) -> Shares:
    """The shares of the pixels of ``grid`` in the cells of another grid, by the area that they have in common.

    Exact on the sphere where the rows and columns of both run along the same lines, as on latitude-longitude grids, and
    for any other pair by the outlines of the cells (`overlap`). Where an outline is not known, as around a pole, a
    pixel belongs entirely to the cell with its centre (``main`` (H, W), if known).
    """
    if one_system(grid, cells):
        pixel, cell, fraction = fractions_of_lines(grid, cells, _ROUNDED)
    else:
        shared = overlap(grid, cells)
        parts = parts_of(shared.shared, shared.other, _ROUNDED)
        pixel, cell, fraction = _with_whole(parts, shared, grid, cells, main)
    order = np.lexsort((cell, pixel))
    return Shares(pixel[order], cell[order], fraction[order], cells.area.size)


def _with_whole(
    parts: sparse.coo_matrix, shared: Overlap, grid: Grid, cells: Grid, main: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pixels, cells and fractions, with the pixels whose outline or whose cell's outline is not known as a whole."""
    main = (locate(cells, grid.latitude, grid.longitude) if main is None else main).ravel()
    unknown = (main >= 0) & (np.isnan(shared.other) | np.isnan(shared.whole)[main])
    unknown[parts.col] = False
    more = np.flatnonzero(unknown)
    return (
        np.concatenate([parts.col, more]),
        np.concatenate([parts.row, main[more]]),
        np.concatenate([parts.data, np.ones(len(more))]),
    )
