"""An archive in a file: the same numbers as in memory, read by pixels, and nothing left on the disk."""

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from deconditioning.datasets.weather import weather_region
from deconditioning.downscaling.source import Source
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.period.archive import stored
from deconditioning.period.archive import training as training_module
from deconditioning.period.archive.pair import downscale_pair
from deconditioning.period.archive.run import downscale_with_archive
from deconditioning.period.archive.stored import Collected, Stored, cost_sentence
from deconditioning.period.archive.training import Training, cost_of, read_training
from deconditioning.period.series import Series, read_series
from deconditioning.period.statistics import period_draws
from tests.core.period.made import SPEC, UNLEARNED, made_dataset


@pytest.fixture(scope="module")
def single() -> Fields:
    """Values in single precision, which a file holds without an error, two pixels without some values."""
    dataset = made_dataset(60)
    dataset["t"] = dataset["t"].astype("float32")
    dataset["t"][:, 3, 7] = np.nan
    dataset["t"][9, 11, 2] = np.nan
    return fields_from_dataset(dataset, source="made.nc")


@pytest.fixture(scope="module")
def of_single(single: Fields) -> Series:
    return read_series(Source("x"), SPEC, lambda key: single, ["#48/#59"])


@pytest.fixture
def in_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything goes to a file, a few times at once."""
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    monkeypatch.setattr(stored, "_WAITING", 5 * 4 * 320)


def _held(training: Training) -> Stored:
    assert training.stored is not None and training.fine.shape == (len(training), 0)
    return training.stored


def test_a_file_gives_the_values_of_any_pixels(in_a_file: None, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(13, 29)).astype(np.float32).astype(float)
    values[4, 6] = np.nan
    collected = Collected(20, 29, tmp_path)
    for row in values:
        collected.add(row)
    fine, held = collected.finish(np.array([0, 2, 3, 11]))
    assert fine.shape == (4, 0) and held is not None and list(np.flatnonzero(~held.known)) == [6]
    for pixels in (np.arange(29), np.array([0, 1, 2, 9, 20, 21, 28]), np.array([5]), np.arange(0)):
        np.testing.assert_array_equal(held.at(pixels), values[[0, 2, 3, 11]][:, pixels])
    np.testing.assert_array_equal(held.some_times(np.array([1, 3])).at(np.arange(6)), values[[2, 11]][:, :6])
    assert not list(tmp_path.iterdir())


def test_an_archive_in_a_file_gives_what_one_in_memory_gives(
    single: Fields, of_single: Series, in_a_file: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    filed = read_training(of_single, single, folder=tmp_path)
    monkeypatch.setattr(stored, "IN_MEMORY", 10**9)
    inside = read_training(of_single, single)
    assert inside.stored is None and filed.labels == inside.labels and filed.notes == inside.notes
    np.testing.assert_array_equal(_held(filed).known, np.isfinite(inside.fine[0]))
    np.testing.assert_array_equal(filed.in_memory("A test").fine, inside.fine)
    results = [downscale_with_archive(of_single, each, UNLEARNED) for each in (filed, inside)]
    np.testing.assert_allclose(results[0].means, results[1].means, rtol=0, atol=1e-10)
    np.testing.assert_allclose(results[0].sd(5), results[1].sd(5), rtol=1e-10)
    draws = [next(period_draws(each, 2, 0))[0] for each in results]
    np.testing.assert_allclose(draws[0], draws[1], rtol=0, atol=1e-8)
    assert not results[0].peers and results[1].peers and not list(tmp_path.iterdir())


def test_values_of_double_precision_change_by_the_stated_error(series: Series, fields: Fields, in_a_file: None) -> None:
    held = _held(read_training(series, fields))
    truth = np.stack([fields.values("t", {"time": n}).ravel() for n in range(48)])
    apart = np.abs(held.at(np.arange(320)) / truth - 1).max()
    assert 0 < apart <= 6e-8


def test_learning_uses_the_same_pixels_from_a_file(
    series: Series, fields: Fields, in_a_file: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = UNLEARNED.replace(learn=True, restarts=1, steps=3)
    filed = downscale_with_archive(series, read_training(series, fields), settings)
    monkeypatch.setattr(stored, "IN_MEMORY", 10**9)
    inside = downscale_with_archive(series, read_training(series, fields), settings)
    np.testing.assert_allclose(filed.means, inside.means, rtol=0, atol=2e-4)


def test_rain_and_pairs_are_read_into_memory_or_refused(in_a_file: None, monkeypatch: pytest.MonkeyPatch) -> None:
    region = weather_region(60, 8)
    spec = DownscalingSpec("pr", ("orography",), block=(2, 2), withhold=0.0)
    rain = read_series(Source("x"), spec, lambda key: region, ["#50/#59"])
    known = read_training(rain, region)
    assert known.stored is not None
    result = downscale_with_archive(rain, known, UNLEARNED)
    assert result.behind is not None and np.nanmin(result.means) >= 0
    monkeypatch.setattr(training_module, "_COPIES", 10**12)
    with pytest.raises(InputError, match="`--warp none` switches off, needs all 50 times of 64 pixels"):
        downscale_with_archive(rain, known, UNLEARNED)
    plain = downscale_with_archive(rain, known, UNLEARNED.replace(warp="none"))
    assert plain.behind is None
    low, high = (
        read_series(Source("x"), replace(spec, target=name), lambda key: region, ["#50/#59"])
        for name in ("tmin", "tmax")
    )
    both = read_training(low, region), read_training(high, region)
    with pytest.raises(InputError, match="A pair of variables needs all 50 times"):
        downscale_pair(low, high, both, UNLEARNED)


def test_nothing_is_left_after_a_failure_and_a_full_disk_is_refused(
    single: Fields, of_single: Series, in_a_file: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Cancelling:
        def report(self, **_: object) -> None:
            raise Cancelled("The run was cancelled.")

        def check(self) -> None:
            raise Cancelled("The run was cancelled.")

    training = read_training(of_single, single, folder=tmp_path)
    with pytest.raises(Cancelled):
        downscale_with_archive(of_single, training, UNLEARNED, Cancelling())
    assert not list(tmp_path.iterdir())
    before = len(os.listdir("/proc/self/fd")) if Path("/proc/self/fd").exists() else None
    del training
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) < before
    usage = type("Usage", (), {"free": 1000})
    monkeypatch.setattr(stored.shutil, "disk_usage", lambda place: usage)
    with pytest.raises(InputError, match=r"needs a temporary file of 0\.0 GB"):
        read_training(of_single, single, folder=tmp_path)


def test_the_cost_is_said_before_and_grows_with_the_archive(
    series: Series, fields: Fields, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cost_of(series, fields) == ""
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    assert "48 times of 320 pixels" in cost_of(series, fields)
    assert "20 times of 320 pixels" in cost_of(series, fields, ["#0/#19"])
    large = cost_sentence(10950, 412 * 424, 52 * 53, 365)
    assert "a temporary file of 7.7 GB" in large and "10,950 times of 174,688 pixels" in large
