"""A level or a member of a series: its archive is of the same one, and a first value that is used is said."""

from dataclasses import replace

import numpy as np
import xarray as xr

from deconditioning.downscaling.source import Source
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.ensemble import read_ensemble
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, made_dataset
from tests.core.period.test_ensemble import of_members

FIRST = "has 3 values; the first, "


def of_levels() -> xr.Dataset:
    """``t`` (level, time, lat, lon) at 1000, 850 and 500 hPa."""
    made = made_dataset(30).drop_vars("wind")
    along = xr.concat([made["t"], made["t"] * 0.9 - 3, made["t"] * 0.7 - 9], "level").assign_attrs(made["t"].attrs)
    return made.assign(t=along).assign_coords(level=("level", [1000, 850, 500], {"units": "hPa"}))


def read(dataset: xr.Dataset, **select: int | str) -> Series:
    return read_series(Source("x"), replace(SPEC, select=select), lambda key: fields_from_dataset(dataset), ["#24/#29"])


def training(series: Series, archive: xr.Dataset) -> Training:
    return read_training(series, fields_from_dataset(archive))


def test_the_archive_is_of_the_level_of_the_series_wherever_it_lies() -> None:
    """By its label, in other units and another order, against a file of that level alone."""
    levels = of_levels()
    alone = levels.isel(level=1, drop=True)
    expected = training(read(alone), alone)
    turned = levels.isel(level=[2, 1, 0]).assign_coords(level=("level", [50000, 85000, 100000], {"units": "Pa"}))
    for chosen in (1, "850"):
        series = read(levels, level=chosen)
        assert series.selected == {"level": "850 hPa"} and series.notes == ()
        for archive in (levels, turned):
            found = training(series, archive)
            assert np.array_equal(found.fine, expected.fine) and np.array_equal(found.coarse, expected.coarse)
            assert found.notes == expected.notes


def test_the_first_value_is_said_where_nothing_is_selected_or_matches() -> None:
    levels = of_levels()
    series = read(levels)
    assert series.notes == (f"Dimension `level` {FIRST}1000 hPa, is used for `t`.",)
    assert not [note for note in training(series, levels).notes if FIRST in note]  # it is that of the series
    lower = levels.assign_coords(level=("level", [925, 700, 300], {"units": "hPa"}))
    found = training(read(levels, level=2), lower)
    assert f"Dimension `level` of the archive {FIRST}925 hPa, is used for `t`." in found.notes
    assert np.array_equal(found.fine, training(read(levels), levels).fine)
    plain = levels.isel(level=0, drop=True)
    assert read(plain).selected == {} and f"of the archive {FIRST}1000 hPa" in " ".join(
        training(read(plain), levels).notes
    )


def test_all_members_have_the_archive_of_the_first_and_it_is_said() -> None:
    dataset = of_members(30)
    ensemble = read_ensemble(Source("x"), SPEC, lambda key: fields_from_dataset(dataset), ["#24/#29"])
    assert ensemble is not None and ensemble.pooled.selected == {} and ensemble.pooled.notes == ()
    assert [each.selected for each in ensemble.series] == [{"realization": label} for label in "259"]
    found = training(ensemble.pooled, dataset)
    assert f"Dimension `realization` of the archive {FIRST}2, is used for `t`." in found.notes
    assert np.array_equal(found.fine, training(ensemble.series[0], dataset).fine)
    assert not np.allclose(found.fine, training(ensemble.series[2], dataset).fine)
