"""Blocks of pixels: area-weighted coarse values and their grid."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import Grid, make_grid

if TYPE_CHECKING:
    from deconditioning.fields.problem.problem import DownscalingProblem


def whole_blocks(grid: Grid, block: tuple[int, int]) -> tuple[tuple[slice, slice], list[str]]:
    """Rows and columns, counted from the low-index corner, that make whole blocks, and a note if any are cut off.

    Raises ``InputError`` if a block is larger than the grid.
    """
    sizes = tuple(size // side * side for size, side in zip(grid.shape, block, strict=True))
    if min(sizes) == 0:
        raise InputError(
            f"A block of {block[0]} × {block[1]} pixels is larger than the grid of "
            f"{grid.shape[0]} × {grid.shape[1]}: choose smaller blocks."
        )
    notes = []
    if sizes != grid.shape:
        notes.append(
            f"The grid of {grid.shape[0]} × {grid.shape[1]} pixels is cropped to {sizes[0]} × {sizes[1]}, whole blocks "
            f"of {block[0]} × {block[1]}."
        )
    return (slice(0, sizes[0]), slice(0, sizes[1])), notes


def coarse_grid(grid: Grid, block: tuple[int, int]) -> tuple[Grid, np.ndarray]:
    """The grid of the blocks of a grid made of whole ones, and (H, W) the row-major index of each pixel's block.

    Centres are mean native coordinates, areas are summed.
    """
    (ny, nx), (by, bx) = (size // side for size, side in zip(grid.shape, block, strict=True)), block
    y, x = grid.y.reshape(ny, by).mean(axis=1), grid.x.reshape(nx, bx).mean(axis=1)
    position = None
    if grid.kind == "curvilinear":
        vectors = sphere.unit_vectors(grid.latitude, grid.longitude).reshape(ny, by, nx, bx, 3)
        position = sphere.from_unit_vectors(vectors.mean(axis=(1, 3)))
    made = make_grid(
        grid.kind,
        y,
        x,
        names=(grid.y_name, grid.x_name),
        mapping=grid.mapping,
        edges=(grid.y_edges[::by], grid.x_edges[::bx]),
        position=position,
        wraps=grid.wraps,
    )
    area = grid.area.reshape(ny, by, nx, bx).sum(axis=(1, 3))
    index = (np.arange(grid.shape[0]) // by)[:, None] * nx + np.arange(grid.shape[1]) // bx
    return replace(made, area=area / area.mean()), index


def reaggregate(problem: "DownscalingProblem", field: np.ndarray) -> np.ndarray:
    """(ny, nx) area-weighted cell means of a fine field (H, W); NaN if less than half of a cell has values."""
    return problem.shares.mean(np.asarray(field), problem.grid.area).reshape(problem.coarse_shape)
