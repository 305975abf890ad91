"""Whether the pixels of a problem form a regular grid, on which distances repeat."""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.fields.problem.coordinates import scaled_coordinates
from deconditioning.fields.problem.problem import DownscalingProblem

#: Unevenness of a grid axis, relative to its step, up to which it counts as regular.
_EVEN = 1e-9


def grid_layout(problem: DownscalingProblem) -> GridLayout | SphereLayout | None:
    """The regular grid of the pixels, in scaled coordinates; None on a curvilinear or an uneven grid."""
    if problem.grid.kind == "curvilinear" or not problem.spec.coordinates:
        return None
    height, width = problem.grid.area.shape
    row, column = (torch.as_tensor(index) for index in np.divmod(problem.pixel, width))
    cells = Cells((height, width), row, column)
    if not problem.grid.wraps:
        return plane_layout(problem.inputs, cells)
    if problem.grid.kind != "latlon":
        return None
    return sphere_layout(problem.grid.x, scaled_coordinates(problem.grid), problem.inputs, cells)


def plane_layout(inputs: Float[Tensor, "P d"], cells: Cells) -> GridLayout | None:
    """Rows and columns in even steps, first and second column of ``inputs``."""
    steps = []
    for axis, index in enumerate((cells.row, cells.column)):
        values, position = inputs[:, axis], index.to(inputs)
        first, last = int(index.argmin()), int(index.argmax())
        span = int(index[last] - index[first])
        if span == 0:
            return None
        step = float(values[last] - values[first]) / span
        if float((values - values[first] - step * (position - position[first])).abs().max()) > _EVEN * abs(step) * span:
            return None
        steps.append(step)
    return GridLayout(cells, (steps[0], steps[1]), (0, 1))


def sphere_layout(
    x: np.ndarray, vectors: np.ndarray, inputs: Float[Tensor, "P d"], cells: Cells
) -> SphereLayout | None:
    """Longitudes x (W,) that go round the sphere's own axis in even steps; ``vectors`` (H, W, 3) of the whole grid."""
    steps = np.diff(x)
    if np.abs(steps - steps.mean()).max() > _EVEN * steps.mean() * len(steps):
        return None
    result = torch.as_tensor(vectors)
    if float((result[cells.row, cells.column] - inputs[:, :3]).abs().max()) > _EVEN:
        return None
    return SphereLayout(cells, result, (0, 1, 2))
