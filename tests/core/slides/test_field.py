"""Fields as slides carry them: values read back, scale bars and graticules by second routes."""

import numpy as np
import pytest
from pyproj import Geod

from deconditioning.fields.grids import sphere
from deconditioning.fields.grids.grid import make_grid
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.projection import graticule_on
from deconditioning.slides.field import CODES, decoded, field_data, scale_bar
from tests.core.test_downscaled_maps import problem_on

SCALE = MapScale("t", "K", "sequential", -2.0, 2.0)


def region(rows: int = 6, columns: int = 8):
    return make_grid("latlon", np.linspace(50, 55, rows), np.linspace(-4, 3, columns))


@pytest.mark.parametrize("stride", [1, 2])
def test_codes_are_values_to_half_a_step_from_north_to_south(stride: int) -> None:
    values = np.random.default_rng(0).uniform(200, 300, (6, 8))
    values[2, 4] = np.nan
    found = decoded(field_data(Panel("t", "T", values, region(), SCALE), stride))[::-1]
    wanted = values[::stride, ::stride]
    assert found.shape == wanted.shape and (np.isnan(found) == np.isnan(wanted)).all()
    assert np.nanmax(np.abs(found - wanted)) <= 0.5 * np.ptp(values[np.isfinite(values)]) / CODES * (1 + 1e-6)


def test_a_field_of_one_value_and_one_of_none() -> None:
    for value in (7.0, np.nan):
        found = decoded(field_data(Panel("t", "T", np.full((6, 8), value), region(), SCALE)))
        assert np.array_equal(found, np.full((6, 8), value), equal_nan=True)


def test_the_scale_bar_is_a_round_length_of_the_map() -> None:
    grid = region(31, 41)
    bar = scale_bar(grid)
    length = float(bar["text"].removesuffix(" km"))
    middle, step = grid.y[15], grid.x[1] - grid.x[0]
    across = Geod(a=6371008.8, b=6371008.8).inv(grid.x[20], middle, grid.x[21], middle)[2] / 1000 * 41
    assert step > 0 and length in (50.0, 100.0, 200.0) and 0.1 <= bar["share"] <= 0.28
    assert bar["share"] == pytest.approx(length / across, rel=1e-4)


def test_no_scale_bar_round_the_globe() -> None:
    assert scale_bar(problem_on("global").grid)["share"] == 0


@pytest.mark.parametrize("kind", ["latlon", "rotated", "projected"])
def test_a_graticule_lies_on_round_degrees_inside_the_frame(kind: str) -> None:
    grid = problem_on(kind).grid
    x, y = (line[np.isfinite(line)] for line in graticule_on(grid))
    assert len(x) > 20 and x.min() >= grid.x_edges[0] - 1e-9 and x.max() <= grid.x_edges[-1] + 1e-9
    latitude, longitude = sphere.true_position(kind, y, x, grid.mapping)
    steps = (0.1, 0.2, 0.5, 1, 2, 5, 10)
    step = next(step for step in steps if np.ptp(grid.latitude) / step <= 6)
    off = np.minimum(*(np.abs(v / step - np.round(v / step)) for v in (latitude, longitude)))
    assert np.median(off) < 1e-6 and np.quantile(off, 0.99) < 0.02  # a clipped end lies on a chord of its line
