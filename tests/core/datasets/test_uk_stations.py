"""The bundled stations of the Met Office: what the table has, and how it fits the bundled month of ERA5."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.bundled import bundled
from deconditioning.datasets.entries import find, find_stations
from deconditioning.datasets.uk_stations import FILE, uk_stations
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.grids.interpolate import locate
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.tables.stations import read_stations
from deconditioning.tables.table import read_table

#: Lines of the source's files, March 2019: name in the table, tmax and tmin (°C).
LINES = {"Aberporth": (10.1, 5.1), "Braemar": (7.6, 1.5), "Heathrow": (13.1, 5.8), "Tiree": (9.4, 5.0),
         "Whitby": (12.2, 4.2)}  # fmt: skip


@pytest.fixture(scope="module")
def month() -> xr.Dataset:
    with xr.open_dataset(bundled("era5_uk_month_2019-03.nc")) as dataset:
        return dataset.load()


def test_the_table_holds_the_lines_of_the_source() -> None:
    columns = read_table(FILE).columns
    names = [str(each) for each in columns["name"]]
    found = {name: (columns["tmax [degC]"][at], columns["tmin [degC]"][at]) for at, name in enumerate(names)}
    assert len(names) == 31 and names == sorted(names) and {name: found[name] for name in LINES} == LINES
    estimated = [name for name, word in zip(names, columns["estimated"], strict=True) if word == "yes"]
    assert estimated == ["Lowestoft", "Nairn", "Paisley", "Tiree"]


@pytest.mark.parametrize("value", ["tmax", "tmin"])
def test_values_are_those_that_the_reader_of_tables_finds(value: str) -> None:
    """The library reads the file as a person's table would be read; estimates are the rows that it has beyond."""
    ours, read = uk_stations("all", value), read_stations(FILE, value=f"{value} [degC]")  # type: ignore[arg-type]
    assert read.units == ours.units == "degC" and (len(read), len(ours)) == (31, 27)
    assert read.altitude is not None and ours.altitude is not None
    rows, found = (
        {tuple(row) for row in np.stack([each.latitude, each.longitude, each.altitude, each.value], 1)}
        for each in (read, ours)
    )
    assert found < rows


def test_the_mean_is_half_the_sum_and_every_third_station_is_kept() -> None:
    mean, highest, lowest = (uk_stations("all", each).value for each in ("tmean", "tmax", "tmin"))
    assert np.allclose(2 * mean, highest + lowest) and (highest - lowest > 3).all()
    seen, scored = (find_stations(f"uk-stations/{part}") for part in ("seen", "scored"))
    assert (len(seen), len(scored)) == (18, 9)
    together = np.concatenate([seen.value, scored.value])
    assert np.array_equal(np.sort(together), np.sort(mean)) and np.array_equal(scored.value, mean[2::3])


@pytest.mark.parametrize("target", ["tmean", "tmax", "tmin"])
def test_the_example_has_the_stations_of_its_target(target: str) -> None:
    """The offset at the pixels is that of this temperature: the daily range of ERA5 is smaller than that measured."""
    source = Source("uk-stations", stations="uk-stations/seen", scored="uk-stations/scored")
    found = build_problem(source, DownscalingSpec.from_dict(find("uk-stations").default | {"target": target}))
    assert found.stations is not None and found.scored is not None and found.truth is not None
    every = np.sort(np.concatenate([each.measured.value for each in (found.stations, found.scored)]))
    assert np.allclose(every, np.sort(uk_stations("all", target).value + 273.15))  # type: ignore[arg-type]
    pixels = found.truth.flat[found.pixel[found.stations.row]]
    assert np.mean(found.stations.measured.value - pixels) * {"tmean": 1, "tmax": 1, "tmin": -1}[target] > 0.2


def test_every_station_lies_on_a_pixel_and_is_near_its_temperature() -> None:
    fields = find("uk-stations").open()
    for value, most in (("tmean", 1.95), ("tmax", 3.8), ("tmin", 2.7)):
        each = uk_stations("all", value)  # type: ignore[arg-type]
        pixel = locate(fields.grid, each.latitude, each.longitude)
        assert (pixel >= 0).all()
        apart = each.value + 273.15 - fields.values(value, {}).flat[pixel]
        assert np.abs(apart).max() < most and np.std(apart) < 0.95


def test_the_month_is_that_of_the_bundled_series(month: xr.Dataset) -> None:
    """A second file and route: every third hour, whose extremes lie inside those of all hours."""
    with xr.open_dataset(bundled("era5_uk_2019-03.nc")) as series:
        values, land = series["t2m"].load().values, series["land"].load().values
    days = values.reshape(31, 8, *values.shape[1:])
    highest, lowest = days.max(1).mean(0), days.min(1).mean(0)
    over, under = month["tmax"].values - highest, lowest - month["tmin"].values
    assert min(over.min(), under.min()) > -0.006 and max(over.max(), under.max()) < 0.7
    assert np.abs(month["tmean"].values - (month["tmax"].values + month["tmin"].values) / 2).max() < 0.011
    assert np.array_equal(month["land"].values, land)


def test_altitudes_are_those_of_another_model_of_the_terrain() -> None:
    """The UKV file has the altitude of every 1.5 km, here averaged over the pixels of 0.25° that it fills."""
    with xr.open_dataset(bundled("ukv_20091119.nc")) as ukv:
        names = ("surface_altitude", "latitude", "longitude")
        height, latitude, longitude = (ukv[name].load().values.ravel() for name in names)
    fields = find("uk-stations").open()
    pixel = locate(fields.grid, latitude, longitude)
    count, total = (np.bincount(pixel[pixel >= 0], weights, 32 * 48) for weights in
                    (None, np.maximum(height, 0)[pixel >= 0]))  # fmt: skip
    full = count > 0.8 * count.max()
    altitude = fields.values("altitude", {})
    ours, theirs = altitude.ravel()[full], (total / np.maximum(count, 1))[full]
    assert full.sum() > 80 and np.corrcoef(ours, theirs)[0, 1] > 0.98
    assert np.abs(ours - theirs).mean() < 12 and altitude.min() == 0
