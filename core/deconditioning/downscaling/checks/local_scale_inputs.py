"""Inputs of the local scale of a downscaling: positions of the cells and the roughness of their covariates."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.downscaling.checks.few_cells import widening
from deconditioning.downscaling.starting import coordinate_names
from deconditioning.errors import InputError
from deconditioning.fields.problem.once import once
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.area_to_point import cell_width
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.local_scale import MOST, LocalScale, Near, Places, ScalePrior, local_scale, near
from deconditioning.models.spec import ModelSpec

#: Pixels each way over which the variance of a covariate is taken, and what is added to it before its logarithm.
_WINDOW, _FLOOR = 3, 1e-4


@dataclass(frozen=True, eq=False)
class LocalScaleInputs:
    """The cells of a problem that hold pixels.

    Parameters
    ----------
    columns : places of the coordinates among the inputs.
    width : a cell's width in scaled coordinates.
    number : (cells,) place of every coarse cell in ``places``, −1 where it holds no pixel.
    places : the cells that hold pixels.
    inputs : (P, d) scaled inputs of the problem's pixels.
    """

    columns: list[int]
    width: float
    number: np.ndarray
    places: Places
    inputs: Float[Tensor, "P d"]

    def of(self, cell: np.ndarray) -> Places:
        """Some of the coarse cells, each of which holds pixels."""
        rows = torch.as_tensor(self.number[cell])
        return Places(self.places.position[rows], self.places.roughness[rows])

    def near(self, inputs: Float[Tensor, "P d"]) -> Near:
        """The cells near any scaled inputs."""
        return near(self.places, inputs[:, self.columns] / self.width)

    @cached_property
    def pixels(self) -> Near:
        """The cells near the problem's own pixels."""
        return self.near(self.inputs)


@once
def local_scale_inputs(problem: DownscalingProblem) -> LocalScaleInputs:
    """The inputs for a problem; ``InputError`` if coordinates are not inputs."""
    coordinates = coordinate_names(problem)
    columns = [column for column, name in enumerate(problem.columns) if name in coordinates]
    if not columns:
        raise InputError("A local scale needs the locations of the cells: add the coordinates to the covariates.")
    width = cell_width(problem.data.bags.inputs[:, columns], problem.data.bags)
    rough = _variance(problem).flat[problem.pixel]
    row, shares = problem.shares_of_pixels()
    pixels = np.bincount(shares.cell, shares.fraction, shares.count)
    occupied = np.flatnonzero(pixels)

    def mean(values: np.ndarray) -> np.ndarray:
        """Mean over each occupied cell of values (P,) at the pixels."""
        return np.bincount(shares.cell, shares.fraction * values[row], shares.count)[occupied] / pixels[occupied]

    position = np.stack([mean(problem.inputs[:, column].numpy()) for column in columns], axis=1) / width
    number = np.full(shares.count, -1)
    number[occupied] = np.arange(len(occupied))
    logs = np.log(mean(rough) + _FLOOR)
    observed = logs[number[problem.target_cell[number[problem.target_cell] >= 0]]]
    spread = observed.std() if len(observed) else 0.0
    roughness = (logs - observed.mean()) / spread if spread > 1e-9 else np.zeros_like(logs)
    return LocalScaleInputs(
        columns, width, number, Places(torch.as_tensor(position), torch.as_tensor(roughness)), problem.inputs
    )  # fmt: skip


def _variance(problem: DownscalingProblem) -> np.ndarray:
    """(H, W) variance of the scaled covariates over a pixel and those around it, summed over covariates."""
    from scipy.ndimage import uniform_filter

    there = np.zeros(problem.grid.shape)
    there.flat[problem.pixel] = 1.0
    mode = ("nearest", "wrap" if problem.grid.wraps else "nearest")

    def around(values: np.ndarray) -> np.ndarray:
        """Mean (H, W) over a window about each pixel."""
        return uniform_filter(values, _WINDOW, mode=mode)

    count, total = np.maximum(around(there), 1e-12), np.zeros(problem.grid.shape)
    for name in problem.spec.covariates:
        values = np.nan_to_num(problem.on_grid(problem.inputs[:, problem.columns.index(name)]))
        total += np.maximum(around(values**2) / count - (around(values) / count) ** 2, 0.0)
    return total


@dataclass(frozen=True)
class LocatedScale:
    """A local scale evaluated at scaled inputs: ``columns`` of them, divided by ``width``, are positions."""

    scale: LocalScale
    columns: tuple[int, ...]
    width: float

    def at(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """κ at each input."""
        return self.scale.at(near(self.scale.places, inputs[:, list(self.columns)] / self.width))


@once
def _prior(problem: DownscalingProblem) -> ScalePrior:
    """The prior of the local scale at the observed cells and at all that hold pixels."""
    where = local_scale_inputs(problem)
    return ScalePrior(where.of(problem.target_cell), where.places)


def scale_of(spec: ModelSpec, problem: DownscalingProblem, conditioning: Conditioning) -> LocatedScale | None:
    """The local scale of a posterior; None if the model has none or there are more than ``MOST`` targets."""
    if not spec.local_scale or len(conditioning.residual) > MOST:
        return None
    where, prior = local_scale_inputs(problem), _prior(problem).to(conditioning.residual.device)
    scale = widening(local_scale(conditioning, prior), len(problem.data.targets))
    return LocatedScale(scale, tuple(where.columns), where.width)


def scale_at(
    spec: ModelSpec, problem: DownscalingProblem, conditioning: Conditioning, inputs: Float[Tensor, "P d"] | None = None
) -> Float[Tensor, " P"] | None:
    """κ at some inputs, by default the problem's pixels; None if there is no local scale."""
    result = scale_of(spec, problem, conditioning)
    if result is None:
        return None
    if inputs is not None:
        return result.at(inputs)
    pixels, device = local_scale_inputs(problem).pixels, conditioning.residual.device
    return result.scale.at(Near(pixels.cell.to(device), pixels.weight.to(device)))


def scaled(
    spec: ModelSpec, problem: DownscalingProblem, conditioning: Conditioning, variance: Float[Tensor, " P"]
) -> Float[Tensor, " P"]:
    """``κ² var f`` at the problem's pixels; var f if there is no local scale."""
    scale = scale_at(spec, problem, conditioning)
    return variance if scale is None else scale.square() * variance
