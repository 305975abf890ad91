"""The physics of the synthetic planet: temperature, pressure, relief, cloud, and what a sensor above sees.

Zonal formulas in the units of the field (K, hPa, m, %, degrees); arrays broadcast, latitudes as (H, 1).
"""

import numpy as np

_LAPSE = 0.0065  # K per metre
_LAPSE_EXPONENT = 0.1903  # R Γ / g of the standard atmosphere
_SEA_LEVEL_PRESSURE = 1013.25  # hPa


def area_mean(field: np.ndarray, latitude: np.ndarray) -> float:
    """Mean of an (H, W) field over the sphere, cells weighted by cos φ."""
    return float(np.average(field.mean(axis=1), weights=np.cos(np.deg2rad(np.ravel(latitude)))))


def area_variance(field: np.ndarray, latitude: np.ndarray) -> float:
    """Variance of an (H, W) field over the sphere, cells weighted by cos φ."""
    return area_mean((field - area_mean(field, latitude)) ** 2, latitude)


def tropopause_pressure(latitude: np.ndarray) -> np.ndarray:
    """Pressure (hPa) where the deepest cloud ends: 110 at the equator, 250 at the poles."""
    return 250.0 - 140.0 * np.cos(np.deg2rad(latitude)) ** 2


def _sea_level_temperature(latitude: np.ndarray) -> np.ndarray:
    """Zonal temperature at sea level (K) at a latitude (degrees): 301 at the equator, 249 at the poles."""
    return 301.0 - 52.0 * np.abs(np.sin(np.deg2rad(latitude))) ** 2.2


def surface_temperature(altitude: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Temperature (K) of the ground at an altitude (m): 6.5 K colder per kilometre."""
    return _sea_level_temperature(latitude) - _LAPSE * altitude


def profile_temperature(pressure: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Temperature (K) of the air at a pressure (hPa): ``T_0 (p/p_0)^{RΓ/g}``."""
    return _sea_level_temperature(latitude) * (pressure / _SEA_LEVEL_PRESSURE) ** _LAPSE_EXPONENT


def profile_pressure(temperature: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Pressure (hPa) at which the air has a temperature (K): the inverse of :func:`profile_temperature`."""
    return _SEA_LEVEL_PRESSURE * (temperature / _sea_level_temperature(latitude)) ** (1 / _LAPSE_EXPONENT)


def surface_pressure(altitude: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Pressure (hPa) at an altitude (m) in an atmosphere with a constant lapse of 6.5 K/km."""
    return profile_pressure(surface_temperature(altitude, latitude), latitude)


def cloud_depth(cover: np.ndarray, albedo: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """How deep clouds reach, 0 (surface) to 1 (tropopause), from cover (%) and albedo; lower under subsidence."""
    subsidence = np.exp(-(((np.abs(latitude) - 24.0) / 10.0) ** 2))
    depth = cover / 100 * albedo / (0.36 * (1 + 0.6 * subsidence))
    return 0.12 + 0.83 * (1 - np.exp(-(depth**1.3)))


def explained_temperature(
    *, cover: np.ndarray, albedo: np.ndarray, altitude: np.ndarray, latitude: np.ndarray
) -> np.ndarray:
    """The part ``f`` of cloud-top temperature (K) that the covariates determine.

    Cloud of depth d tops out at ``p_c = p_s − d (p_s − p_t)``, where it has the temperature
    ``T_c = T_0 (p_c/p_0)^{RΓ/g}``; a sensor above sees ``f⁴ = ε T_c⁴ + (1 − ε) T_s⁴`` with emissivity
    ``ε = 1 − e^{−τ}`` and optical depth ``τ = 7.7 A/(1 − A)`` of albedo A, so thin cloud lets the surface through.

    Parameters: cover (%), albedo (0–1), altitude (m), latitude (degrees), of shapes that broadcast.
    """
    T_s = surface_temperature(altitude, latitude)
    p_s = surface_pressure(altitude, latitude)
    p_t = tropopause_pressure(latitude)
    p_c = p_s - cloud_depth(cover, albedo, latitude) * (p_s - p_t)
    T_c = profile_temperature(p_c, latitude)
    emissivity = 1 - np.exp(-7.7 * albedo / (1 - albedo))
    return (emissivity * T_c**4 + (1 - emissivity) * T_s**4) ** 0.25


def relief(noise: dict[str, np.ndarray], latitude: np.ndarray) -> np.ndarray:
    """Surface altitude (m): sea on 71 % of the planet, plains above it, ridges where `ridge` crosses zero."""
    height = noise["land"]
    order = np.argsort(height, axis=None)
    weight = np.broadcast_to(np.cos(np.deg2rad(latitude)), height.shape).ravel()[order]
    shore = height.ravel()[order][np.searchsorted(np.cumsum(weight), 0.71 * weight.sum())]
    inland = np.maximum(height - shore, 0.0)
    ridges = np.exp(-((noise["ridge"] / 0.3) ** 2)) * (1 - np.exp(-inland / 0.25))
    return np.minimum(500.0 * inland**1.2 + 4200.0 * ridges * np.exp(0.15 * noise["gust"]), 7500.0)


def ascent(noise: dict[str, np.ndarray], altitude: np.ndarray, latitude: np.ndarray) -> np.ndarray:
    """Ascent that makes cloud, dimensionless: zonal belts that meander, weather, lift over mountains."""
    bent = latitude + 5.0 * noise["meander"]
    convergence = 1.4 * np.exp(-(((bent - 6.0) / 7.0) ** 2))
    storm_tracks = 0.9 * np.exp(-(((np.abs(bent) - 52.0) / 13.0) ** 2))
    dry_belts = 1.0 * np.exp(-(((np.abs(bent) - 23.0) / 10.0) ** 2))
    return convergence + storm_tracks - dry_belts + 0.9 * noise["weather"] + 0.5 * np.tanh(altitude / 1500.0)


def cloud(noise: dict[str, np.ndarray], activity: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Total cloud cover (%) and cloud albedo (0–1): a logistic of ascent, and ``A = τ/(τ + 7.7)`` of lognormal τ."""
    cover = 100 / (1 + np.exp(-(0.7 + 1.5 * activity + noise["cover"])))
    tau = np.exp(1.5 + 0.8 * activity + 0.6 * noise["depth"])
    return cover, tau / (tau + 7.7)
