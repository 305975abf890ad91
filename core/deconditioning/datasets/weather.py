"""A synthetic region through a year: temperature over hills and a coast, with weather that moves.

A test bed for periods. What covariates tell: a lapse rate that is steeper in summer, and a sea that is mild all year.
What they do not: weather with scales below a coarse cell, carried by a changing wind, a pattern that never changes, and
one that the wind brings out. Only an archive knows the last two, and the wind tells when the last one appears.
Rain has a gamma distribution at every pixel and is exactly zero at most times; hills that face the wind are wetter.
The daily range of temperature is smaller over the sea, in winter and in rain.
"""

from functools import cache

import numpy as np
from scipy.special import gammaincinv, ndtr

from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields

#: Degrees between pixels, and the first latitude and longitude.
_STEP, _SOUTH, _WEST = 0.1, 46.0, 6.0
#: Share of the rain's Gaussian values that are dry, and shape of the gamma distribution of wet ones.
_DRY, _SHAPE = 0.5, 0.7


class _Torus:
    """Random fields on an n × n torus, with a given power of the wavenumber."""

    def __init__(self, size: int, rng: np.random.Generator) -> None:
        self.size, self.rng = size, rng
        self.down, self.across = np.fft.fftfreq(size)[:, None] * size, np.fft.fftfreq(size)[None] * size
        self.wave = np.hypot(self.down, self.across)

    def white(self) -> np.ndarray:
        """The transform of independent values."""
        return np.fft.fft2(self.rng.normal(size=(self.size, self.size)))

    def field(self, power: float, cut: float) -> np.ndarray:
        """A field of mean zero and sd one, whose spectrum falls with ``power`` beyond the wavenumber ``cut``."""
        values = np.fft.ifft2(self.white() * (self.wave**2 + cut**2) ** (-power / 2)).real
        return (values - values.mean()) / values.std()


@cache
def weather_region(times: int = 480, size: int = 32, seed: int = 0) -> Fields:
    """Daily ``t`` (time, lat, lon) in K, its extremes ``tmin`` and ``tmax``, ``u``, the westerly wind in m/s, and
    ``pr``, rain in mm, from 1 January 2001, ``orography`` (m) and ``land`` (share), on size × size pixels of 0.1°.
    """
    import xarray as xr

    rng = np.random.default_rng(seed)
    torus = _Torus(size, rng)
    land = 1 / (1 + np.exp(-5 * (torus.field(2.6, 1.5) + 0.4)))
    height = 700 * land * np.maximum(torus.field(2.0, 3.0) + 0.2, 0)
    fixed, brought = torus.field(1.6, 5.0), torus.field(1.8, 4.0)
    values, westerly = _through_time(
        torus, times, land, height, 0.7 * land * fixed, 0.5 * (0.3 + height / 600) * brought
    )
    gusts = _Torus(size, np.random.default_rng([seed, 1]))
    wind = 4 + 3 * np.stack([each + 0.3 * gusts.field(3.0, 1.5) for each in westerly])
    rain = _rain(_Torus(size, np.random.default_rng([seed, 2])), westerly, height)
    half = _daily_range(_Torus(size, np.random.default_rng([seed, 3])), rain, land) / 2
    dims, axis = ("lat", "lon"), np.arange(size) * _STEP
    dates = np.datetime64("2001-01-01", "ns") + np.arange(times) * np.timedelta64(1, "D")
    dataset = xr.Dataset(
        {
            "t": (("time", *dims), values, {"units": "K", "long_name": "temperature",
                                             "standard_name": "air_temperature"}),
            "u": (("time", *dims), wind, {"units": "m s-1", "long_name": "westerly wind",
                                           "standard_name": "eastward_wind"}),
            "pr": (("time", *dims), rain, {"units": "mm", "long_name": "daily rain",
                                           "standard_name": "lwe_thickness_of_precipitation_amount"}),
            "tmin": (("time", *dims), values - half, {"units": "K", "long_name": "daily minimum temperature",
                                                      "standard_name": "air_temperature"}),
            "tmax": (("time", *dims), values + half, {"units": "K", "long_name": "daily maximum temperature",
                                                      "standard_name": "air_temperature"}),
            "orography": (dims, height, {"units": "m", "long_name": "altitude", "standard_name": "surface_altitude"}),
            "land": (dims, land, {"units": "1", "long_name": "share of land"}),
        },
        {
            "time": dates,
            "lat": ("lat", _SOUTH + axis, {"units": "degrees_north", "standard_name": "latitude"}),
            "lon": ("lon", _WEST + axis, {"units": "degrees_east", "standard_name": "longitude"}),
        },
    )  # fmt: skip
    return fields_from_dataset(dataset, source="A synthetic region", licence="none needed: synthetic")


def _through_time(
    torus: _Torus, times: int, land: np.ndarray, height: np.ndarray, fixed: np.ndarray, brought: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(T, n, n) temperatures of large weather and of small weather, which lives the shorter the smaller it is; and
    the (T,) westerly wind.
    """
    spectrum = (torus.wave**2 + 4.0) ** -1.5 * (torus.wave > 0)
    memory = np.exp(-1 / np.clip(6 / np.maximum(torus.wave, 1.0) ** 0.7, 0.4, 6.0))
    moving, wind, large = torus.white() * spectrum, np.zeros(2), 0.0
    unit, result, westerly = np.fft.ifft2(moving).real.std(), [], []
    for day in range(times):
        wind = 0.75 * wind + 0.66 * torus.rng.normal(size=2)
        large = 0.8 * large + 1.8 * torus.rng.normal()
        shift = np.exp(-2j * np.pi * (torus.down * wind[1] + torus.across * (3 + 2 * wind[0])) / torus.size)
        moving = memory * moving * shift + np.sqrt(1 - memory**2) * torus.white() * spectrum
        season = np.cos(2 * np.pi * (day - 200) / 365.25)
        lapse = -0.0055 - 0.001 * season
        sea = (1 - land) * season
        result.append(
            283 + 9 * season - 4 * sea + large + 2.0 * np.fft.ifft2(moving).real / unit + lapse * height + fixed
            + 0.3 * season * fixed + wind[0] * brought
        )  # fmt: skip
        westerly.append(wind[0])
    return np.stack(result), np.array(westerly)


def _rain(torus: _Torus, westerly: np.ndarray, height: np.ndarray) -> np.ndarray:
    """(T, n, n) daily rain in mm: of a Gaussian field, the wettest 40 % or so as quantiles of a gamma distribution."""
    windward = np.tanh((height - np.roll(height, 3, axis=1)) / 400)
    amount = 5 * (0.7 + height / 1500) * np.exp(0.3 * torus.field(1.8, 4.0))
    front, result = torus.field(3.0, 1.0), []
    for day, wind in enumerate(westerly):
        front = 0.4 * np.roll(front, 3 + round(2 * wind), axis=1) + np.sqrt(1 - 0.4**2) * torus.field(3.0, 1.0)
        large, season = torus.rng.normal(), np.cos(2 * np.pi * (day - 20) / 365.25)
        score = 0.6 * large + 0.6 * front + 0.35 * torus.field(2.0, 4.0) + 0.3 * wind * windward + 0.15 * season
        share = np.maximum((ndtr(score - 0.2) - _DRY) / (1 - _DRY), 0)
        rain, wet = np.zeros_like(share), share > 0
        rain[wet] = amount[wet] * gammaincinv(_SHAPE, np.minimum(share[wet], 1 - 1e-6))
        result.append(rain)
    return np.stack(result)


def _daily_range(torus: _Torus, rain: np.ndarray, land: np.ndarray) -> np.ndarray:
    """(T, n, n) difference of the day's highest and lowest temperature in K, log-normal."""
    basins, result = torus.field(1.8, 4.0), []
    for day, wet in enumerate(rain):
        season = np.cos(2 * np.pi * (day - 200) / 365.25)
        level = np.log(3 + 6 * land) + 0.2 * season - 0.4 * (wet / (wet + 2)) + 0.15 * torus.rng.normal()
        result.append(np.exp(level + 0.15 * basins * land + 0.12 * torus.field(2.2, 2.0)))
    return np.stack(result)
