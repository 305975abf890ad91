"""Cities on maps: where pyproj puts them, inside the frame, apart from each other, none on a map of the world."""

import numpy as np
import pytest
from pyproj import Transformer

from deconditioning.fields.grids.grid import make_grid
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import add_marks, field_map
from deconditioning.figures.places import cities_on

LAMBERT = {
    "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": 50.0, "longitude_of_central_meridian": 5.0,
    "latitude_of_projection_origin": 50.0, "earth_radius": 6371229.0,
}  # fmt: skip


def test_cities_of_a_region_stand_at_their_latitudes_and_longitudes():
    cities = {
        name: (x, y) for name, x, y in cities_on(make_grid("latlon", np.arange(49, 56, 0.5), np.arange(-7, 3, 0.5)))
    }
    assert cities["London"] == pytest.approx((-0.13, 51.51)) and 2 <= len(cities) <= 4
    places = np.array(list(cities.values()))
    assert (places > (-7.25, 48.75)).all() and (places < (2.75, 55.75)).all()


def test_longitudes_from_0_to_360_and_projections():
    atlantic = cities_on(make_grid("latlon", np.arange(50, 56, 0.5), np.arange(350, 362, 0.5)))
    assert ("London", 359.87, 51.51) in [(name, round(x, 2), round(y, 2)) for name, x, y in atlantic]
    metres = np.arange(-500e3, 500e3, 20e3)
    turn = Transformer.from_crs(
        "+proj=longlat +R=6371229", "+proj=lcc +lat_1=50 +lat_0=50 +lon_0=5 +R=6371229", always_xy=True
    )
    cities = {name: (x, y) for name, x, y in cities_on(make_grid("projected", metres, metres, mapping=LAMBERT))}
    assert cities["Paris"] == pytest.approx(turn.transform(2.35, 48.86), abs=1.0)
    assert {"Tokyo", "Sydney"}.isdisjoint(cities)


def test_a_map_of_the_world_shows_none():
    assert cities_on(make_grid("latlon", np.arange(-85, 86, 10.0), np.arange(0, 360, 10.0), wraps=True)) == ()


def test_marks_lie_below_the_names_of_towns() -> None:
    grid = make_grid("latlon", np.linspace(45.0, 47.0, 20), np.linspace(5.0, 8.0, 30))
    figure = field_map(Panel("mean", "Mean", grid.latitude, grid, MapScale("t", "K", "sequential", 0, 2)))
    before = list(figure["data"])
    assert before[-1]["text"] == ["Geneva"]
    mark = {"type": "scatter", "x": [6.1], "y": [46.2]}
    add_marks(figure, [mark])
    assert figure["data"] == [*before[:-1], mark, before[-1]]
    without = {"data": [mark]}
    add_marks(without, [mark])
    assert without["data"] == [mark, mark]
