"""Coarse values of a training period that are missing."""

from dataclasses import replace

import numpy as np
import pytest
import xarray as xr

from deconditioning.downscaling.source import Source
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.training import Training, read_training
from deconditioning.period.reading.gaps import filled, without_gaps
from deconditioning.period.series import Series, read_series
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


def test_missing_values_are_regressed_on_the_means_with_residuals_of_the_same_size() -> None:
    rng = np.random.default_rng(1)
    cells = rng.normal(280, 5, (4000, 2))
    whole = 3 + 0.8 * cells + rng.normal(0, [0.5, 2.0], (4000, 2))
    coarse = np.where(rng.uniform(size=whole.shape) < 0.5, np.nan, whole)
    coarse[:, 1] = np.where(np.arange(4000) < 19, whole[:, 1], np.nan)
    result, lost = filled(coarse, cells), np.isnan(coarse[:, 0])
    np.testing.assert_array_equal(result[~lost, 0], coarse[~lost, 0])
    off = result[lost, 0] - (3 + 0.8 * cells[lost, 0])
    assert abs(off.mean()) < 0.05 and off.std() == pytest.approx(0.5, rel=0.05)
    assert np.isnan(result[19:, 1]).all()  # 19 known values are too few


def test_values_are_as_they_are_where_enough_times_have_all() -> None:
    cells = np.random.default_rng(0).normal(size=(40, 3))
    coarse = cells.copy()
    coarse[:11, 1] = coarse[11:20, 2] = np.nan
    same, note = without_gaps(coarse, cells)
    np.testing.assert_array_equal(same, coarse)
    assert note == ""
    coarse[20, 2] = np.nan
    some, note = without_gaps(coarse, cells)
    np.testing.assert_allclose(some, cells, atol=1e-9)  # coarse values are the archive's means where they are known
    assert "the 18 % that are missing" in note


def given(share: float, error: str | None = None) -> tuple[Series, Training]:
    """Twelve times of a biased model's coarse file of which a share is missing at every time, and those around them;
    errors, if they are asked for, are missing with their values.
    """
    dataset, rng = made_dataset(60), np.random.default_rng(2)
    means = dataset[["t"]].coarsen(lat=4, lon=4).mean()["t"]
    values = 5 + 1.1 * means + rng.normal(0, 0.2, means.shape)
    known = values.where(rng.uniform(size=means.shape) >= share).assign_attrs(dataset["t"].attrs)
    low = xr.Dataset({"t": known, "t_sd": (0.2 + 0 * known).assign_attrs(units="K")})
    files = {"x": fields_from_dataset(dataset[["orog"]]), "low": fields_from_dataset(low)}
    spec = replace(SPEC, matching="direct", error=error)
    series = read_series(Source("x", "low"), spec, files.__getitem__, ["#24/#35"])
    return series, read_training(series, fields_from_dataset(dataset), ["#0/#23", "#36/#59"])


def test_a_coarse_file_with_gaps_at_every_time_has_a_training_period() -> None:
    whole, gappy = given(0.0), given(0.3)
    assert np.isnan(gappy[0].coarse).any(axis=1).all() and len(gappy[1]) == len(whole[1]) == 48
    assert any("are regressed on the archive" in note for note in gappy[1].notes)
    truth = made_dataset(60).t.values[24:36, ::-1]  # grids have their latitudes ascending
    rmse, held = [], []
    for series, training in (whole, gappy):
        result = downscale_with_archive(series, training, UNLEARNED)
        off, sd = result.means - truth, np.stack([result.sd(time) for time in range(12)])
        rmse.append(np.sqrt(np.mean(off**2)))
        held.append(np.mean(np.abs(off) < 1.96 * sd))
    assert rmse[0] < rmse[1] < 1.6 * rmse[0] and held[1] > 0.85


def test_errors_are_missing_with_their_values() -> None:
    series, training = given(0.3, "t_sd")
    np.testing.assert_allclose(training.errors, 0.04)  # of the known values
    assert np.isfinite(downscale_with_archive(series, training, UNLEARNED).means).all()


def test_too_few_known_values_are_refused() -> None:
    with pytest.raises(InputError, match="All coarse values are known at 0 times"):
        given(0.7)
