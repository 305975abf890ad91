"""Small pictures of figures: the colours stand where the figure has its values."""

import io

import numpy as np
import pytest
from PIL import Image

from deconditioning.errors import InputError
from deconditioning.figures.printed.thumbnail import SIZE, figure_sketch
from deconditioning.figures.studies.one_dimension import function_plot, pairs_plot
from deconditioning.figures.studies.swiss_roll import roll_in_space
from deconditioning.figures.style import compact

GREY = [[0.0, "#000000"], [1.0, "#ffffff"]]
RED = (200, 0, 0)


def pixels(figure: dict) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(figure_sketch(figure))).convert("RGB")).astype(int)


def line(x: object, y: object, **layout: object) -> dict:
    trace = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": {"color": "rgb(200,0,0)", "width": 3}}
    return {"data": [trace], "layout": layout}


def rows_of_red(picture: np.ndarray, column: int) -> np.ndarray:
    return np.flatnonzero(np.abs(picture[:, column] - RED).sum(axis=1) < 300)


def test_a_map_lies_as_it_does_on_the_page() -> None:
    z = np.array([[0.0, 1.0], [np.nan, 0.5]])  # south first
    picture = pixels({"data": [{"type": "heatmap", "z": compact(z), "colorscale": GREY}], "layout": {}})
    south_west, south_east, north_west, north_east = (picture[y, x] for y in (-1, 0) for x in (0, -1))
    assert south_west.tolist() == [0, 0, 0] and south_east.tolist() == [255] * 3
    assert abs(north_east - 128).max() <= 2 and 150 < north_west.mean() < 200
    assert picture.shape[0] <= SIZE[1] and picture.shape[1] <= SIZE[0]


@pytest.mark.parametrize("kind", ["linear", "log"])
def test_a_line_goes_where_its_axes_say(kind: str) -> None:
    x = np.array([1.0, 10.0, 100.0])
    y = x if kind == "linear" else np.log10(x)  # a straight line on its axis
    ends = [1.0, 100.0] if kind == "linear" else [0.0, 2.0]
    figure = line(compact(x), compact(y), xaxis={"type": kind, "range": ends}, yaxis={"range": [y[0], y[-1]]})
    picture = pixels(figure)
    height, width = picture.shape[:2]
    for column in (width // 4, width // 2, 3 * width // 4):
        assert abs(rows_of_red(picture, column).mean() - height * (1 - column / width)) < 3


def test_a_band_lets_its_line_through_and_gaps_stay_open() -> None:
    grid = np.linspace(0, 1, 50)
    figure = function_plot(grid, np.sin(6 * grid), 0.5 + 0 * grid, {"truth": 0 * grid}, title="t", model="cmp")
    assert len(np.unique(pixels(figure).reshape(-1, 3), axis=0)) > 3
    picture = pixels(line([0, 1, None, 2, 3], [0, 0, None, 0, 0], yaxis={"range": [-1, 1]}, xaxis={"range": [0, 3]}))
    assert rows_of_red(picture, SIZE[0] // 2).size == 0 and rows_of_red(picture, SIZE[0] // 6).size


def test_marks_in_the_plane_and_in_space_are_drawn_in_their_colours() -> None:
    at = np.random.default_rng(0).normal(size=(3000, 3))
    figures = (
        roll_in_space(at, at[:, 2], title="t", label="l", colours="sequential", limits=(-2, 2)),
        pairs_plot(at[:, 0], at[:, 1], title="t", labels=("x", "y")),
    )
    for figure, colours in zip(figures, (20, 2), strict=True):
        assert len(np.unique(pixels(figure).reshape(-1, 3), axis=0)) >= colours


def test_on_a_dark_page_the_ground_is_dark() -> None:
    light, dark = (pixels(line([0, 1], [0, 1], font={"color": ink})) for ink in ("#1e2a32", "#e3e8ea"))
    assert light[0, 0].mean() > 200 and dark[0, 0].mean() < 60


@pytest.mark.parametrize(
    "data",
    [[], [{"type": "pie"}], [{"type": "heatmap", "z": [[None]]}], [{"type": "scatter", "x": [], "y": []}],
     [{"type": "scatter", "x": [None], "y": [None]}]],
)  # fmt: skip
def test_what_has_nothing_to_draw_is_refused(data: list) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        figure_sketch({"data": data, "layout": {}})
