"""From a dataset to fields: coordinates found, ordered, checked; what was changed is said."""

from typing import TYPE_CHECKING

import numpy as np

from core.errors import InputError
from core.fields.axes import METRES, Axes, find_axes
from core.fields.grid import Grid, make_grid
from core.fields.gridded import Fields
from core.fields.ordering import check_connected, order_latitudes, order_longitudes, order_plain
from core.fields.sphere import wrap_longitude
from core.fields.validity import look_at_values

if TYPE_CHECKING:
    import xarray as xr


def fields_from_dataset(dataset: "xr.Dataset", *, source: str = "", licence: str = "", lazy: bool = False) -> Fields:
    """Fields of a decoded dataset in memory, or ``lazy`` on disk (any order of rows and columns, any extra dimensions).

    Latitudes and longitudes are put in ascending order; a region is kept in one piece across 0° or
    180°; a global field keeps its seam. ``source`` and ``licence`` are used where the file's global
    attributes say nothing.
    """
    dataset = _plain(dataset)
    axes = find_axes(dataset)
    grid, order, notes = _grid(dataset, axes)
    kept, left, fields = _on_grid(dataset, axes, grid, order)
    kept, said = look_at_values(kept, fields, lazy or any(v.chunks for v in kept.variables.values()))
    if left:
        notes.append(f"Not on the grid and left out: {', '.join(left[:8])}{' …' if len(left) > 8 else ''}.")
    return Fields(kept, grid, tuple(notes + said), _source(dataset.attrs, source), _licence(dataset.attrs, licence))


def _plain(dataset: "xr.Dataset") -> "xr.Dataset":
    """Without indexes (duplicates are reported here, not in xarray) and without repeated dimensions."""
    double = [n for n, v in dataset.variables.items() if len(set(v.dims)) < len(v.dims)]
    return dataset.drop_vars(double).drop_indexes(list(dataset.xindexes), errors="ignore")


def _source(attributes: dict, name: str) -> str:
    said = [str(attributes[k]).strip() for k in ("title", "source", "institution", "origin") if attributes.get(k)]
    return "; ".join([name, *said] if name else said) or "not stated"


def _licence(attributes: dict, given: str) -> str:
    said = next((str(attributes[k]) for k in ("licence", "license", "rights") if attributes.get(k)), "")
    return said.strip() or given or "not stated in the file"


Order = tuple[np.ndarray, np.ndarray]


def _line(dataset: "xr.Dataset", name: str) -> tuple[np.ndarray, list[str]]:
    """Values (n,) of a 1-D coordinate in degrees or metres."""
    array = dataset[name]
    values = np.asarray(array.values, dtype=float)
    units = str(array.attrs.get("units", "")).lower().strip()
    if not np.isfinite(values).all():
        raise InputError(f"The coordinate `{name}` has missing values: every row and column needs its position.")
    if units.startswith("rad"):
        return np.rad2deg(values), [f"`{name}` was in radians; degrees are used."]
    if METRES.get(units, 1.0) != 1.0:
        return values * METRES[units], [f"`{name}` was in {units}; metres are used."]
    return values, []


def _grid(dataset: "xr.Dataset", axes: Axes) -> tuple[Grid, Order, list[str]]:
    sizes = dataset.sizes[axes.y_dim], dataset.sizes[axes.x_dim]
    if min(sizes) < 2:
        raise InputError(
            f"The grid has {sizes[0]} rows and {sizes[1]} columns: at least two of each are needed to form cells."
        )
    if axes.kind == "curvilinear":
        return _curvilinear(dataset, axes)
    y, notes = _line(dataset, axes.y)
    x, more = _line(dataset, axes.x)
    notes += more
    wraps = False
    if axes.kind == "projected":
        (y, rows, said), (x, columns, said_x) = order_plain(y, axes.y), order_plain(x, axes.x)
    else:
        y, rows, said = order_latitudes(y, axes.y)
        x, columns, wraps, said_x = order_longitudes(x, axes.x)
    grid = make_grid(
        axes.kind, y, x, names=(axes.y_dim, axes.x_dim), mapping=axes.mapping, wraps=wraps and axes.kind == "latlon"
    )
    return grid, (rows, columns), notes + said + said_x


def _curvilinear(dataset: "xr.Dataset", axes: Axes) -> tuple[Grid, Order, list[str]]:
    position = []
    for name in (axes.y, axes.x):
        array = dataset[name]
        values = array.isel(dict.fromkeys(array.dims[:-2], 0)).values.astype(float)
        if not np.isfinite(values).all():
            raise InputError(f"The coordinate `{name}` has missing values: every cell needs its position.")
        position.append(values)
    if np.abs(position[0]).max() > 90.001:
        raise InputError(f"`{axes.y}` goes beyond ±90, so it is no latitude in degrees: check the coordinates.")
    if np.abs(position[1]).max() > 1080:
        raise InputError(f"`{axes.x}` reaches {np.abs(position[1]).max():g}, which is no longitude: give degrees.")
    check_connected(position[0], position[1], (axes.y, axes.x))
    rows, columns = np.arange(position[0].shape[0]), np.arange(position[0].shape[1])
    around = np.abs(wrap_longitude(np.diff(position[1], axis=1)).sum(axis=1)).max()
    wraps = bool(around * (1 + 1 / (len(columns) - 1)) > 355)
    grid = make_grid(
        "curvilinear", rows, columns, names=(axes.y_dim, axes.x_dim), position=(position[0], position[1]), wraps=wraps
    )
    note = f"The grid is curvilinear: positions are the two-dimensional `{axes.y}` and `{axes.x}`."
    return grid, (rows, columns), [note]


def _on_grid(dataset: "xr.Dataset", axes: Axes, grid: Grid, order: Order) -> tuple["xr.Dataset", list[str], list[str]]:
    """The dataset in the grid's order with rows and columns last, the names of what is not on it, and of what is."""
    kept = dataset.isel({axes.y_dim: _slice(order[0]), axes.x_dim: _slice(order[1])})
    kept = kept.transpose(..., axes.y_dim, axes.x_dim)
    drop = [n for n in (axes.y_dim, axes.x_dim) if n in kept.variables and kept[n].ndim == 1]
    kept = kept.drop_vars(drop).assign_coords({axes.y_dim: grid.y, axes.x_dim: grid.x})
    for name, found in ((axes.y_dim, axes.y), (axes.x_dim, axes.x)):
        kept[name].attrs.update(dataset[found].attrs if axes.kind != "curvilinear" else {})
    fields = [str(n) for n in kept.data_vars if kept.variables[n].dims[-2:] == (axes.y_dim, axes.x_dim)]
    others = [str(n) for n in kept.data_vars if str(n) not in fields and kept.variables[n].ndim > 0]
    return kept, [n for n in others if not _is_bounds(n)], fields


def _slice(order: np.ndarray) -> slice | np.ndarray:
    """A slice for a run of rows up or down, so that no values are copied."""
    if len(order) > 1 and np.all(np.diff(order) == 1):
        return slice(int(order[0]), int(order[-1]) + 1)
    if len(order) > 1 and order[-1] == 0 and np.all(np.diff(order) == -1):
        return slice(int(order[0]), None, -1)
    return order


def _is_bounds(name: str) -> bool:
    return name.lower().endswith(("_bnds", "_bounds", "_bnd", "_vertices"))
