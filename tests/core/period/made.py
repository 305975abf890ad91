"""A small made-up series: temperature over orography, with weather below the cells and covariates that can move."""

from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.series import Series, read_series

#: The model as it begins: nothing is learned.
#: On the CPU, where the matrices lie that tests compare with.
UNLEARNED = DownscaleSettings(model="area_to_point_gp", learn=False, local_scale=False, device="cpu")
SPEC = DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.0)


def _smooth(rng: np.random.Generator, shape: tuple[int, int], power: float) -> np.ndarray:
    wave = np.hypot(np.fft.fftfreq(shape[0])[:, None], np.fft.fftfreq(shape[1])[None]) * max(shape)
    field = np.fft.ifft2(np.fft.fft2(rng.normal(size=shape)) * (1 + wave**2) ** (-power / 2)).real
    return (field - field.mean()) / field.std()


def made_dataset(times: int = 6, shape: tuple[int, int] = (16, 20), seed: int = 0) -> xr.Dataset:
    """``t`` (time, lat, lon) over ``orog`` (lat, lon), a fixed pattern that no covariate explains, and a covariate
    ``wind`` (time, lat, lon) that moves.
    """
    rng = np.random.default_rng(seed)
    orog = 400 * np.maximum(_smooth(rng, shape, 1.5), -0.5)
    fixed, day = _smooth(rng, shape, 1.0), np.arange(times)
    wind = np.stack([_smooth(rng, shape, 1.5) for _ in day])
    weather, fields = _smooth(rng, shape, 2.0), []
    for n in day:
        weather = 0.8 * weather + 0.6 * _smooth(rng, shape, 2.0)
        season = 8 * np.cos(2 * np.pi * n / 365.25)
        fields.append(280 + season - 0.006 * orog + 0.6 * fixed + weather + 0.5 * wind[n])
    dates = pd.date_range("2001-01-01", periods=times, freq="D")
    lat, lon = 50 - 0.25 * np.arange(shape[0]), 5 + 0.25 * np.arange(shape[1])
    place = ("lat", "lon")
    return xr.Dataset(
        {
            "t": (("time", *place), np.stack(fields), {"units": "K", "standard_name": "air_temperature"}),
            "orog": (place, orog, {"units": "m"}),
            "wind": (("time", *place), wind, {"units": "m s-1"}),
        },
        {
            "time": dates,
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )


def made_fields(times: int = 6, **more: object) -> Fields:
    """The same as fields."""
    return fields_from_dataset(made_dataset(times, **more), source="made.nc")  # type: ignore[arg-type]


def with_gaps(times: int, share: float, spec: DownscalingSpec = SPEC) -> Series:
    """A series of which a share of the cells is missing at random, at uneven times."""
    series = read_series(
        Source("x"), spec, lambda key: fields_from_dataset(made_dataset(times + 2)), ["#0/#4", f"#7/#{times + 1}"]
    )
    missing = np.random.default_rng(1).uniform(size=series.coarse.shape) < share
    coarse = np.where(missing, np.nan, series.coarse)
    return replace(series, coarse=coarse, level=np.nanmean(coarse, axis=1))


def with_wind(times: int, share: float) -> Series:
    """The same with a covariate that changes with time."""
    return with_gaps(times, share, replace(SPEC, covariates=("orog", "wind")))
