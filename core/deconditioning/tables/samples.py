"""Discrete samples of a NetCDF file (CF conventions, chapter 9), such as series at stations: a row a measurement."""

from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.grids.roles import role

if TYPE_CHECKING:
    import xarray as xr

#: The ``cf_role`` of the variable that identifies series (CF conventions, section 9.5).
_NAMES_SERIES = "timeseries_id"


def long_form(dataset: "xr.Dataset", most: int) -> "xr.Dataset | None":
    """The variables along one dimension, a row a measurement, with what belongs to its station repeated; None where
    the file is a plain table.

    Contiguous and indexed ragged arrays, and series along a dimension of times beside that of the stations, or of the
    regions that a variable with the ``cf_role`` of an identifier names. Raises ``InputError`` if the counts or indices
    of a ragged array contradict the file, or if there are too many rows.
    """
    for name, variable in dataset.variables.items():
        for key in ("sample_dimension", "instance_dimension"):
            if key in variable.attrs and variable.ndim == 1:
                return _ragged(dataset, str(name), key, str(variable.attrs[key]))
    named = [variable for variable in dataset.variables.values() if variable.attrs.get("cf_role") == _NAMES_SERIES]
    pair = _series(dataset, named) if "featureType" in dataset.attrs or named else None
    if pair is None:
        return None
    if (rows := dataset.sizes[pair[0]] * dataset.sizes[pair[1]]) > most:
        raise InputError(f"The file has {rows:,} measurements; the limit is {most:,}: keep those you need.")
    sides = {dim: np.arange(dataset.sizes[dim]) for dim in pair}
    station, time = (each.ravel() for each in np.meshgrid(*sides.values(), indexing="ij"))
    index = dict(zip(pair, (station, time), strict=True))
    return _repeated(dataset, {dim: ("row", index[dim]) for dim in pair})


def _series(dataset: "xr.Dataset", named: list["xr.Variable"]) -> tuple[str, str] | None:
    """The dimensions of stations, or else of what is ``named``, and of times, where a variable has both."""
    stations = {str(v.dims[0]) for n, v in dataset.variables.items()
                if v.ndim == 1 and (what := role(str(n), v)) and what[1] == "y"}  # fmt: skip
    stations = stations or {str(v.dims[0]) for v in named if v.ndim == 1}
    times = {str(v.dims[0]) for v in dataset.variables.values() if v.ndim == 1 and v.dtype.kind == "M"} - stations
    pairs = [(one, other) for one in stations for other in times
             if any(set(v.dims) == {one, other} for v in dataset.variables.values())]  # fmt: skip
    return pairs[0] if len(pairs) == 1 else None


def _ragged(dataset: "xr.Dataset", name: str, key: str, other: str) -> "xr.Dataset":
    """A ragged array, whose variable of counts (``sample_dimension``) or of indices names the other dimension."""
    values, dim = np.asarray(dataset.variables[name].values, dtype=float), str(dataset.variables[name].dims[0])
    known = np.isfinite(values) & (values >= 0) & (values == np.round(values))
    counted = key == "sample_dimension"
    rows, stations = (other, dim) if counted else (dim, other)
    size = {dim: dataset.sizes.get(dim, -1) for dim in (rows, stations)}
    index = np.zeros(0, dtype=int)
    if known.all() and values.max(initial=0) <= max(size.values()) and min(size.values()) >= 0:
        index = np.repeat(np.arange(len(values)), values.astype(int)) if counted else values.astype(int)
    if len(index) != size[rows] or index.max(initial=0) >= size[stations]:
        raise InputError(
            f"`{name}` does not say which of the {max(size[stations], 0):,} stations along `{stations}` the "
            f"{max(size[rows], 0):,} measurements along `{rows}` belong to: write the file again."
        )
    return _repeated(dataset.drop_vars(name), {stations: (rows, index)})


def _repeated(dataset: "xr.Dataset", index: dict[str, tuple[str, np.ndarray]]) -> "xr.Dataset":
    import xarray as xr

    along = dataset.reset_coords()
    chosen = {dim: xr.DataArray(at, dims=row) for dim, (row, at) in index.items()}
    return along.isel(chosen)
