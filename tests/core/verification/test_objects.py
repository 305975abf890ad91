"""Structure, amplitude and location of rain against hand-made cases and a plain search for objects."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.errors import InputError
from deconditioning.verification.objects import rain_objects
from deconditioning.verification.series import verified

SIZE = (21, 31)
DIAGONAL = np.hypot(20, 30)
DIMS = ("time", "y", "x")


def box(rows: slice, columns: slice, amount: float = 1.0) -> np.ndarray:
    field = np.zeros(SIZE)
    field[rows, columns] = amount
    return field


def sal_of(predicted: np.ndarray, truth: np.ndarray) -> tuple[float, float, float]:
    made = xr.Dataset({"mean": (DIMS, predicted[None]), "truth": (DIMS, truth[None])})
    found = rain_objects(verified(made))["prediction"]
    return tuple(float(each[0]) for each in (found.structure, found.amplitude, found.location))


def test_hand_made_cases() -> None:
    one = box(slice(8, 11), slice(5, 8))
    assert sal_of(one, one) == (0, 0, 0)
    # the same box eight pixels away: only the location
    assert sal_of(box(slice(8, 11), slice(13, 16)), one) == pytest.approx((0, 0, 8 / DIAGONAL))
    # three times as much of the same shape: A = 1, and S and L do not change
    assert sal_of(3 * one, one) == pytest.approx((0, 1, 0))
    # as much rain on three times the pixels: V = Σ R²/max/Σ R is the number of pixels
    assert sal_of(box(slice(8, 11), slice(2, 11), 1 / 3), one) == pytest.approx((2 * (27 - 9) / (27 + 9), 0, 0))
    # two boxes with the centre of one: only their distance from it counts, twice, and each has half the volume
    pair = (box(slice(8, 11), slice(5, 8)) + box(slice(8, 11), slice(15, 18))) / 2
    middle = box(slice(8, 11), slice(10, 13))
    assert sal_of(pair, middle) == pytest.approx((0, 0, 2 * 5 / DIAGONAL))


def by_search(field: np.ndarray) -> tuple[float, np.ndarray, float, float]:
    """Amount, centre, spread and volume, with objects found pixel by pixel."""
    left = {tuple(each) for each in np.argwhere(field > field.max() / 15)}
    centre = sum(field[at] * np.array(at) for at in np.ndindex(field.shape)) / field.sum()
    objects = []
    while left:
        grown, front = [], [left.pop()]
        while front:
            row, column = at = front.pop()
            grown.append(at)
            near = {(row + i, column + k) for i in (-1, 0, 1) for k in (-1, 0, 1)} & left
            left -= near
            front += near
        amounts = np.array([field[at] for at in grown])
        place = amounts @ np.array(grown) / amounts.sum()
        objects.append((amounts.sum(), np.hypot(*(place - centre)), amounts.sum() / amounts.max()))
    mass, away, volume = np.array(objects).T
    return field.sum(), centre, (mass @ away) / mass.sum(), (mass @ volume) / mass.sum()


def test_of_any_rain_they_are_those_of_a_search_for_objects() -> None:
    rng = np.random.default_rng(4)
    fields = [np.maximum(rng.gamma(0.4, 5, SIZE) - 2, 0) for _ in range(2)]
    (d, x, r, v), (d_z, x_z, r_z, v_z) = map(by_search, fields)
    expected = (2 * (v - v_z) / (v + v_z), 2 * (d - d_z) / (d + d_z),
                np.hypot(*(x - x_z)) / DIAGONAL + 2 * abs(r - r_z) / DIAGONAL)  # fmt: skip
    assert sal_of(*fields) == pytest.approx(expected, rel=1e-10)


def test_times_without_rain_have_none_and_draws_have_means(tmp_path: Path, capsys) -> None:
    rng = np.random.default_rng(6)
    truth = rng.gamma(0.3, 5, (4, *SIZE))
    truth[2] = 0
    draws = rng.gamma(0.3, 5, (3, 4, *SIZE))
    made = xr.Dataset({"mean": (DIMS, draws.mean(0)), "truth": (DIMS, truth), "draws": (("realization", *DIMS), draws)})
    found = rain_objects(verified(made))
    each = [rain_objects(verified(made.assign(mean=made.draws[n]).drop_vars("draws")))["prediction"] for n in range(3)]
    for name in ("structure", "amplitude", "location"):
        expected = np.mean([getattr(one, name) for one in each], axis=0)
        np.testing.assert_allclose(getattr(found["draws of prediction"], name), expected)
        assert np.isnan(expected).tolist() == [False, False, True, False]
    assert found["prediction"].pooled["sal_structure"] > 0.5 > abs(found["draws of prediction"].pooled["sal_structure"])
    made.to_netcdf(tmp_path / "p.nc", engine="h5netcdf")
    assert main(["verify", str(tmp_path / "p.nc"), "--quiet", "--sal", "--table", str(tmp_path / "t.csv")]) == 0
    written = json.loads(capsys.readouterr().out)["sal"]["p"]
    assert written["location"][2] is None
    rows = {
        row["score"]: row["value"] for row in csv.DictReader((tmp_path / "t.csv").open()) if row["prediction"] == "p"
    }
    assert float(rows["sal_location"]) == written["sal_location"] == pytest.approx(
        np.nanmean(found["prediction"].location)
    )  # fmt: skip


def test_distances_on_a_sphere_are_shorter_along_the_rows_and_negative_values_are_refused() -> None:
    axes = {"lat": np.linspace(50, 70, SIZE[0]), "lon": np.linspace(0, 30, SIZE[1])}
    one, other = box(slice(8, 11), slice(5, 8)), box(slice(8, 11), slice(13, 16))
    made = xr.Dataset(
        {"mean": (("time", "lat", "lon"), one[None]), "truth": (("time", "lat", "lon"), other[None])}, axes
    )
    found = rain_objects(verified(made))["prediction"].location[0]
    shrink = np.cos(np.radians(axes["lat"])).mean()
    assert found == pytest.approx(8 * shrink / np.hypot(20, 30 * shrink))
    with pytest.raises(InputError, match="negative values"):
        rain_objects(verified(made.assign(truth=made.truth - 1)))
