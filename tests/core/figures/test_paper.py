"""Figures on paper: every one of ours is drawn; its colours lie where its numbers are, read from the pixels."""

import io
import warnings

import numpy as np
import pytest
from PIL import Image

from deconditioning.errors import InputError
from deconditioning.figures.printed.axes import plain_text
from deconditioning.figures.printed.figure import paper_figure
from deconditioning.figures.printed.light import in_light
from deconditioning.figures.studies import one_dimension
from deconditioning.figures.style import power
from tests.core.figures.test_marks import FIGURES

BARE = {"showgrid": False, "visible": False}
GREEN = np.array([0x11, 0xAA, 0x33])


def pixels(data: bytes) -> np.ndarray:
    """(H, W, 3) from north to south."""
    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"), dtype=int)


def where(image: np.ndarray, colour: np.ndarray) -> np.ndarray:
    return np.argwhere(np.abs(image - colour).sum(axis=2) < 30)


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_drawn_on_white(name: str) -> None:
    figures = FIGURES[name](False)
    for figure in figures if isinstance(figures, list) else [figures]:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            image = pixels(paper_figure(figure, size=(4, 3), dpi=60))
        assert image.shape == (180, 240, 3) and (image[0, -1] == 255).all() and image.std() > 2


def figure_of(trace: dict, **layout) -> dict:
    return {"data": [trace], "layout": {"xaxis": BARE | {"range": [0, 10]}, "yaxis": BARE | {"range": [0, 1]}} | layout}


def test_a_line_goes_through_its_points() -> None:
    trace = {
        "type": "scatter",
        "mode": "lines",
        "x": [0, 10],
        "y": [0.2, 0.8],
        "line": {"color": "#11aa33", "width": 3},
    }
    image = pixels(paper_figure(figure_of(trace), size=(5, 4), dpi=100))
    at = where(image, GREEN)
    rows, columns = at[:, 0], at[:, 1]
    slope, start = np.polyfit(columns, rows, 1)
    height = (rows.max() - rows.min()) / 0.6  # the axes are higher than the line by as much
    assert np.ptp(columns) > 450 and slope == pytest.approx(-0.6 * height / np.ptp(columns), rel=0.03)
    assert np.abs(rows - start - slope * columns).max() < 4


def test_a_log_axis_spaces_decades_evenly() -> None:
    trace = {"type": "scatter", "mode": "markers", "x": [1, 10, 100], "y": [0.5] * 3,
             "marker": {"color": "#11aa33", "size": 9}}  # fmt: skip
    image = pixels(paper_figure(figure_of(trace, xaxis=BARE | {"type": "log", "range": [-1, 3]}), size=(5, 2), dpi=100))
    columns = np.unique(where(image, GREEN)[:, 1])
    middles = [part.mean() for part in np.split(columns, np.flatnonzero(np.diff(columns) > 3) + 1)]
    assert len(middles) == 3 and np.diff(middles)[0] == pytest.approx(np.diff(middles)[1], abs=1.5)


def test_a_heat_map_lies_south_below_and_has_its_own_colours() -> None:
    scale = [[0, "#11aa33"], [1, "#0000ff"]]
    trace = {"type": "heatmap", "z": {"dtype": "f4", "bdata": "", "shape": "2, 2"}, "colorscale": scale, "zmin": 0,
             "zmax": 1, "showscale": False, "x": [2.5, 7.5], "y": [0.25, 0.75]}  # fmt: skip
    trace["z"] = one_dimension.compact(np.array([[0.0, 1.0], [1.0, 1.0]]))
    at = where(pixels(paper_figure(figure_of(trace), size=(4, 4), dpi=50)), GREEN)
    assert at[:, 0].min() > 90 and at[:, 1].max() < 110  # the lower left quarter alone


def test_what_cannot_be_printed_is_said() -> None:
    with pytest.raises(InputError, match="'sankey'"):
        paper_figure(figure_of({"type": "sankey"}))


@pytest.mark.parametrize("name", FIGURES)
def test_a_dark_figure_in_light_is_the_one_that_a_light_page_draws(name: str) -> None:
    dark, light = (FIGURES[name](each) for each in (True, False))
    if isinstance(dark, list):
        assert [in_light(figure) for figure in dark] == light
    else:
        assert in_light(dark) == light == in_light(light)


def test_words_and_powers_are_read_as_on_the_screen() -> None:
    assert plain_text("a &lt; b<br>c<i>d</i>") == "a < b\ncd"
    assert [power(value) for value in (1e-7, 0.001, 1, 200, 1e6)] == ["10⁻⁷", "0.001", "1", "200", "10⁶"]
