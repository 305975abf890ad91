"""Altitude and share of land of the pixels of a prediction, by which scores are told apart."""

from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from deconditioning.errors import InputError
from deconditioning.fields.grids.roles import LAND, is_among, orography_of
from deconditioning.fields.units import convert

if TYPE_CHECKING:
    import xarray as xr

#: Largest value of a share; larger ones are per cent.
_SHARE = 1.5


def static_fields(
    dataset: "xr.Dataset", prediction: "xr.DataArray"
) -> tuple[Float[np.ndarray, "h w"] | None, Float[np.ndarray, "h w"] | None]:
    """Altitude in m and share of land (H, W) of a dataset, by standard name or name; None where it has none.

    Fields with other dimensions than rows and columns are not looked at. Raises ``InputError`` for another grid, and
    for an altitude in units that are no length.
    """
    found: dict[str, np.ndarray] = {}
    for key in map(str, dataset.data_vars):
        field = dataset[key].squeeze(drop=True)
        if field.ndim != 2 or field.dtype.kind not in "fiub":
            continue
        names = [key, str(field.attrs.get("standard_name", ""))]
        role = "altitude" if orography_of(names) else "land" if any(is_among(name, LAND) for name in names) else ""
        if role and role not in found:
            found[role] = _on_grid(field, key, prediction)
            units = str(field.attrs.get("units", ""))
            if role == "altitude" and units:
                found[role] = convert(found[role], units, "m", f"`{key}`")[0]
    land = found.get("land")
    if land is not None and np.nanmax(land) > _SHARE:
        land = land / 100
    return found.get("altitude"), land


def _on_grid(field: "xr.DataArray", name: str, prediction: "xr.DataArray") -> Float[np.ndarray, "h w"]:
    """The values on the rows and columns of the prediction."""
    rows, columns = prediction.dims[1:]
    if set(field.dims) == {rows, columns}:
        field = field.transpose(rows, columns)
    if field.shape != prediction.shape[1:]:
        pixels, expected = (" × ".join(map(str, each)) for each in (field.shape, prediction.shape[1:]))
        raise InputError(
            f"`{name}` has {pixels} pixels, the prediction {expected}: remap one to the grid of the other."
        )
    for dim, other in zip(field.dims, (rows, columns), strict=True):
        if dim not in field.coords or other not in prediction.coords:
            continue
        axis, expected_axis = field[dim].values, prediction[other].values
        near = 0.01 * np.abs(np.diff(expected_axis)).min() if len(expected_axis) > 1 else 0.01
        if np.abs(axis[::-1] - expected_axis).max() <= near < np.abs(axis - expected_axis).max():
            field = field.isel({dim: slice(None, None, -1)})
        elif np.abs(axis - expected_axis).max() > near:
            raise InputError(f"`{name}` has other values of `{dim}`: remap one to the grid of the other.")
    return np.asarray(field.values, dtype=float)
