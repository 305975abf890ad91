"""Builds a problem from one high-resolution file: the target is averaged over blocks, and some cells are withheld."""

from dataclasses import replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.blocks import coarse_grid, whole_blocks
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.pixel_shares import Shares, mostly
from deconditioning.fields.grids.regridding import how_sampled
from deconditioning.fields.problem.assemble import Sides, assemble
from deconditioning.fields.problem.cell_weights import as_density, weights_note, weights_of_pixels
from deconditioning.fields.problem.chosen_cells import UsedCells
from deconditioning.fields.problem.coordinates import CoordinateSystem, needs_sphere
from deconditioning.fields.problem.matching import apart_in_time
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import about_target
from deconditioning.fields.reading.validity import unfound
from deconditioning.fields.spec import DownscalingSpec


def make_problem(fields: Fields, spec: DownscalingSpec) -> DownscalingProblem:
    """Way (a): the file contains the target at high resolution, which is coarsened and kept for scoring.

    Blocks of ``spec.block`` pixels give coarse values, area-weighted means over the pixels that have the target; only
    these are the bag of a value and its share of a re-aggregated map. A random fraction ``spec.withhold`` of the cells
    with a value is withheld, subject to ``spec.hide`` and ``spec.reveal``. With ``spec.region`` the problem is that of
    a file cut to the region's pixels. Direct matching: a bag for every cell that keeps its target. Indirect: bags from
    the withheld cells only, targets from the others (Chau et al. 2021, §5.2); the mediators of a target are means over
    the pixels of its value, those of a bag over the pixels in it.

    Raises ``InputError`` for a wrong variable, a constant field, a block larger than the grid, or fewer than eight
    cells on either side.
    """
    fields = fields.with_missing(spec.missing)
    names = (spec.target, *spec.covariates, *spec.mediators)
    _check_same_grid(fields, spec)
    window, notes = whole_blocks(fields.grid, spec.block)
    selected = UsedCells.of(_cells_in(window, spec), spec.region)
    window = selected.pixels(spec.block)
    grid = fields.grid.window(*window)
    raw, target, densities = _raw(fields, spec, names, window)
    cells, cell = coarse_grid(grid, spec.block)
    count = cells.y.size * cells.x.size
    weights = weights_of_pixels(fields, spec, window)
    blocks = Shares.whole(cell, count).weighted(weights)
    coarse, shares = blocks.mean(raw[spec.target], grid.area), blocks.of_valid(np.isfinite(raw[spec.target]))
    blocks = blocks if spec.indirect else shares
    whole = all_finite([raw[n] for n in spec.covariates], grid.shape)
    of_bags, of_targets = (_means(raw, spec.mediators, pixels, grid) for pixels in (blocks.of_valid(whole), shares))
    with_data = all_finite([coarse, *of_targets], (count,))
    can_be_bag = mostly(*blocks.valid_area(whole, grid.area)) & all_finite(of_bags, (count,))
    withheld = selected.withhold(with_data, spec)
    observed = with_data & ~withheld.cells
    bags = (withheld.cells if spec.indirect else observed) & can_be_bag
    targets = observed if spec.indirect else bags
    system = CoordinateSystem(grid, needs_sphere(grid))
    sides = Sides(
        grid=grid, whole=whole, system=system, blocks=blocks, cell=cell, shares=shares, coarse_grid=cells,
        coarse=coarse, truth=raw[spec.target],
        covariates=np.stack([raw[n] for n in spec.covariates], axis=-1) if spec.covariates else None,
        bag_block=np.flatnonzero(bags), bag_cell=np.flatnonzero(bags), target_cell=np.flatnonzero(targets),
        bag_mediators=_columns(of_bags, bags), query_mediators=_columns(of_targets, targets),
        bag_coordinates=system.of_grid(cells).reshape(count, -1)[bags],
        query_coordinates=system.of_grid(cells).reshape(count, -1)[targets],
    )  # fmt: skip
    notes += _time_notes(fields, spec, names) + densities + selected.notes + withheld.notes
    notes += _cell_notes(with_data, withheld.cells, bags, targets, whole, spec)
    made = assemble(spec, sides, target, (fields.source, fields.licence), (*fields.notes, *notes))
    about = about_target(fields, spec.target, spec.select, spec.covariates)
    return selected.noted(replace(made, weights=weights, **about), withheld)


def _raw(
    fields: Fields, spec: DownscalingSpec, names: tuple[str, ...], window: tuple[slice, slice]
) -> tuple[dict[str, np.ndarray], Variable, list[str]]:
    """The fields' values by name, the target's names and units, and notes on sums and weights."""
    raw = {name: fields.values(name, spec.select)[window] for name in names}
    raw[spec.target], target, notes = as_density(fields, spec, raw[spec.target], fields.grid.window(*window))
    return raw, target, notes + weights_note(spec)


def _time_notes(fields: Fields, spec: DownscalingSpec, names: tuple[str, ...]) -> list[str]:
    """Which times and levels are taken, what is odd about the values, and whether dates differ."""
    notes = [note for name in names for note in fields.selection_notes(name, spec.select)]
    remarks = [note for name in names for note in fields.remarks(name, spec.select)]
    notes += remarks + unfound(spec.missing, remarks)
    if dates := apart_in_time(fields, fields, spec):
        notes.append(f"The covariates are for {dates[0]}, the target for {dates[1]}.")
    return notes


def cells_of_fields(fields: Fields, spec: DownscalingSpec) -> tuple[int, int]:
    """(rows, columns) of the coarse cells of a whole file, without regard to ``spec.region``."""
    return _cells_in(whole_blocks(fields.grid, spec.block)[0], spec)


def _check_same_grid(fields: Fields, spec: DownscalingSpec) -> None:
    """``InputError`` if the target lies on another grid than the first of several files, so that it is not a truth, or
    has errors of its own, which are those of coarse values."""
    if spec.error is not None:
        raise InputError("Errors belong to values of a coarse file or of regions: give one of these, or omit `error`.")
    owner, _ = fields.at(spec.target, spec.select)
    if how_sampled(owner.grid, fields.grid) != "its own values":
        raise InputError(
            f"The target `{spec.target}` of {owner.name} is on a different grid from the first file: give its file "
            "first, or give it separately as the coarse target (`--coarse`)."
        )


def _cells_in(window: tuple[slice, slice], spec: DownscalingSpec) -> tuple[int, int]:
    return window[0].stop // spec.block[0], window[1].stop // spec.block[1]


def _means(raw: dict[str, np.ndarray], names: tuple[str, ...], shares: Shares, grid: Grid) -> list[np.ndarray]:
    """Of every variable the (cells,) means over the valid ones of the pixels that have ``shares``."""
    return [shares.mean(raw[name], grid.area) for name in names]


def _columns(values: list[np.ndarray], chosen: np.ndarray) -> np.ndarray:
    return np.stack([v[chosen] for v in values], axis=-1) if values else np.empty((int(chosen.sum()), 0))


def all_finite(fields: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """Where every field of that shape has a value: everywhere where there is no field."""
    return np.logical_and.reduce([np.isfinite(v) for v in fields]) if fields else np.ones(shape, dtype=bool)


def _cell_notes(
    with_data: np.ndarray,
    withheld: np.ndarray,
    bags: np.ndarray,
    targets: np.ndarray,
    whole: np.ndarray,
    spec: DownscalingSpec,
) -> list[str]:
    notes = []
    if not with_data.all():
        notes.append(
            f"{int((~with_data).sum())} of {len(with_data)} cells are missing: "
            "less than half of their area has a value."
        )
    if not whole.all():
        notes.append(f"{int((~whole).sum())} pixels lack a covariate and get no prediction.")
    if withheld.any():
        fate = (
            "they keep only covariates, the others only targets" if spec.indirect else "they are used only for scoring"
        )
        notes.append(
            f"{int(withheld.sum())} of {int(with_data.sum())} cells lose their target (seed {spec.seed}); {fate}."
        )
    lost = int((withheld if spec.indirect else with_data & ~withheld).sum() - bags.sum())
    if lost:
        notes.append(f"{lost} cells are not used as bags because at least half of their covariate pixels are missing.")
    return notes
