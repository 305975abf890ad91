"""A synthetic planet with the size and variables of the downscaling experiment of Chau et al. 2021, §5.2.

The fields of that experiment are not available, so these stand in for them. From red noise on the sphere come land and
mountains, then weather (a tropical convergence zone, two storm tracks, dry subtropics), and from weather total cloud
cover and cloud albedo. The target is

    cloud-top temperature = f(cover, albedo, altitude, latitude) + u

with ``f`` the radiation balance of :func:`datasets.planet.explained_temperature` (nonlinear, bounded, skewed)
and ``u`` a field that no covariate tells: about f's own angular spectrum, strongest where cloud is half deep,
uncorrelated with f. The share ``var f / (var f + var u)`` over the planet is the setting ``explained``. Cloud-top
pressure follows from the finished temperature and so knows of ``u``: that is what makes it a mediator. None of it is a
draw from a kernel of this library.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.datasets import harmonics, planet
from deconditioning.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

_FINEST_DEGREE = 240
# Noises in the order in which they are drawn, with the knee (degree) and decay of their spectra.
_NOISES = {
    "land": (3, 1.9),
    "ridge": (5, 1.8),
    "weather": (7, 4 / 3),
    "cover": (12, 4 / 3),
    "depth": (14, 4 / 3),
    "meander": (2, 4.0),
    "gust": (4, 2.5),
    "pressure": (25, 4 / 3),
}
_VARIABLES = {
    "cloud_top_temperature": ("K", "cloud-top temperature", "air_temperature_at_cloud_top"),
    "cloud_top_pressure": ("hPa", "cloud-top pressure", "air_pressure_at_cloud_top"),
    "total_cloud_cover": ("%", "total cloud cover", "cloud_area_fraction"),
    "cloud_albedo": ("1", "cloud albedo", "cloud_albedo"),
    "surface_altitude": ("m", "surface altitude", "surface_altitude"),
}


def _unexplained(
    f: np.ndarray, xi: np.ndarray, gust: np.ndarray, altitude: np.ndarray, latitude: np.ndarray
) -> np.ndarray:
    """u (H, W) of zero mean, uncorrelated with f and with f's variance.

    Noise ξ of unit variance is flattened at its extremes and scaled by the room that f leaves between the ground and
    the tropopause, ``u ∝ room · 2 tanh(ξ/2)``; what correlates with f is taken out and the variance set.
    """
    warm = planet.surface_temperature(altitude, latitude)
    cold = planet.profile_temperature(planet.tropopause_pressure(latitude), latitude)
    rank = np.clip((f - cold) / (warm - cold), 0.0, 1.0)
    u = 2 * np.tanh(xi / 2) * np.exp(0.2 * gust) * (0.15 + 4 * rank * (1 - rank))
    anomaly = f - planet.area_mean(f, latitude)
    variance = planet.area_mean(anomaly**2, latitude)
    u = u - planet.area_mean(u, latitude)
    u = u - planet.area_mean(u * anomaly, latitude) / variance * anomaly
    return u * np.sqrt(variance / planet.area_variance(u, latitude))


def _check(shape: tuple[int, int], explained: float) -> None:
    if (
        len(shape) != 2
        or min(shape) < 16
        or max(shape) > 2000
        or int(shape[0]) != shape[0]
        or int(shape[1]) != shape[1]
    ):
        raise InputError(f"`shape` is {tuple(shape)}: give rows and columns as whole numbers from 16 to 2000.")
    if not 0 < explained <= 1:
        raise InputError(f"`explained` is {explained:g}: give a share above 0 and up to 1.")


def make_atmosphere(shape: tuple[int, int] = (360, 720), seed: int = 0, explained: float = 0.8) -> "xr.Dataset":
    """Five co-located fields of a synthetic planet on a global grid, the same for the same seed.

    Parameters
    ----------
    shape : rows and columns of the latitude-longitude grid; the small grid shows the same planet, smoothed.
    seed : which planet.
    explained : share of the target's variance (area-weighted, over the planet) that is a function of the covariates.

    Returns
    -------
    CF dataset on (latitude, longitude), float32: cloud_top_temperature (K, the target), cloud_top_pressure (hPa),
    total_cloud_cover (%), cloud_albedo (1), surface_altitude (m).

    Errors: `InputError` for a shape outside 16–2000 or a share outside (0, 1].
    Source: the setting of Chau et al. 2021, §5.2; the fields are ours.
    """
    _check(shape, explained)
    rows, columns = (int(n) for n in shape)
    y, x = harmonics.cell_centres((rows, columns))
    latitude = y[:, None]
    basis = harmonics.legendre(y, min(_FINEST_DEGREE, 8 * rows // 9, 4 * columns // 9))
    coefficients = harmonics.draw_coefficients(np.random.default_rng(seed), len(_NOISES) + 1, _FINEST_DEGREE)
    power = np.stack([harmonics.red_spectrum(_FINEST_DEGREE, *s)[: len(basis)] for s in _NOISES.values()])
    noise = dict(zip(_NOISES, harmonics.synthesise(coefficients[:-1], power, (rows, columns), basis), strict=True))

    altitude = planet.relief(noise, latitude)
    cover, albedo = planet.cloud(noise, planet.ascent(noise, altitude, latitude))
    f = planet.explained_temperature(cover=cover, albedo=albedo, altitude=altitude, latitude=latitude)

    power = harmonics.angular_power(f, basis)[None]
    power[:, 0] = 0.0  # ξ has the spectrum of f and no mean
    xi = harmonics.synthesise(coefficients[-1:], power, (rows, columns), basis)[0]
    xi = xi / np.sqrt(planet.area_variance(f, latitude))
    u = _unexplained(f, xi, noise["gust"], altitude, latitude)
    temperature = f + u * np.sqrt((1 - explained) / explained)

    pressure = planet.profile_pressure(temperature, latitude) * np.exp(0.03 * noise["pressure"])
    pressure = np.clip(pressure, 40.0, planet.surface_pressure(altitude, latitude))
    values = dict(zip(_VARIABLES, (temperature, pressure, cover, albedo, altitude), strict=True))
    return _dataset(values, y, x, seed, explained)


def _dataset(values: dict[str, Any], y: np.ndarray, x: np.ndarray, seed: int, explained: float) -> "xr.Dataset":
    import xarray as xr

    dims = ("latitude", "longitude")
    data = {
        name: (dims, values[name].astype(np.float32), {"units": u, "long_name": text, "standard_name": standard})
        for name, (u, text, standard) in _VARIABLES.items()
    }
    axes = {
        "latitude": ("latitude", y, {"units": "degrees_north", "standard_name": "latitude", "axis": "Y"}),
        "longitude": ("longitude", x, {"units": "degrees_east", "standard_name": "longitude", "axis": "X"}),
    }
    attributes = {
        "Conventions": "CF-1.11",
        "title": "Synthetic planet for the downscaling experiment",
        "source": f"generated: deconditioning.datasets.atmosphere, seed {seed}, explained share {explained:g}",
        "license": "generated by this software, free to use",
        "references": "setting of Chau, Bouabid, Sejdinovic 2021, section 5.2",
        "seed": seed,
        "explained_share": explained,
    }
    return xr.Dataset(data, axes, attributes)
