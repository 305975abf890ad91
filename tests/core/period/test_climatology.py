"""The climatology of a fine file as a covariate: harmonics by normal equations, given maps, one time and many."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.estimators.downscaling import downscale
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.several import together
from deconditioning.period.archive.climatology import NAME, with_climatology
from tests.core.period.made import SPEC, made_dataset

FIXED = {"target": "t", "covariate_names": ["orog"], "coarsen": (4, 4), "withhold": 0.0, "learn": False,
         "model": "area_to_point_gp"}  # fmt: skip


def year(times: int = 48) -> xr.Dataset:
    """Every eighth day, with an annual cycle that depends on the place."""
    dates = pd.date_range("2001-01-01", periods=times, freq="8D")
    dataset = made_dataset(times).assign_coords(time=dates).isel(lat=slice(None, None, -1))  # rows from the south
    wave = np.cos(2 * np.pi * 8 * np.arange(times) / 365)
    dataset["t"].values += np.linspace(-3, 3, 20)[None, None, :] * wave[:, None, None]
    return dataset


def made(dataset: xr.Dataset, **more: object):
    """The fields with a climatology, and the notes."""
    fields = fields_from_dataset(dataset, source="made.nc")
    archive = more.pop("archive", fields)
    spec, opened, notes = with_climatology(Source("x"), SPEC, {"x": fields}, archive, **more)  # type: ignore[arg-type]
    assert spec.covariates == ("orog", NAME)
    return opened["x"], notes


def by_normal_equations(values: np.ndarray, dates: pd.DatetimeIndex, at: pd.DatetimeIndex) -> np.ndarray:
    """Two annual harmonics, each pixel by itself."""

    def waves(days: pd.DatetimeIndex) -> np.ndarray:
        share = (days - pd.to_datetime(days.year.astype(str) + "-01-01")) / pd.to_timedelta(
            np.where(days.is_leap_year, 366, 365), unit="D"
        )
        angle = 2 * np.pi * np.asarray(share, dtype=float)
        return np.column_stack([np.ones(len(days)), *(f(k * angle) for k in (1, 2) for f in (np.cos, np.sin))])

    h = waves(dates)
    flat = values.reshape(len(values), -1)
    return (waves(at) @ np.linalg.solve(h.T @ h, h.T @ flat)).reshape(-1, *values.shape[1:])


def test_harmonics_are_those_of_the_normal_equations_at_the_times_that_are_not_downscaled() -> None:
    dataset = year()
    fields, notes = made(dataset, times=["#40/#43"])
    rest = [n for n in range(48) if not 40 <= n <= 43]
    dates = pd.DatetimeIndex(dataset.time.values)
    expected = by_normal_equations(dataset.t.values[rest], dates[rest], dates[40:44])
    found = np.stack([fields.values(NAME, {"climatology_time": n}) for n in range(4)])
    area = fields.grid.area
    mean = np.average(expected.reshape(4, -1), axis=1, weights=area.ravel())
    np.testing.assert_allclose(found, expected - mean[:, None, None], atol=1e-9)
    assert "44 times of made.nc: 2 harmonics of the year and 0 of the day." in notes[0] and len(notes) == 1
    one, _ = made(dataset, period=["#0/#39"])
    assert one.check(NAME).extra == {}  # one time: one map, with its own mean
    np.testing.assert_allclose(
        one.values(NAME), by_normal_equations(dataset.t.values[:40], dates[:40], dates[:1])[0], atol=1e-9
    )


def test_a_map_is_used_as_it_is_and_twelve_months_have_two_waves() -> None:
    dataset = year()
    mean = fields_from_dataset(dataset[["t"]].mean("time", keep_attrs=True).rename(t="normal"), source="normal.nc")
    fields, notes = made(dataset, archive=mean, times=["all"])
    np.testing.assert_allclose(fields.values(NAME), dataset.t.mean("time").values, atol=1e-9)
    assert notes == ("The covariate `climatology` is `normal` of normal.nc, which has one map.",)
    months = pd.date_range("1999-01-15", periods=12, freq="MS") + pd.Timedelta(days=14)
    cycle = dataset.isel(time=slice(12)).assign_coords(time=months)
    fields, notes = made(dataset, archive=fields_from_dataset(cycle, source="cycle.nc"), times=["#3/#4"])
    at = pd.DatetimeIndex(dataset.time.values[3:5])
    expected = by_normal_equations(cycle.t.values, months, at)
    found = fields.values(NAME, {"climatology_time": 1})
    np.testing.assert_allclose(found - found.mean(), (expected[1] - expected[1].mean()), atol=0.01)
    assert "2 harmonics of the year" in notes[0]


def test_it_is_remapped_joined_to_several_files_and_its_season_is_warned_of() -> None:
    dataset = year()
    coarser = dataset[["t"]].coarsen(lat=2, lon=2).mean()
    fields, notes = made(dataset, archive=fields_from_dataset(coarser, source="half.nc"), times=["all"], period=["all"])
    assert any("remapped" in note for note in notes) and any("too optimistic" in note for note in notes)
    assert np.isfinite(fields.values(NAME, {"climatology_time": 0})[2:-2, 2:-2]).all()
    both = together([fields_from_dataset(dataset[[name]], source=f"{name}.nc") for name in ("t", "orog")])
    _, opened, _ = with_climatology(Source("x"), SPEC, {"x": both}, fields_from_dataset(dataset, source="a"), ["#1/#2"])
    alone, _ = made(dataset, times=["#1/#2"])
    at = {"climatology_time": 1}
    np.testing.assert_allclose(opened["x"].values(NAME, at), alone.values(NAME, at), atol=1e-12)
    half = dataset.isel(time=slice(0, 38))  # until the end of October
    _, notes = made(dataset, archive=fields_from_dataset(half, source="b"), times=["#38/#40"])
    assert any("no times in November" in note for note in notes)


def test_the_function_knows_it_for_one_time_and_for_many_and_it_explains_the_fixed_pattern() -> None:
    """The made-up region has a pattern that altitude does not explain, and that a climatology shows."""
    dataset = year()
    errors = {}
    for name, more in (("with", {"climatology": dataset, "period": "#0/#39"}), ("without", {})):
        several = downscale(dataset, dataset, times="#40/#43", **FIXED, **more)
        one = downscale(dataset, dataset, select={"time": 41}, **FIXED, **more)
        errors[name] = [float((each["error"] ** 2).mean()) ** 0.5 for each in (several, one)]
        assert several.sizes["time"] == 4
    assert errors["with"][0] < 0.9 * errors["without"][0] and errors["with"][1] < errors["without"][1]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"times": "all", "archive": "itself", "climatology": "itself"}, "leave `climatology` out"),
        ({"times": "all", "climatology": "itself"}, "All times of .* are downscaled"),
        ({"times": "#1", "climatology": "winds"}, "cannot be converted|units"),
        ({"times": "#1", "climatology": "itself", "target": "climatology"}, "already has a variable"),
    ],
)
def test_what_cannot_be_used_is_said_in_a_sentence(more: dict, words: str) -> None:
    dataset = year()
    dataset["climatology"] = dataset["t"] + 1 if "target" in more else dataset["orog"] * 0
    if "target" not in more:
        dataset = dataset.drop_vars("climatology")
    held = {"itself": dataset, "winds": dataset[["wind"]].rename(wind="t")}
    given = {name: held.get(value, value) if isinstance(value, str) else value for name, value in more.items()}
    with pytest.raises(InputError, match=words):
        downscale(dataset, dataset, **{**FIXED, **given})
