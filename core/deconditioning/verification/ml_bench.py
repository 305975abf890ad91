"""Predictions as files of CORDEX ML-Bench: daily ``tasmax`` and ``pr`` with two-dimensional coordinates."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.verification.indices import Kind, in_index_units

if TYPE_CHECKING:
    import xarray as xr

#: Members that a prediction with joint draws has there.
MEMBERS = 10
_NAMES: dict[Kind, tuple[str, str, str]] = {
    "temperature": ("tasmax", "air_temperature", "daily maximum near-surface air temperature"),
    "precipitation": ("pr", "lwe_thickness_of_precipitation_amount", "daily precipitation"),
}


def ml_bench_file(predictions: "Mapping[Kind, xr.Dataset]") -> "xr.Dataset":
    """One dataset of the predictions of temperature and precipitation, each as `deconditioning downscale` writes it.

    ``tasmax`` in K and ``pr`` in mm, (time, y, x), with ``lat`` and ``lon`` (y, x); where all predictions have at least
    ten draws, (member, time, y, x) with the first ten, as generative models hand them in. Raises ``InputError`` without
    latitudes and longitudes, and for variables of other kinds. Source: CORDEX ML-Bench, submission.
    """
    import xarray as xr

    drawn = all("draws" in each and each.sizes.get("realization", 0) >= MEMBERS for each in predictions.values())
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {}
    for kind, dataset in predictions.items():
        if kind not in _NAMES:
            raise InputError("CORDEX ML-Bench has daily maximum temperature and precipitation, and this is neither.")
        name, standard, words = _NAMES[kind]
        field = dataset["draws"][:MEMBERS] if drawn else dataset["mean"]
        values, units = in_index_units(field.values, str(field.attrs.get("units", "")), kind)
        dims = ("member", "time", "y", "x")[-values.ndim :]
        about = {"standard_name": standard, "long_name": words, "units": units}
        variables[name] = (dims, values.astype("f4"), about)
        time = dataset[dataset["mean"].dims[0]]
        coordinates = {"time": ("time", time.values, time.attrs), **_places(dataset["mean"])}
    result = xr.Dataset(variables, coordinates, {"Conventions": "CF-1.11"})
    return result.assign_coords(member=np.arange(1, MEMBERS + 1)) if drawn else result


def _places(field: "xr.DataArray") -> dict[str, Any]:
    """Latitude and longitude of every pixel."""
    found = {}
    for name, units, words in (("lat", "degrees_north", "latitude"), ("lon", "degrees_east", "longitude")):
        for key, coordinate in field.coords.items():
            if coordinate.attrs.get("units") == units or key in (name, words):
                found[name] = coordinate
    if len(found) < 2:
        raise InputError("The prediction has no latitudes and longitudes, which CORDEX ML-Bench needs for every pixel.")
    rows, columns = field.dims[1:]
    template = field[0]
    result = {}
    for name, coordinate in found.items():
        full = coordinate.broadcast_like(template).transpose(rows, columns)
        about = {"units": coordinate.attrs.get("units", "degrees_north" if name == "lat" else "degrees_east")}
        result[name] = (("y", "x"), full.values.astype("f8"), about)
    return result
