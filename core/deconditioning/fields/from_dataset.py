"""Converts a dataset to fields: finds, orders and checks the coordinates, and notes every change."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.axes import Axes, find_axes
from deconditioning.fields.grids.axis_values import bounded, line, origin_in_metres, scale_of
from deconditioning.fields.grids.bounds import settled
from deconditioning.fields.grids.cell_corners import by_corners
from deconditioning.fields.grids.duplicate_cells import folded_cells, repeated_columns, shared_positions
from deconditioning.fields.grids.grid import Grid, cell_edges, make_grid
from deconditioning.fields.grids.missing_positions import LEAST_PLACED, fill_positions, placed
from deconditioning.fields.grids.ordering import check_connected, order_latitudes, order_longitudes, order_plain
from deconditioning.fields.grids.position_checks import agree, may_be_radians, part_of_a_cell, positions_on_axes
from deconditioning.fields.grids.roles import role
from deconditioning.fields.grids.sphere import wrap_longitude
from deconditioning.fields.reading.validity import look_at_values
from deconditioning.fields.selecting import REPEATED
from deconditioning.fields.times import period_notes, read_odd
from deconditioning.fields.units import is_plain_number

if TYPE_CHECKING:
    import xarray as xr


def fields_from_dataset(dataset: "xr.Dataset", *, source: str = "", licence: str = "", lazy: bool = False) -> Fields:
    """Fields of a decoded dataset in memory, or ``lazy`` on disk, with any order of rows and columns and any extra
    dimensions.

    Latitudes and longitudes are sorted in ascending order; a region is kept in one piece across 0° or 180°; a global
    field keeps its seam. ``source`` and ``licence`` are used if the file's global attributes give none.

    Raises ``InputError`` if no two horizontal coordinates are found or they cannot be used.
    """
    dataset = settled(read_odd(_plain(dataset)))
    axes = find_axes(dataset)
    axes, grid, order, notes = _grid(dataset, axes)
    on_grid, left, fields = _on_grid(dataset, axes, grid, order)
    on_grid, notes_on_values, marks = look_at_values(
        on_grid, fields, lazy or any(v.chunks for v in on_grid.variables.values())
    )
    if left:
        named = ", ".join(f"`{name}`" for name in left[:8])
        notes.append(f"Skipped because they are not on the grid: {named}{' …' if len(left) > 8 else ''}.")
    licences = _licence(dataset.attrs, licence)
    result = Fields(on_grid, grid, (), _source(dataset.attrs, source), licences, lazy, marks=marks)
    return replace(result, notes=tuple(notes + period_notes(dataset) + notes_on_values + _repeated(result, fields)))


def _repeated(fields: Fields, names: list[str]) -> list[str]:
    """Sentences on values that occur more than once along a dimension, which only their index tells apart."""
    notes = []
    for dim in dict.fromkeys(str(d) for name in names for d in fields.dataset.variables[name].dims[:-2]):
        again = [label for label in fields.labels(dim) if REPEATED.search(label)]
        if again:
            some = ", ".join(again[:4]) + (" …" if len(again) > 4 else "")
            notes.append(
                f"{len(again)} values along `{dim}` occur more than once, {some}: choose those by index, such as "
                f"`{dim}=#{fields.labels(dim).index(again[0])}`."
            )
    return notes


def _plain(dataset: "xr.Dataset") -> "xr.Dataset":
    """Without indexes (duplicates are reported here, not in xarray) and without repeated dimensions."""
    double = [n for n, v in dataset.variables.items() if len(set(v.dims)) < len(v.dims)]
    return dataset.drop_vars(double).drop_indexes(list(dataset.xindexes), errors="ignore")


def _source(attributes: dict[str, Any], name: str) -> str:
    sentences = [str(attributes[k]).strip() for k in ("title", "source", "institution", "origin") if attributes.get(k)]
    return "; ".join([name, *sentences] if name else sentences) or "not stated"


def _licence(attributes: dict[str, Any], usual: str) -> str:
    licence = next((str(attributes[k]) for k in ("licence", "license", "rights") if attributes.get(k)), "")
    return licence.strip() or usual or "not stated in the file"


_Order = tuple[np.ndarray, np.ndarray]


def _grid(dataset: "xr.Dataset", axes: Axes) -> tuple[Axes, Grid, _Order, list[str]]:
    """The grid with the axes that it is made from, its order of the file's rows and columns, and sentences."""
    sizes = dataset.sizes[axes.y_dim], dataset.sizes[axes.x_dim]
    if min(sizes) < 2:
        raise InputError(
            f"The grid has {sizes[0]} rows and {sizes[1]} columns: at least two of each are needed to form cells."
        )
    if axes.kind == "curvilinear":
        return axes, *_curvilinear(dataset, axes)
    sheet = positions_on_axes(dataset, axes)
    if sheet is None:
        return axes, *_rectilinear(dataset, axes)
    lines, positions = f"`{axes.y}` and `{axes.x}`", f"`{sheet.y}` and `{sheet.x}`"
    try:
        grid, (rows, columns), notes = _rectilinear(dataset, axes)
    except InputError as error:
        grid, order, notes = _curvilinear(dataset, sheet)
        return sheet, grid, order, [*notes, f"They are used because {lines} cannot be used. {error}"]
    try:
        of_file = [_sheet(dataset, name, sheet)[rows][:, columns] for name in (sheet.y, sheet.x)]
        distance = agree(grid, *of_file)
        if distance and agree(grid, *map(np.rad2deg, of_file)) is None:
            return (
                axes,
                grid,
                (rows, columns),
                [*notes, f"{positions} are in radians, although their units do not say so."],
            )
        if distance is None:
            shift = f"{positions} differ by much of a cell from {lines}, which are used as the cells' centres."
            return axes, grid, (rows, columns), notes + [shift] * part_of_a_cell(grid, *of_file)
        other, order, grid_notes = _curvilinear(dataset, sheet)
    except InputError as error:
        return axes, grid, (rows, columns), [*notes, f"{lines} are used because {positions} cannot be used. {error}"]
    return sheet, other, order, [*grid_notes, f"{lines} give different cell positions ({distance}) and are not used."]


def _rectilinear(dataset: "xr.Dataset", axes: Axes) -> tuple[Grid, _Order, list[str]]:
    y, scale, notes = line(dataset[axes.y], axes)
    x, scale_x, more = line(dataset[axes.x], axes)
    notes = list(dict.fromkeys([*axes.notes, *notes, *more]))
    if axes.kind == "latlon" and scale == scale_x == 1:
        notes += may_be_radians(y, x, (axes.y, axes.x), sure=True)
    wraps, turning = False, axes.kind != "projected"
    mapping, of_origin = (axes.mapping, []) if turning else origin_in_metres(axes.mapping, scale, scale_x)
    if turning:
        y, rows, notes_y = order_latitudes(y, axes.y)
        x, columns, wraps, notes_x = order_longitudes(x, axes.x)
    else:
        (y, rows, notes_y), (x, columns, notes_x) = order_plain(y, axes.y), order_plain(x, axes.x)
    y, y_edges, of_y = bounded(dataset, (axes.y, axes.y_dim), scale, (y, rows), turn=False)
    x, x_edges, of_x = bounded(dataset, (axes.x, axes.x_dim), scale_x, (x, columns), turn=turning)
    edges = (
        cell_edges(y, turning) if y_edges is None else np.clip(y_edges, -90, 90) if turning else y_edges,
        cell_edges(x, False) if x_edges is None else x_edges,
    )
    grid = make_grid(
        axes.kind, y, x, names=(axes.y_dim, axes.x_dim), mapping=mapping, edges=edges,
        wraps=wraps and axes.kind == "latlon",
    )  # fmt: skip
    if lost := int((grid.area == 0).sum()):
        notes.append(f"{lost:,} of {grid.area.size:,} cells have no position on Earth and count as missing.")
    return grid, (rows, columns), notes + of_origin + notes_y + notes_x + of_y + of_x


def _curvilinear(dataset: "xr.Dataset", axes: Axes) -> tuple[Grid, _Order, list[str]]:
    latitude, longitude = (_sheet(dataset, name, axes) for name in (axes.y, axes.x))
    of_units = [note for name in (axes.y, axes.x) for note in scale_of(dataset[name], axes)[1]]
    there = placed(latitude, longitude) & ~shared_positions(latitude, longitude)
    if there.mean() < LEAST_PLACED:
        raise InputError(f"The coordinates `{axes.y}` and `{axes.x}` have missing values: cells need their positions.")
    if np.abs(latitude[there]).max() > 90.001:
        raise InputError(f"`{axes.y}` exceeds ±90, so it is not a latitude in degrees: check the coordinates.")
    if (far := np.abs(longitude[there]).max()) > 1080:
        raise InputError(f"`{axes.x}` reaches {far:g}, which is not a longitude: use degrees.")
    known = np.where(there, latitude, np.nan), np.where(there, longitude, np.nan)
    units = [str(dataset[name].attrs.get("units", "")) for name in (axes.y, axes.x)]
    of_units += [] if of_units else may_be_radians(*known, (axes.y, axes.x), not any(map(is_plain_number, units)))
    torn = check_connected(*known, (axes.y, axes.x))
    if len(np.unique(latitude[there])) == 1 or len(np.unique(longitude[there])) == 1:
        raise InputError(f"`{axes.y}` or `{axes.x}` has one value in all cells, so they are not positions: write both.")
    twice = repeated_columns(*known)
    rows, columns = np.arange(latitude.shape[0]), np.arange(latitude.shape[1] - twice)
    latitude, longitude, there, torn = (a[:, columns] for a in (latitude, longitude, there, torn))
    folded = folded_cells(*(a[:, columns] for a in known))
    notes = _on_positions(axes, twice, there, folded, torn & there)
    position = fill_positions(latitude, longitude, there)
    there = there & ~folded & ~torn
    position, corners, corner_notes = by_corners(dataset, axes, position, there)
    around = np.abs(wrap_longitude(np.diff(position[1], axis=1)).sum(axis=1)).max()
    wraps = bool(around * (1 + 1 / (len(columns) - 1)) > 355)
    grid = make_grid(
        "curvilinear", rows, columns, names=(axes.y_dim, axes.x_dim), position=position, wraps=wraps, there=there,
        area=None if corners is None else corners.area, vertices=None if corners is None else corners.vertices,
    )  # fmt: skip
    return grid, (rows, columns), of_units + notes + corner_notes


def _on_positions(axes: Axes, twice: int, there: np.ndarray, folded: np.ndarray, torn: np.ndarray) -> list[str]:
    """Sentences on a curvilinear grid: its positions, those that are missing, what it holds twice, where it is torn."""
    notes = [f"The grid is curvilinear: positions are the two-dimensional `{axes.y}` and `{axes.x}`."]
    if not there.all():
        notes.append(f"{int((~there).sum()):,} of {there.size:,} cells have no position and count as missing.")
    if twice:
        words = "column repeats the first; it is" if twice == 1 else f"{twice} columns repeat the first; they are"
        notes.append(f"The last {words} left out.")
    if folded.any():
        notes.append(f"{int(folded.sum()):,} cells coincide with others along a fold of the grid and are counted once.")
    if torn.any():
        notes.append(
            f"The grid is in disconnected pieces, like ORCA2's inland seas: {int(torn.sum()):,} cells far from their "
            "neighbours count as missing."
        )
    return notes


def _sheet(dataset: "xr.Dataset", name: str, axes: Axes) -> np.ndarray:
    """(H, W) values in degrees of a coordinate on rows and columns, NaN where missing.

    Raises ``InputError`` if it changes along a further dimension, or is not an angle.
    """
    array = dataset[name].transpose(..., axes.y_dim, axes.x_dim)
    ahead = array.dims[:-2]
    values = array.isel(dict.fromkeys(ahead, 0)).values.astype(float)
    for dim in ahead:
        last = array.isel({**dict.fromkeys(ahead, 0), dim: -1}).values.astype(float)
        if not np.array_equal(values, last, equal_nan=True):
            raise InputError(
                f"The coordinate `{name}` differs along `{dim}`, so there is no single grid: select one first (`ncks "
                f"-d {dim},0`), or remap all to one with `cdo remapcon,r720x360`."
            )
    scale, _ = scale_of(array, replace(axes, kind="curvilinear"))
    return values if scale == 1 else values * scale


def _on_grid(dataset: "xr.Dataset", axes: Axes, grid: Grid, order: _Order) -> tuple["xr.Dataset", list[str], list[str]]:
    """The dataset in the grid's order with rows and columns last, the names of what is not on it, and of what is."""
    sliced = dataset.isel({axes.y_dim: _slice(order[0]), axes.x_dim: _slice(order[1])})
    sliced = sliced.transpose(..., axes.y_dim, axes.x_dim)
    drop = [n for n in (axes.y_dim, axes.x_dim) if n in sliced.variables and sliced[n].ndim == 1]
    sliced = sliced.drop_vars(drop).assign_coords({axes.y_dim: grid.y, axes.x_dim: grid.x})
    for name, result in ((axes.y_dim, axes.y), (axes.x_dim, axes.x)):
        sliced[name].attrs.update(dataset[result].attrs if axes.kind != "curvilinear" else {})
    elsewhere = [n for n in sliced.data_vars if _placed_elsewhere(sliced, str(n), axes)]
    sliced = sliced.set_coords(elsewhere)
    fields = [str(n) for n in sliced.data_vars if sliced.variables[n].dims[-2:] == (axes.y_dim, axes.x_dim)]
    others = [str(n) for n in [*sliced.data_vars, *elsewhere] if str(n) not in fields and sliced.variables[n].ndim > 0]
    return sliced, others, fields


def _placed_elsewhere(dataset: "xr.Dataset", name: str, axes: Axes) -> bool:
    """Whether a variable on the same rows and columns names a latitude that is not the grid's, as staggered ones do."""
    variable = dataset.variables[name]
    names = str(variable.encoding.get("coordinates") or variable.attrs.get("coordinates") or "").split()
    sheets = [n for n in names if n in dataset.variables and dataset.variables[n].ndim >= 2]
    latitudes = [n for n in sheets if role(n, dataset.variables[n]) == ("latlon", "y")]
    return axes.kind == "curvilinear" and bool(latitudes) and axes.y not in latitudes


def _slice(order: np.ndarray) -> slice | np.ndarray:
    """A slice for a run of rows up or down, so that no values are copied."""
    if len(order) > 1 and np.all(np.diff(order) == 1):
        return slice(int(order[0]), int(order[-1]) + 1)
    if len(order) > 1 and order[-1] == 0 and np.all(np.diff(order) == -1):
        return slice(int(order[0]), None, -1)
    return order
