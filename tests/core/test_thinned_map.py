"""A map sent at some of its pixels lies where the whole one lies and keeps what is there."""

import base64

import numpy as np
import pytest

from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map

SPEC = {"target": "air_potential_temperature", "covariates": ["surface_altitude"], "block": [18, 18], "withhold": 0.0,
        "select": {"time": 2, "level_height": 4}}  # fmt: skip


@pytest.fixture(scope="module")
def grid():
    return build_problem(Source("ukv-645m"), DownscalingSpec.from_dict(SPEC)).grid


def test_a_thinned_map_covers_the_same_ground(grid) -> None:
    values = np.arange(grid.area.size, dtype=float).reshape(grid.area.shape)
    values[0, 0] = np.nan  # its neighbour in the square takes its place
    values[4:8, 4:8] = np.nan
    panel = Panel("mean", "", values, grid, MapScale("", "", "sequential", 0.0, 1.0))
    whole, some = (field_map(panel, every=every) for every in (1, 4))
    heat = some["data"][0]
    rows, columns = (-(-n // 4) for n in grid.area.shape)
    shown = np.frombuffer(base64.b64decode(heat["z"]["bdata"]), "<f4").reshape(rows, columns)
    assert shown[0, 0] == values[0, 1] and np.isnan(shown[1, 1]) and shown[2, 3] == values[8, 12]
    for name, count in (("x", columns), ("y", rows)):
        step = whole["data"][0][f"d{name}"]
        assert heat[f"d{name}"] == pytest.approx(4 * step)
        edge = heat[f"{name}0"] - 2 * step
        assert edge == pytest.approx(whole["data"][0][f"{name}0"] - step / 2)
        assert abs(edge + 4 * step * count - (edge + step * grid.area.shape[name == "x"])) < 4 * step
    assert some["layout"]["xaxis"] == whole["layout"]["xaxis"]
