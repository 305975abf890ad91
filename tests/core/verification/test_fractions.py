"""Fractions skill score against another library and plain loops over windows."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from scipy.stats import norm
from scores.spatial import fss_2d

from deconditioning.cli.program import main
from deconditioning.errors import InputError
from deconditioning.verification.fractions import fractions
from deconditioning.verification.series import verified

TIMES, SIZE, LIMIT = 6, (11, 14), 0.8


@pytest.fixture
def made() -> xr.Dataset:
    rng = np.random.default_rng(1)
    dims = ("time", "y", "x")
    truth = rng.normal(size=(TIMES, *SIZE))
    fields = {"mean": truth + rng.normal(size=truth.shape), "sd": 0.5 + rng.random(truth.shape), "truth": truth}
    return xr.Dataset({name: (dims, values) for name, values in fields.items()})


@pytest.mark.filterwarnings("ignore:At least one of the provided spatial dims")
@pytest.mark.parametrize("window", [1, 3, 9])
def test_of_the_mean_it_is_that_of_another_library(made: xr.Dataset, window: int) -> None:
    (found,) = fractions(verified(made), [LIMIT], [window])
    other = fss_2d(
        made["mean"], made.truth, event_threshold=LIMIT, window_size=(window, window), spatial_dims=("y", "x"),
        reduce_dims=["time"],
    )  # fmt: skip
    assert found.of_mean == pytest.approx(float(other), rel=1e-9)
    assert found.useful == pytest.approx(0.5 + 0.5 * float((made.truth > LIMIT).mean()))


def test_missing_pixels_are_left_out_and_probabilities_take_the_place_of_events(made: xr.Dataset) -> None:
    made["truth"] = made.truth.where(np.random.default_rng(2).random(made.truth.shape) < 0.8)
    (found,) = fractions(verified(made), [LIMIT], [3])
    chance = norm.sf(LIMIT, made["mean"], made.sd)
    sums = np.zeros(2)
    for time in range(TIMES):
        for row in range(SIZE[0] - 2):
            for column in range(SIZE[1] - 2):
                part = (time, slice(row, row + 3), slice(column, column + 3))
                known = np.isfinite(made.truth.values[part])
                if known.any():
                    predicted, true = chance[part][known].mean(), (made.truth.values[part][known] > LIMIT).mean()
                    sums += [(predicted - true) ** 2, predicted**2 + true**2]
    assert found.of_probability == pytest.approx(1 - sums[0] / sums[1], rel=1e-9)


def test_a_displaced_event_is_right_in_large_windows_and_a_perfect_one_in_all() -> None:
    """Two pixels apart, windows of w share w − 2 of their w positions along the row: ``FSS = 1 − 2/w``."""
    truth = np.zeros((1, 40, 40))
    truth[0, 20, 20] = 1.0
    made = xr.Dataset({"mean": (("time", "y", "x"), np.roll(truth, 2, axis=2)), "truth": (("time", "y", "x"), truth)})
    found = {each.window: each.of_mean for each in fractions(verified(made), [0.5])}
    assert set(found) == {1, 3, 9, 27} and found[1] == 0
    for window in (3, 9):
        assert found[window] == pytest.approx(1 - 2 / window)
    perfect = fractions(verified(made.assign(mean=made.truth)), [0.5, 5.0])
    assert [each.of_mean for each in perfect] == pytest.approx([1] * 4 + [None] * 4)
    assert all(each.of_probability is None for each in perfect)


def test_the_command_writes_them(made: xr.Dataset, tmp_path: Path, capsys) -> None:
    made.to_netcdf(tmp_path / "p.nc", engine="h5netcdf")
    words = ["verify", str(tmp_path / "p.nc"), "--quiet", "--windows", "1", "5"]
    assert main([*words, "--above", "0.8", "--table", str(tmp_path / "t.csv")]) == 0
    written = json.loads(capsys.readouterr().out)["fractions"]
    assert [each["window"] for each in written] == [1, 5] and written[0]["of_mean"] < written[1]["of_mean"]
    assert f"p,fss,0.8,{written[1]['of_mean']},5,," in (tmp_path / "t.csv").read_text()
    assert main(words) == 2 and "add `--above`" in capsys.readouterr().err
    with pytest.raises(InputError, match="A window of 12 pixels does not fit: give 1 to 11"):
        fractions(verified(made), [0.0], [12])
