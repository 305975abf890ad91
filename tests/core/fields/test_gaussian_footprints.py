"""Gaussian footprints: against points spread over the plane, against moments in closed form, and what is refused."""

from dataclasses import replace

import numpy as np
import pytest
import shapely

from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import GaussianFootprint, footprint_of, footprint_pixels, half_maximum
from deconditioning.fields.footprints.stations import with_stations
from deconditioning.fields.grids.grid import make_grid
from deconditioning.fields.grids.interpolate import locate
from deconditioning.figures.downscaled_maps import field_scale, footprint_marks
from tests.core.downscaling.test_stations import problem, stations
from tests.core.fields.remapcon.cases import GRIDS

KM = 6371.0 * np.pi / 180


def away(latitude: float, longitude: float, east: np.ndarray, north: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where a distance and a direction lead (pyproj's geodesics of a sphere)."""
    from pyproj import Geod

    sphere = Geod(a=6_371_000.0, b=6_371_000.0)
    start = np.full(east.shape, longitude), np.full(east.shape, latitude)
    lon, lat, _ = sphere.fwd(*start, np.rad2deg(np.arctan2(east, north)), 1000 * np.hypot(east, north))
    return np.asarray(lat), np.asarray(lon)


@pytest.mark.parametrize("name", ["fine", "lambert", "rotated", "sheet"])
def test_weights_are_those_of_points_spread_over_the_plane(name: str) -> None:
    grid = GRIDS[name]
    side = 6371.0 * float(np.sqrt(np.median(grid.steradians())))
    footprint = GaussianFootprint(4 * side, 2.5 * side, 35.0)
    row, column = (size // 2 for size in grid.shape)
    at = float(grid.latitude[row, column]) + 0.2 * side / KM, float(grid.longitude[row, column])
    seen = footprint_pixels(grid, np.arange(grid.area.size), np.array([at[0]]), np.array([at[1]]), footprint)
    line, rng = np.arange(800), np.random.default_rng(0)
    places = (each + rng.random(each.shape) for each in np.meshgrid(line, line))
    east, north = (footprint.reach * (each.ravel() / 400 - 1) for each in places)
    response = footprint.response(east, north)
    there = response > 0
    pixel = locate(grid, *away(*at, east[there], north[there]))
    inside = pixel >= 0
    expected = np.bincount(pixel[inside], response[there][inside], grid.area.size) / response.sum()
    mine = np.bincount(seen.pixel, seen.mass, grid.area.size)
    assert np.abs(mine - expected).max() < 0.01 * expected.max()
    assert mine.sum() == pytest.approx(1 - 1e-4, abs=2e-3)


def test_weights_have_the_gaussians_moments() -> None:
    grid = make_grid("latlon", 40 + 0.05 * np.arange(200), 5 + 0.05 * np.arange(240))
    footprint = GaussianFootprint(90.0, 50.0, 90.0)  # east and west
    seen = footprint_pixels(grid, np.arange(grid.area.size), np.array([45.013]), np.array([11.031]), footprint)
    weight = seen.mass / seen.mass.sum()
    north = (grid.latitude.flat[seen.pixel] - 45.013) * KM
    east = (grid.longitude.flat[seen.pixel] - 11.031) * KM * np.cos(np.deg2rad(45.013))
    assert abs(weight @ east) < 0.1 and abs(weight @ north) < 0.3
    assert weight @ east**2 == pytest.approx(90.0**2 / (8 * np.log(2)), rel=0.01)
    assert weight @ north**2 == pytest.approx(50.0**2 / (8 * np.log(2)), rel=0.01)


def test_only_the_pixels_given_are_seen_also_across_the_date_line() -> None:
    grid = make_grid("latlon", -10 + 0.25 * np.arange(80), 175 + 0.25 * np.arange(40))
    pixels = np.arange(0, grid.area.size, 3)
    seen = footprint_pixels(grid, pixels, np.array([0.1]), np.array([-179.9]), GaussianFootprint(80.0, 80.0))
    assert set(seen.pixel) <= set(pixels) and len(seen.pixel) > 10
    assert np.ptp(grid.longitude.flat[seen.pixel] % 360) < 3 and seen.mass.sum() == pytest.approx(1 / 3, abs=0.03)


def test_outlines_lie_where_the_response_is_half() -> None:
    footprint = GaussianFootprint(60.0, 30.0, 20.0)
    outline = half_maximum(np.array([60.0]), np.array([10.0]), footprint)[0]
    ring = shapely.get_coordinates(outline)
    from pyproj import Geod

    bearing, _, far = Geod(a=6_371_000.0, b=6_371_000.0).inv(
        np.full(len(ring), 10.0), np.full(len(ring), 60.0), ring[:, 0], ring[:, 1]
    )
    east, north = (far / 1000 * each(np.deg2rad(bearing)) for each in (np.sin, np.cos))
    assert footprint.response(east, north) == pytest.approx(0.5, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("", None), (" ", None), ("20", (20, 20, 0)), ("22,14", (22, 14, 0)), ("22 × 14; -30", (22, 14, -30))],
)
def test_a_footprint_is_read_from_text(text: str, expected: tuple[float, ...] | None) -> None:
    assert footprint_of(text) == (None if expected is None else GaussianFootprint(*expected))


@pytest.mark.parametrize("text", ["wide", "1,2,3,4", "0", "-5", "nan", "20,inf", "9000"])
def test_what_is_no_footprint_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is not understood|cannot be used"):
        footprint_of(text)


def test_footprints_off_the_map_are_left_out_and_narrow_ones_refused() -> None:
    found = problem(12, 20)
    inside = stations(found, 6)
    at_edge = replace(
        inside, latitude=np.r_[inside.latitude[:4], 39.5, 39.99], longitude=np.r_[inside.longitude[:4], 7.0, 7.0],
        footprint=GaussianFootprint(50.0, 50.0),
    )  # fmt: skip
    made = with_stations(found, at_edge)
    assert len(made.stations.row) == 5 and np.bincount(made.stations.footprints[1], made.stations.footprints[2]) == (
        pytest.approx(1)
    )
    words = " ".join(made.notes)
    assert "full width at half maximum: 50 km" in words and "1 of 6 footprints lie more than half outside" in words
    assert "footprints lie partly outside the map's pixels" in words
    with pytest.raises(InputError, match="less than half as wide as a pixel"):
        with_stations(found, replace(inside, footprint=GaussianFootprint(5.0, 5.0)))
    with pytest.raises(InputError, match="None of the 6 stations"):
        with_stations(found, replace(at_edge, latitude=at_edge.latitude + 30))


def test_footprints_are_drawn_on_the_maps() -> None:
    found = problem(12, 20)
    made = with_stations(found, replace(stations(found, 6), footprint=GaussianFootprint(50.0, 50.0)))
    names = [trace["name"] for trace in footprint_marks(made, "observed", field_scale(made))]
    assert names.count("regions") == 2 and "stations" in names
    plain = with_stations(found, stations(found, 6))
    assert "regions" not in [trace["name"] for trace in footprint_marks(plain, "observed", field_scale(plain))]
