"""The stored gain of measured stations beside cells of ERA5 is computed again, and stations alone by plain algebra."""

import json

import numpy as np
import pytest

from deconditioning.bundled import bundled
from deconditioning.datasets.uk_stations import VALUES, uk_stations
from tests.benchmarks.measured_stations_case import BLOCKS, MeasuredCase, cells_alone, parts, row_of
from tests.benchmarks.stations_case import at_own_altitude

ROWS = json.loads((bundled("benchmarks") / "stations_measured.json").read_text())["rows"]


def test_every_station_is_withheld_alone_and_with_others() -> None:
    withheld = np.stack(list(parts(27)))
    assert (withheld[:27].sum(0) == 1).all() and (withheld[27:30].sum(0) == 1).all()
    assert (withheld[30:].sum(0) == 2).all() and (withheld.sum(1) == 27 * [1] + 3 * [9] + 3 * [18]).all()
    assert len(ROWS) == len(VALUES) * len(BLOCKS) * len(withheld)


def test_a_stored_row_is_computed_again() -> None:
    case, number = MeasuredCase("tmean", 4), 29
    withheld = list(parts(27))[number]
    errors, sd = cells_alone(case)
    found, row = row_of(case, withheld, errors, sd), dict(ROWS[number])
    assert (row.pop("value"), found.pop("value")) == ("tmean", "tmean")
    assert (row["block"], row["seen"], row["scored"]) == (4, 18, 9)
    assert found == {name: pytest.approx(value, rel=0.03, abs=0.01) for name, value in row.items()}


def test_errors_of_the_cells_are_those_of_a_map_that_knows_no_station() -> None:
    """Their RMSE by hand, from the stored rows of one station each."""
    for block in BLOCKS:
        for value in VALUES:
            rows = [each for each in ROWS if (each["block"], each["value"]) == (block, value)]
            one, third = (np.array([each["cells"] for each in rows if each["scored"] == size]) for size in (1, 9))
            assert np.mean(one**2) == pytest.approx(np.mean(third**2))


def test_the_trend_is_that_of_the_normal_equations() -> None:
    """Every station in turn from the others, by the leverage of each in one fit to all."""
    every, rows = uk_stations("all", "tmin"), [each for each in ROWS if each["value"] == "tmin" and each["block"] == 4]
    columns = np.stack([np.ones(27), every.latitude, every.longitude, every.altitude], 1)  # type: ignore[list-item]
    hat = columns @ np.linalg.inv(columns.T @ columns) @ columns.T
    left_out = (every.value - hat @ every.value) / (1 - np.diag(hat))
    assert np.allclose([each["trend"] for each in rows[:27]], np.abs(left_out), atol=1e-6)


def test_stations_alone_stand_at_their_own_altitudes() -> None:
    found = MeasuredCase("tmean", 4).without(np.arange(27) == 4)
    assert found.stations is not None
    inputs, pixels = at_own_altitude(found, found.stations, "altitude"), found.inputs[found.stations.row]
    column = found.columns.index("altitude")
    metres = found.input_scaling.scales[column].backward(inputs[:, column].numpy())
    altitude = uk_stations().altitude
    assert altitude is not None and np.allclose(metres, np.delete(altitude, 4))
    others = [each for each in range(pixels.shape[1]) if each != column]
    assert bool((inputs[:, others] == pixels[:, others]).all()) and bool((inputs != pixels)[:, column].any())
