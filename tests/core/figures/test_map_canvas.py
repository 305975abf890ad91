"""Which figures the canvas draws: every map of a field, whatever its grid; nothing that it would draw in part."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.figures.map_canvas import drawn_on_canvas, map_canvas_script
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.style import rimmed_line

POLE = {"grid_north_pole_latitude": 37.5, "grid_north_pole_longitude": 177.5}
LATITUDE, LONGITUDE = np.meshgrid(np.linspace(50, 56, 5), np.linspace(-4, 3, 6), indexing="ij")
GRIDS = {
    "latlon": make_grid("latlon", np.linspace(-80, 80, 5), np.arange(0, 360, 60.0), wraps=True),
    "rotated": make_grid("rotated", np.linspace(-2, 2, 5), np.linspace(-3, 3, 6), mapping=POLE),
    "curvilinear": make_grid("curvilinear", np.arange(5.0), np.arange(6.0), position=(LATITUDE, LONGITUDE)),
    "uneven": make_grid("latlon", np.array([0.0, 1, 3, 7, 12]), np.linspace(0, 9, 6)),
}


def map_of(grid: Grid, every: int = 1) -> dict[str, Any]:
    values = np.random.default_rng(0).normal(size=grid.shape)
    return field_map(Panel("mean", "Mean", values, grid, MapScale("t", "K", "diverging", -1, 1)), every=every)


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("every", [1, 2])
def test_every_map_of_a_field_is(name: str, every: int) -> None:
    assert drawn_on_canvas(map_of(GRIDS[name], every))


def test_a_map_with_lines_marks_and_a_frame_is() -> None:
    figure = map_of(GRIDS["latlon"])
    figure["data"] += rimmed_line(np.array([0.0, 9]), np.array([0.0, 9]), width=1)
    figure["data"].append({"type": "scatter", "mode": "markers", "x": [1], "y": [2], "marker": {"symbol": "x"}})
    figure["layout"]["shapes"] = [*figure["layout"]["shapes"], {"type": "rect", "x0": 0, "x1": 1, "y0": 0, "y1": 1}]
    assert drawn_on_canvas(figure)


def altered(change: Callable[[dict[str, Any], dict[str, Any]], object]) -> dict[str, Any]:
    """A map of which something is changed, given its heat map and its layout."""
    figure = copy.deepcopy(map_of(GRIDS["latlon"]))
    change(figure["data"][0], figure["layout"])
    return figure


@pytest.mark.parametrize(
    "change",
    [
        lambda heat, layout: heat.pop("zmin"),
        lambda heat, layout: heat.update(colorscale="Viridis"),
        lambda heat, layout: heat.update(type="contour"),
        lambda heat, layout: heat["colorbar"].update(orientation="v"),
        lambda heat, layout: layout["yaxis"].update(type="log"),
        lambda heat, layout: layout["xaxis"].pop("range"),
        lambda heat, layout: layout["meta"].update(role="chart"),
        lambda heat, layout: layout.update(shapes=[{"type": "circle"}]),
    ],
)
def test_what_the_canvas_would_guess_or_leave_out_stays_with_plotly(change: Callable[..., object]) -> None:
    assert not drawn_on_canvas(altered(change))


def test_two_fields_or_another_kind_of_trace_stay_with_plotly() -> None:
    twice, surface = map_of(GRIDS["latlon"]), map_of(GRIDS["latlon"])
    twice["data"].append(twice["data"][0])
    surface["data"].append({"type": "scattergl", "x": [1], "y": [1]})
    assert not drawn_on_canvas(twice) and not drawn_on_canvas(surface)
    assert not drawn_on_canvas({"data": [], "layout": {}})


def test_the_code_is_one_that_needs_no_page() -> None:
    code = map_canvas_script()
    assert "const mapCanvas" in code and "import " not in code and "Plotly." not in code
