"""Builds a problem from high-resolution covariates in one file, a coarse target in another, and mediators for both."""

from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields, Variable
from deconditioning.fields.grids.blocks import coarse_grid, whole_blocks
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.grids.pixel_shares import Shares, mostly, shares_between
from deconditioning.fields.grids.regridding import box_around, cover, facing, sample
from deconditioning.fields.problem.assemble import Sides, assemble
from deconditioning.fields.problem.cell_weights import as_density, errors_of_cells, weights_note, weights_of_pixels
from deconditioning.fields.problem.chosen_cells import UsedCells
from deconditioning.fields.problem.coarsened import all_finite
from deconditioning.fields.problem.coordinates import CoordinateSystem, needs_sphere
from deconditioning.fields.problem.matching import apart_in_time, matched
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.target_metadata import about_target, covariates_of
from deconditioning.fields.reading.validity import unfound
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.units import convert


@dataclass(frozen=True, eq=False)
class _Place:
    """Where the two grids meet: fine grid, coarse grid and values, coarse cell and shares of every pixel; the target's
    names and units, and the sds of its errors."""

    grid: Grid
    window: tuple[slice, slice]
    cells: Grid
    coarse: np.ndarray
    cell: np.ndarray
    shares: Shares
    part: tuple[np.ndarray, slice, slice]
    notes: list[str]
    kept: UsedCells
    target: Variable
    error: np.ndarray

    def of_coarse(self, values: np.ndarray) -> np.ndarray:
        """(cells,) values of the coarse file's grid on the kept cells."""
        order, rows, columns = self.part
        return values[:, order][rows, columns].ravel()


def make_problem_from_files(
    covariates: Fields, coarse: Fields, mediator: Fields | None, spec: DownscalingSpec
) -> DownscalingProblem:
    """Way (b): no truth at high resolution; scores come from withheld coarse cells.

    Indirect matching (the default with mediators): the bags are blocks of ``spec.block`` pixels of the covariates'
    grid, the targets the coarse file's cells. Every mediator comes from ``mediator`` for both sides if that file has
    it, otherwise from each side's own file, otherwise it is regridded from the side that has it. Direct matching: the
    bag of a coarse cell is the pixels inside it, which must cover at least half of its area; a pixel across an edge
    belongs to each cell by its share of area (`shares_between`).

    ``spec.region`` keeps some of the coarse cells and the pixels in them (indirect matching: whole blocks of pixels).

    Raises ``InputError`` if a variable is missing, units are incompatible, the grids do not overlap although they must,
    or fewer than eight cells are left on either side.
    """
    covariates = covariates.with_missing(spec.missing)
    coarse, mediator = matched(covariates, coarse, mediator, spec)
    raw = [covariates.values(name, spec.select) for name in spec.covariates]
    place = _cut(_place(covariates, coarse, spec), covariates, spec)
    weights = weights_of_pixels(covariates, spec, place.window)
    place = replace(place, shares=place.shares.weighted(weights))
    fine = [values[place.window] for values in raw]
    whole = all_finite(fine, place.grid.shape)
    notes = _notes(covariates, coarse, mediator, spec) + place.notes
    blocks, pixels = _blocks(place, covariates, spec)
    seen = pixels.of_valid(whole)  # those of the bags
    bag_values, query_values, mediator_notes = _mediators(covariates, coarse, mediator, spec, place, blocks, seen)
    notes += mediator_notes + unfound(spec.missing, [*notes, *mediator_notes])
    with_data = np.isfinite(np.column_stack([place.coarse, query_values])).all(axis=1) & np.isfinite(place.error)
    withheld = place.kept.withhold(with_data, spec)
    observed = with_data & ~withheld.cells
    bags, targets = _sides(spec, place, whole, pixels, blocks, observed, np.isfinite(bag_values).all(axis=1))
    notes += withheld.notes + _counts(spec, with_data, withheld.cells, bags, targets)
    system = CoordinateSystem(place.grid, _spherical(place))
    bag_cell = np.flatnonzero(bags)
    if spec.indirect:
        bag_cell = locate(place.cells, blocks.latitude.ravel()[bags], blocks.longitude.ravel()[bags])
    sides = Sides(
        grid=place.grid, covariates=np.stack(fine, axis=-1) if fine else None, whole=whole, system=system,
        blocks=pixels, bag_block=np.flatnonzero(bags), bag_cell=bag_cell, bag_mediators=bag_values[bags],
        bag_coordinates=_centres(system, blocks)[bags], cell=place.cell, shares=place.shares, coarse_grid=place.cells,
        coarse=place.coarse, target_cell=np.flatnonzero(targets), query_mediators=query_values[targets],
        query_coordinates=_centres(system, place.cells)[targets], truth=None, error=place.error,
    )  # fmt: skip
    problem = assemble(spec, sides, place.target, _sources(covariates, coarse, mediator), tuple(notes))
    named = replace(problem, covariates=covariates_of(covariates, spec.covariates), weights=weights)
    return place.kept.noted(replace(named, **about_target(coarse, spec.target, spec.select)), withheld)


def cells_of_files(covariates: Fields, coarse: Fields, spec: DownscalingSpec) -> tuple[int, int]:
    """(rows, columns) of the coarse cells at and around the covariates, without regard to ``spec.region``."""
    return _place(covariates, matched(covariates, coarse, None, spec)[0], spec).cells.shape


def _blocks(place: _Place, covariates: Fields, spec: DownscalingSpec) -> tuple[Grid, Shares]:
    """The candidate bags, which are the coarse cells where these are matched, and the pixels in them."""
    if not spec.indirect:
        return place.cells, place.shares
    blocks, index = coarse_grid(place.grid, spec.block)
    pixels = Shares.whole(index, blocks.area.size)
    return blocks, pixels.weighted(weights_of_pixels(covariates, spec, place.window))


def _sides(
    spec: DownscalingSpec,
    place: _Place,
    whole: np.ndarray,
    pixels: Shares,
    blocks: Grid,
    observed: np.ndarray,
    mediated: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Which blocks are bags and which coarse cells are targets."""
    if not spec.indirect:
        both = observed & (cover(place.grid, whole, pixels, blocks) >= 0.5)
        both &= pixels.valid_area(whole, place.grid.area)[0] > 0
        return both, both
    return mostly(*pixels.valid_area(whole, place.grid.area)) & mediated, observed


def _centres(system: CoordinateSystem, grid: Grid) -> np.ndarray:
    return system.of_positions(grid.latitude.ravel(), grid.longitude.ravel())


def _spherical(place: _Place) -> bool:
    """Unit vectors where either grid goes round the sphere or the two grids lie apart."""
    disjoint = not (place.cell >= 0).any()
    return needs_sphere(place.grid) or place.cells.wraps or disjoint


def _sources(covariates: Fields, coarse: Fields, mediator: Fields | None) -> tuple[str, str]:
    """Source and licence of all files together."""
    files = {"target": coarse, "covariates": covariates} | ({"mediator": mediator} if mediator else {})
    source = "; ".join(f"{role}: {fields.source}" for role, fields in files.items())
    licences = list(dict.fromkeys(fields.licence for fields in files.values()))
    return source, licences[0] if len(licences) == 1 else "; ".join(f"{r}: {f.licence}" for r, f in files.items())


def _place(covariates: Fields, coarse: Fields, spec: DownscalingSpec) -> _Place:
    """Bring the grids together; a coarse file that overlaps the covariates is cut to their region."""
    window: tuple[slice, slice] = (slice(None), slice(None))
    notes: list[str] = []
    if spec.indirect:
        window, notes = whole_blocks(covariates.grid, spec.block)
    else:
        notes.append("The files are matched directly: the bag of a coarse cell consists of the pixels inside it.")
    grid = covariates.grid.window(*window)
    cells, order = facing(coarse, grid.centre_longitude())
    values, target, density_notes = as_density(coarse, spec, coarse.values(spec.target, spec.select), coarse.grid)
    if density_notes and spec.weights is not None:
        raise InputError(
            f"`{spec.target}` is a sum over each cell, which is divided by the cell's area and so is no mean weighted "
            f"by `{spec.weights}`: omit the weights, or give weighted means."
        )
    values, error, notes = values[:, order], errors_of_cells(coarse, spec)[:, order], notes + density_notes
    cell = locate(cells, grid.latitude, grid.longitude)
    rows, columns = slice(None), slice(None)
    if not (cell >= 0).any():
        notes.append(_disjoint_note(spec))
    else:
        rows, columns = box_around(cell, cells.shape, margin=1)
        if cells.wraps and columns.stop - columns.start >= 0.9 * len(cells.x):
            columns = slice(0, len(cells.x))
        if values[rows, columns].size < values.size:
            cells = cells.window(rows, columns)
            notes.append(
                f"The coarse file is cut to the {cells.shape[0]} × {cells.shape[1]} cells that contain or surround "
                "the covariates."
            )
            cell = locate(cells, grid.latitude, grid.longitude)
    cell, shares = _within(grid, cells, cell)
    if shares.split:
        notes.append(
            f"{shares.split:,} pixels straddle the edges of coarse cells; each enters a cell in proportion to its "
            "area inside."
        )
    part, kept = (order, rows, columns), UsedCells.of(cells.shape, None)
    values, error = (each[rows, columns].ravel() for each in (values, error))
    return _Place(grid, window, cells, values, cell, shares, part, notes, kept, target, error)


def _within(grid: Grid, cells: Grid, cell: np.ndarray) -> tuple[np.ndarray, Shares]:
    """The cell of every pixel's middle (H, W), and the pixels' shares; without cells that are mostly bare."""
    shares = shares_between(grid, cells, cell)
    thin = cover(grid, np.ones(grid.shape, dtype=bool), shares, cells) < 0.5
    wide = shares.renumbered(np.where(thin, -1, np.arange(thin.size)), thin.size)
    with_pixels = np.zeros(cell.size, dtype=bool)
    with_pixels[wide.pixel] = True
    return np.where((cell >= 0) & ~thin[cell] & with_pixels.reshape(cell.shape), cell, -1), wide


def _cut(place: _Place, covariates: Fields, spec: DownscalingSpec) -> _Place:
    """The place cut to ``spec.region``: its cells, and the box of pixels around those that lie in them."""
    if spec.region is None:
        return place
    selected = UsedCells.of(place.cells.shape, spec.region)
    number = np.full(selected.shape, -1)
    cells = place.cells.window(*selected.part)
    number[selected.part] = np.arange(cells.area.size).reshape(cells.shape)
    cell = np.append(number, -1)[place.cell]  # cell −1 reads the last entry
    shares = place.shares.renumbered(number.ravel(), cells.area.size)
    with_pixels = np.zeros(cell.size, dtype=bool)
    with_pixels[shares.pixel] = True
    with_pixels = with_pixels.reshape(cell.shape)
    if not with_pixels.any():
        raise InputError("No covariate pixel lies in the region: choose another one, or the whole field.")
    sides = spec.block if spec.indirect else (1, 1)
    rows, columns = (_box(np.flatnonzero(with_pixels.any(axis=1 - axis)), side) for axis, side in enumerate(sides))
    order, *before = place.part
    after = [
        slice((b.start or 0) + p.start, (b.start or 0) + p.stop) for b, p in zip(before, selected.part, strict=True)
    ]
    return _Place(
        covariates.grid.window(rows, columns),
        (rows, columns),
        cells,
        place.coarse.reshape(selected.shape)[selected.part].ravel(),
        cell[rows, columns],
        shares.window(cell.shape, rows, columns),
        (order, after[0], after[1]),
        place.notes + selected.notes,
        selected,
        place.target,
        place.error.reshape(selected.shape)[selected.part].ravel(),
    )


def _box(inside: np.ndarray, side: int) -> slice:
    """Whole blocks of so many pixels around those ``inside``, which are ascending."""
    return slice(int(inside[0]) // side * side, (int(inside[-1]) // side + 1) * side)


def _disjoint_note(spec: DownscalingSpec) -> str:
    """A note that no pixel lies in a coarse cell; an ``InputError`` if nothing else links the files."""
    if not spec.indirect or not spec.mediators:
        raise InputError(
            "The two files do not overlap in space, so only a mediator can link them: choose one, with indirect "
            "matching, or give files for the same region."
        )
    sentence = "The two files do not overlap in space: only the mediator links them, and no coarse cell can be scored."
    if spec.coordinates:
        sentence += " Without coordinates the link would not fade with distance."
    return sentence


def _notes(covariates: Fields, coarse: Fields, mediator: Fields | None, spec: DownscalingSpec) -> list[str]:
    """Notes of every file, marked by its role, and the times and levels taken."""
    notes = [f"Covariates: {n}" for n in covariates.notes] + [f"Target: {n}" for n in coarse.notes]
    notes += [f"Mediator: {n}" for n in mediator.notes] if mediator else []
    notes += weights_note(spec)
    for name in spec.covariates:
        notes += covariates.selection_notes(name, spec.select) + covariates.remarks(name, spec.select)
    notes += coarse.selection_notes(spec.target, spec.select) + coarse.remarks(spec.target, spec.select)
    if dates := apart_in_time(covariates, coarse, spec):
        notes.append(
            f"The covariates are for {dates[0]}, the target for {dates[1]}: the mediator has to account for "
            "the difference."
        )
    return notes


def _holder(name: str, files: list[Fields | None]) -> Fields:
    """The first file that has the variable."""
    result = next((f for f in files if f is not None and f.holds(name)), None)
    if result is None:
        raise InputError(f"The mediator `{name}` is in none of the files: choose a variable from one of them.")
    return result


def _mediators(
    covariates: Fields,
    coarse: Fields,
    mediator: Fields | None,
    spec: DownscalingSpec,
    place: _Place,
    blocks: Grid,
    pixels: Shares,
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Mediators of all blocks (b, r), over their ``pixels``, and of all coarse cells (c, r), in the same units, and
    notes."""
    bag_side, query_side, notes = [], [], []
    for name in spec.mediators:
        bag_source = _holder(name, [mediator, covariates, coarse])
        query_source = _holder(name, [mediator, coarse, covariates])
        units = bag_source.check(name).units
        bag_field, query_field = (f.values(name, spec.select) for f in (bag_source, query_source))
        query_field, note = convert(query_field, query_source.check(name).units, units, name)
        if bag_source is covariates:
            values, how = pixels.mean(bag_field[place.window], place.grid.area), "its area mean"
        else:
            values, how = sample(bag_source.grid, bag_field, blocks)
        if query_source is coarse:
            queries, how_there = place.of_coarse(query_field), "its own values"
        else:
            queries, how_there = sample(query_source.grid, query_field, place.cells)
        bag_side.append(values)
        query_side.append(queries)
        notes += (
            bag_source.selection_notes(name, spec.select)
            + bag_source.remarks(name, spec.select)
            + ([note] if note else [])
        )
        roles = {id(mediator): "mediator file", id(covariates): "covariates' file", id(coarse): "target's file"}
        notes.append(
            f"Mediator `{name}`: for the bags {how} (from the {roles[id(bag_source)]}), for the coarse cells "
            f"{how_there} (from the {roles[id(query_source)]})."
        )
    empty = np.empty((blocks.area.size, 0)), np.empty((place.cells.area.size, 0))
    return (
        np.stack(bag_side, axis=-1) if bag_side else empty[0],
        np.stack(query_side, axis=-1) if query_side else empty[1],
        notes,
    )


def _counts(
    spec: DownscalingSpec, with_data: np.ndarray, withheld: np.ndarray, bags: np.ndarray, targets: np.ndarray
) -> list[str]:
    notes = ["No high-resolution truth is available: scores come from withheld coarse cells and from re-aggregation."]
    if not with_data.all():
        notes.append(f"{int((~with_data).sum())} of {len(with_data)} coarse cells lack the target or a mediator.")
    if withheld.any():
        notes.append(
            f"{int(withheld.sum())} of {int(with_data.sum())} coarse cells lose their target (seed {spec.seed}) and "
            "are used only for scoring."
        )
    if spec.indirect and not bags.all():
        notes.append(
            f"{int((~bags).sum())} of {len(bags)} blocks are not used as bags: covariates or mediators are missing."
        )
    if not spec.indirect and (lost := int((with_data & ~withheld & ~targets).sum())):
        notes.append(f"{lost} coarse cells are skipped: the covariates cover less than half of their area.")
    return notes
