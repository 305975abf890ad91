"""Small datasets with known answers."""

from io import BytesIO

import numpy as np
import xarray as xr
from scipy.ndimage import gaussian_filter

from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields


def smooth(latitude: np.ndarray, longitude: np.ndarray) -> np.ndarray:
    """A field that is continuous on the sphere."""
    phi, lam = np.deg2rad(latitude), np.deg2rad(longitude)
    return 280 + 20 * np.cos(phi) * np.cos(lam + 0.3) - 30 * np.sin(phi) ** 2


def rectilinear(
    y: np.ndarray, x: np.ndarray, *, names: tuple[str, str] = ("lat", "lon"), attributes: bool = True, seed: int = 0
) -> xr.Dataset:
    """`t` = smooth + 0.01·`orog`, `q` a mediator, on any latitudes and longitudes in any order."""
    latitude, longitude = np.meshgrid(y, x, indexing="ij")
    rng = np.random.default_rng(seed)
    height = 500 * rng.standard_normal(latitude.shape)
    temperature = smooth(latitude, longitude) - 0.01 * height
    data = xr.Dataset(
        {
            "t": (names, temperature, {"units": "K", "standard_name": "air_temperature", "long_name": "temperature"}),
            "orog": (names, height, {"units": "m", "long_name": "height"}),
            "q": (names, temperature**2 / 1e4 + 0.1 * rng.standard_normal(latitude.shape), {"units": "g kg-1"}),
        },
        {names[0]: y, names[1]: x},
        {"title": "test field", "licence": "CC0"},
    )
    if attributes:
        data[names[0]].attrs["units"], data[names[1]].attrs["units"] = "degrees_north", "degrees_east"
    return data


def region(rows: int = 36, columns: int = 48, **options) -> xr.Dataset:
    """A region of 1° cells: 20–56° N, 10° W–38° E."""
    return rectilinear(20.5 + np.arange(rows), -9.5 + np.arange(columns), **options)


def runaway(seed: int = 0) -> xr.Dataset:
    """The target follows a covariate that no neighbour tells of: λ and ℓ, learned from places, smear W over all."""
    rng, data = np.random.default_rng(seed), region(36, 36)
    covariate = gaussian_filter(rng.standard_normal((36, 36)), 1.5)
    data.orog.values[:] = covariate / covariate.std()
    data.t.values[:] = 280 + 5 * data.orog.values + 10 * gaussian_filter(rng.standard_normal((36, 36)), 6)
    return data


def plane(seed: int = 0) -> xr.Dataset:
    """A plane, and a covariate that has nothing to do with it."""
    data = region(36, 36, seed=seed)
    data.t.values[:] = (2 * data.lat - 0.5 * data.lon + 280).values
    return data


def fields(dataset: xr.Dataset) -> Fields:
    """Fields without a file."""
    return fields_from_dataset(dataset, source="test")


def netcdf(dataset: xr.Dataset, form: str = "NETCDF4", **encoding) -> bytes:
    """The dataset as a file's bytes."""
    buffer = BytesIO()
    if form == "NETCDF4":
        dataset.to_netcdf(buffer, engine="h5netcdf", encoding=encoding)
    else:
        dataset.to_netcdf(buffer, engine="scipy", format=form)
    return buffer.getvalue()


def rotated_dataset(pole: tuple[float, float] = (37.5, 177.5), offset: float | None = None) -> xr.Dataset:
    """A rotated-pole grid like the UKV's, with its longitudes given around 360."""
    y, x = np.linspace(-3, 3, 31), 357 + np.linspace(0, 6, 41)
    mapping = {
        "grid_mapping_name": "rotated_latitude_longitude",
        "grid_north_pole_latitude": pole[0],
        "grid_north_pole_longitude": pole[1],
    }
    if offset is not None:
        mapping["north_pole_grid_longitude"] = offset
    rng = np.random.default_rng(3)
    data = xr.Dataset(
        {
            "t": (("rlat", "rlon"), 280 + rng.standard_normal((31, 41)), {"units": "K", "grid_mapping": "pole"}),
            "h": (("rlat", "rlon"), rng.standard_normal((31, 41)), {"units": "m", "grid_mapping": "pole"}),
            "pole": ((), 0, mapping),
        },
        {"rlat": y, "rlon": x},
    )
    data.rlat.attrs.update(standard_name="grid_latitude", units="degrees")
    data.rlon.attrs.update(standard_name="grid_longitude", units="degrees")
    return data
