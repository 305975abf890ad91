"""B − A of two maps: against the arrays that the maps were drawn from."""

import numpy as np
import pytest

from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.figures.difference import difference_map, numbers
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map


@pytest.fixture
def grid() -> Grid:
    return make_grid("latlon", np.linspace(10, 17, 8), np.linspace(-4, 5, 10))


def drawn(grid: Grid, values: np.ndarray, every: int = 1) -> dict:
    return field_map(Panel("mean", "Mean", values, grid, MapScale("t", "K", "sequential", -3, 3)), every=every)


def heat(figure: dict) -> dict:
    return next(trace for trace in figure["data"] if trace["type"] == "heatmap")


def test_it_is_second_minus_first_on_a_symmetric_scale(grid):
    a, b = np.random.default_rng(0).normal(size=(2, 8, 10))
    b[2, 3] = np.nan
    found = difference_map(drawn(grid, a), drawn(grid, b), "B − A")
    assert found is not None
    shown = heat(found)
    np.testing.assert_allclose(numbers(shown["z"]), b - a, atol=1e-6)
    assert shown["zmax"] == -shown["zmin"] == pytest.approx(np.nanmax(np.abs(b - a)), rel=0.05)
    assert shown["x0"] == -4 and shown["dx"] == pytest.approx(1) and "B − A, K" in str(found["layout"]["annotations"])


def test_a_preview_of_every_second_pixel_is_repeated(grid):
    a, b = np.random.default_rng(1).normal(size=(2, 8, 10))
    repeated = np.kron(a[::2, ::2], np.ones((2, 2)))
    for first, second, expected in (
        (drawn(grid, a, 2), drawn(grid, b), b - repeated),
        (drawn(grid, b), drawn(grid, a, 2), repeated - b),
    ):
        found = difference_map(first, second, "")
        assert found is not None
        np.testing.assert_allclose(numbers(heat(found)["z"]), expected, atol=1e-6)


def test_the_pictures_are_not_changed_and_equal_ones_differ_by_nothing(grid):
    a = np.random.default_rng(2).normal(size=(8, 10))
    picture, before = drawn(grid, a), drawn(grid, a)
    found = difference_map(picture, picture, "")
    assert found is not None and picture == before
    assert not numbers(heat(found)["z"]).any()


def test_other_grids_and_other_pictures_have_no_difference(grid):
    a = np.zeros((8, 10))
    other = make_grid("latlon", np.linspace(20, 27, 8), np.linspace(-4, 5, 10))
    line = {"data": [{"type": "scatter", "y": [1.0]}], "layout": {}}
    assert difference_map(drawn(grid, a), drawn(other, a), "") is None
    assert difference_map(drawn(grid, a), line, "") is None
