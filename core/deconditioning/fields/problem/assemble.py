"""Builds the scaled problem from physical fields, for one file and for two files alike."""

from dataclasses import dataclass

import numpy as np
import torch

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Variable
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.pixel_shares import Shares, mostly
from deconditioning.fields.problem.coordinates import CoordinateSystem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.scaling import Scale, Scaling, fit_coordinate_scaling, fit_scale, fit_scaling
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.mediator_shift import reweighted
from deconditioning.observations import Bags, IndirectData

#: Bags and targets below which there is nothing to learn from.
LEAST_CELLS = 8


@dataclass(frozen=True, eq=False)
class Sides:
    """Bag side and target side in physical units.

    ``blocks`` are the pixels in the candidate bags, ``bag_block`` (B,) picks those that are bags;
    ``cell`` (H, W) numbers the coarse cells, with the pixels' ``shares`` in them; ``target_cell`` (M,) picks those
    with a visible target.
    ``covariates`` (H, W, c) or ``None``; mediators and coordinates have one row a bag or target;
    ``coarse`` (cells,) all known values, ``error`` (cells,) their sds where they are known.
    """

    grid: Grid
    covariates: np.ndarray | None
    whole: np.ndarray
    system: CoordinateSystem
    blocks: Shares
    bag_block: np.ndarray
    bag_cell: np.ndarray
    bag_mediators: np.ndarray
    bag_coordinates: np.ndarray
    cell: np.ndarray
    shares: Shares
    coarse_grid: Grid
    coarse: np.ndarray
    target_cell: np.ndarray
    query_mediators: np.ndarray
    query_coordinates: np.ndarray
    truth: np.ndarray | None
    error: np.ndarray | None = None


def assemble(
    spec: DownscalingSpec, sides: Sides, target: Variable, origin: tuple[str, str], notes: tuple[str, ...]
) -> DownscalingProblem:
    """Scale on visible data only and put the problem together; ``origin`` = (source, licence)."""
    _check_cells(len(sides.bag_block), len(sides.target_cell))
    pixel = np.flatnonzero(sides.whole)
    row, bags = sides.blocks.bags(sides.bag_block, pixel, sides.grid.area.size)
    coordinates = sides.system.of_grid(sides.grid).reshape(sides.grid.area.size, -1)
    location_scaling = fit_coordinate_scaling(coordinates, sides.system.names)
    inputs, scaling = _inputs(spec, sides, coordinates, location_scaling, pixel, np.unique(row))
    scale = fit_scale(sides.coarse[sides.target_cell], spec.target, "target")
    data = _data(spec, sides, inputs, pixel, (row, bags), _mediators(spec, sides, location_scaling), scale)
    shape = sides.coarse_grid.shape
    observed = np.isin(np.arange(sides.coarse.size), sides.target_cell).reshape(shape)
    return DownscalingProblem(
        spec=spec,
        grid=sides.grid,
        cell=sides.cell,
        shares=sides.shares,
        coarse_shape=shape,
        coarse_grid=sides.coarse_grid,
        coarse=np.where(observed, sides.coarse.reshape(shape), np.nan),
        coarse_truth=sides.coarse.reshape(shape),
        observed=observed,
        truth=sides.truth,
        inputs=torch.as_tensor(inputs),
        pixel=pixel,
        columns=scaling.columns,
        mediator_columns=(sides.system.names if spec.coordinates else ()) + spec.mediators,
        data=data,
        matched=not spec.indirect,
        bag_cell=sides.bag_cell,
        target_cell=sides.target_cell,
        bag_pixel=row,
        input_scaling=scaling,
        target_scale=scale,
        units=target.units,
        long_name=target.long_name,
        standard_name=target.standard_name,
        source=origin[0],
        licence=origin[1],
        notes=tuple(dict.fromkeys(notes)),
    )


def _inputs(
    spec: DownscalingSpec,
    sides: Sides,
    coordinates: np.ndarray,
    location_scaling: Scaling,
    pixel: np.ndarray,
    observed: np.ndarray,
) -> tuple[np.ndarray, Scaling]:
    """(P, d) scaled inputs of the complete pixels, and their scaling; covariates standardised on those in bags."""
    parts: list[np.ndarray] = []
    scalings: list[Scaling] = []
    if spec.coordinates:
        parts.append(location_scaling.forward(coordinates[pixel]))
        scalings.append(location_scaling)
    if sides.covariates is not None:
        values = sides.covariates.reshape(-1, len(spec.covariates))[pixel]
        scalings.append(fit_scaling(values[observed], spec.covariates, "covariate"))
        parts.append(scalings[-1].forward(values))
    columns = tuple(name for scaling in scalings for name in scaling.columns)
    scales = tuple(scale for scaling in scalings for scale in scaling.scales)
    return np.ascontiguousarray(np.concatenate(parts, axis=1)), Scaling(columns, scales)


def _mediators(spec: DownscalingSpec, sides: Sides, location_scaling: Scaling) -> tuple[np.ndarray, np.ndarray]:
    """(B, r) and (M, r) scaled mediators: coordinates on the fine grid's scale, the rest standardised together."""
    parts: list[list[np.ndarray]] = [[], []]
    if spec.coordinates:
        for part, rows in zip(parts, (sides.bag_coordinates, sides.query_coordinates), strict=True):
            part.append(location_scaling.forward(rows))
    if spec.mediators:
        observed = sides.bag_mediators
        if spec.indirect:
            observed = np.concatenate([sides.bag_mediators, sides.query_mediators])
        scaling = fit_scaling(observed, spec.mediators, "mediator")
        for part, rows in zip(parts, (sides.bag_mediators, sides.query_mediators), strict=True):
            part.append(scaling.forward(rows))
    if not parts[0]:  # direct matching without mediators or coordinates: W = I whatever they are
        rows = np.arange(len(sides.bag_block), dtype=float)[:, None]
        return rows, rows
    return np.concatenate(parts[0], axis=1), np.concatenate(parts[1], axis=1)


def _data(
    spec: DownscalingSpec,
    sides: Sides,
    inputs: np.ndarray,
    pixel: np.ndarray,
    rows: tuple[np.ndarray, Shares],
    mediators: tuple[np.ndarray, np.ndarray],
    scale: Scale,
) -> IndirectData:
    """The bags in order, their rows in pixel order, weighted by area."""
    bags = _bags(inputs, rows, sides.grid)
    mediating = torch.as_tensor(np.ascontiguousarray(mediators[0]))
    queries = torch.as_tensor(np.ascontiguousarray(mediators[1])) if spec.indirect else mediating
    footprints = _footprints(sides, inputs, pixel) if spec.indirect and spec.coordinates else None
    targets, errors = torch.as_tensor(scale.forward(sides.coarse[sides.target_cell])), _errors(sides, scale)
    data = IndirectData(bags, mediating, queries, targets, footprints=footprints, errors=errors)
    return reweighted(data) if spec.reweigh else data


def _errors(sides: Sides, scale: Scale) -> torch.Tensor | None:
    """(M,) variances of the standardised targets' own errors; None if none has any."""
    error = np.zeros(1) if sides.error is None else sides.error[sides.target_cell]
    return torch.as_tensor((error / scale.sd) ** 2) if error.any() else None


def _footprints(sides: Sides, inputs: np.ndarray, pixel: np.ndarray) -> Bags | None:
    """The targets' own cells as bags of prediction pixels; None if some are mostly not among these."""
    covered, whole = sides.shares.valid_area(sides.whole, sides.grid.area)
    if not mostly(covered[sides.target_cell], whole[sides.target_cell]).all():
        return None
    return _bags(inputs, sides.shares.bags(sides.target_cell, pixel, sides.grid.area.size), sides.grid)


def _bags(inputs: np.ndarray, rows: tuple[np.ndarray, Shares], grid: Grid) -> Bags:
    """Bags of the prediction pixels with these ``inputs`` (P, d), from the rows that `Shares.bags` gives."""
    row, shares = rows
    weights = torch.as_tensor(shares.areas(grid.area))
    return Bags(torch.as_tensor(inputs[row]), torch.as_tensor(shares.cell), shares.count, weights=weights)


def _check_cells(bags: int, targets: int) -> None:
    """``InputError`` with fewer than eight bags or targets."""
    for count, what in ((targets, "a visible target"), (bags, "covariates")):
        if count < LEAST_CELLS:
            raise InputError(
                f"Only {count} coarse cells have {what}; at least {LEAST_CELLS} are needed: choose smaller "
                "blocks, another withheld fraction, or fields with fewer missing values."
            )
