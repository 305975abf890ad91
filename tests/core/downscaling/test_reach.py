"""How far values resemble each other, beside what a map can show."""

import math
from dataclasses import replace

import numpy as np
import pytest

from deconditioning.downscaling.reach import Sizes, reach_sentence, sizes
from deconditioning.kernels.spec import Factor
from tests.core.test_downscaled_maps import problem_on

SIZE = Sizes(pixel=1.5, cell=13.5, extent=296.0, unit=82.0)


def half_of(family: str, reach: float) -> float:
    """The distance in km where the kernel has fallen to one half, in closed form."""
    shares = {"rbf": math.sqrt(2 * math.log(2)), "matern12": math.log(2)}
    return shares[family] * reach


@pytest.mark.parametrize("family", ["rbf", "matern12"])
@pytest.mark.parametrize("reach", [20.0, 77.0, 200.0])
def test_the_distance_of_half_the_correlation_is_that_of_the_closed_form(family: str, reach: float) -> None:
    sentence = reach_sentence(Factor(family, ("x", "y"), (reach / SIZE.unit,)), SIZE)
    assert sentence == (
        f"Values {half_of(family, reach):.0f} km apart have a correlation of ½; a cell is 13.5 km wide, the map 296 km."
    )


def test_a_map_that_is_no_square_is_told_by_both_sides() -> None:
    """As along its rows and its columns; one that is nearly square by one length."""
    factor = Factor("rbf", ("x", "y"), (0.5,))
    assert reach_sentence(factor, replace(SIZE, sides=(273.4, 400.9))).endswith("wide, the map 273 × 401 km.")
    both = replace(SIZE, sides=(273.4, 400.9), cells=(68.35, 100.2))
    assert reach_sentence(factor, both).endswith("½; a cell is 68 × 100 km, the map 273 × 401 km.")
    assert reach_sentence(factor, replace(SIZE, sides=(290.0, 301.0))).endswith("wide, the map 296 km.")
    problem = problem_on("latlon")
    lat, lon = problem.grid.y, problem.grid.x
    middle = math.radians(lat[len(lat) // 2])
    across = 111.195 * (lon[-1] - lon[0] + lon[1] - lon[0]) * math.cos(middle)
    up = 111.195 * (lat[-1] - lat[0] + lat[1] - lat[0])
    assert sizes(problem).sides == pytest.approx((across, up), rel=2e-3)
    rows, columns = problem.coarse_shape
    assert sizes(problem).cells == pytest.approx((across / columns, up / rows), rel=2e-3)


def test_no_distance_exceeds_the_map() -> None:
    sentence = reach_sentence(Factor("matern12", ("x", "y"), (2960 / SIZE.unit,)), SIZE)
    assert sentence == f"Even across the map (296 km) values have a correlation of {math.exp(-0.1):.2f}."


def test_on_the_globe_distances_are_those_along_the_ground() -> None:
    globe = Sizes(222.0, 1112.0, 2 * 6371.0088, 6371.0088, spherical=True)
    for degrees in (30, 90, 150):
        chord = 2 * math.sin(math.radians(degrees) / 2)
        factor = Factor("matern12", ("x", "y", "z"), (chord / math.log(2),))
        arc = f"{math.radians(degrees) * 6371.0088:,.0f} km"
        assert reach_sentence(factor, globe) == (
            f"Values {arc} apart have a correlation of ½; a cell is 1,112 km wide."
        )
    far = Factor("matern12", ("x", "y", "z"), (20.0,))
    assert reach_sentence(far, globe) == "Even on opposite sides of the Earth values have a correlation of 0.90."
    polar = Sizes(25.0, 100.0, 6371.0, 6371.0, spherical=True)  # 60 degrees of arc
    assert "across the map (6,672 km)" in reach_sentence(far, polar)


def test_a_lengthscale_of_each_column_is_read_along_the_first() -> None:
    one, other = (reach_sentence(Factor("rbf", ("x", "y"), (0.5, second)), SIZE) for second in (0.5, 9.0))
    assert one == other


def test_the_sizes_are_those_of_the_grid() -> None:
    problem = problem_on("latlon")
    size, grid = sizes(problem), problem.grid
    rows, columns = problem.spec.block
    step = 111.195 * np.diff(grid.y).mean()
    assert size.extent > size.cell > size.pixel > 0
    south, north, west, east = (math.radians(value) for value in (
        grid.y[len(grid.y) // 2], grid.y[len(grid.y) // 2 + rows], grid.x[0], grid.x[columns],
    ))  # fmt: skip
    area = 6371.0088**2 * abs((east - west) * (math.sin(north) - math.sin(south)))
    assert size.cell == pytest.approx(math.sqrt(area), rel=0.03), "the side of a square as large as a cell"
    assert size.pixel == pytest.approx(step, rel=0.5), "between a step along a meridian and one along a parallel"
    low, high = size.lengthscales()
    assert low * size.unit == pytest.approx(size.pixel) and high * size.unit == pytest.approx(size.extent / 2)
    nowhere = replace(problem, cell=np.full_like(problem.cell, -1))
    assert sizes(nowhere).cell == pytest.approx(size.cell / math.sqrt(rows * columns))
