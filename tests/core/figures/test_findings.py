"""What pictures say to those who cannot see them: numbers of what is drawn, by second routes."""

import re

import numpy as np
import pytest

from deconditioning.fields.grids.grid import make_grid
from deconditioning.figures import descriptions
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.studies.against_size import scores_against
from deconditioning.figures.studies.filtering import plane_plot
from deconditioning.figures.studies.one_dimension import function_plot, pairs_plot, weights_plot
from deconditioning.wording import number
from tests.core.figures.test_marks import FIGURES

X = np.linspace(0, 2, 5)


def alt(figure: dict) -> str:
    return figure["layout"]["meta"]["alt"]


@pytest.mark.parametrize("name", sorted(set(FIGURES) - {"story.picture", "story.over_ground", "story.two_pictures"}))
def test_every_picture_says_a_number_of_what_it_shows(name: str) -> None:
    said = alt(FIGURES[name](False))
    assert re.search(r"\d", said) and "nan" not in said.lower().split() and said.endswith(".")


def test_a_course_has_its_ends() -> None:
    assert descriptions.course(X, np.array([1.0, 5, np.nan, -2, 0])) == "highest 5 at 0.5, lowest −2 at 1.5"
    assert descriptions.course(X, np.full(5, np.nan)) == "no values"


def test_curves_are_told_by_their_distance_the_nearest_first() -> None:
    figure = function_plot(X, X + 1, np.full(5, 0.6), {"truth": X, "impute": X + 3}, title="f", model="cmp")
    assert "RMSE of CMP 1, impute 3; ±2 sd contain 100 % of the truth" in alt(figure)
    narrow = function_plot(X, X + 1, np.full(5, 0.4), {"truth": X}, title="f", model="cmp")
    assert "contain 0 % of the truth" in alt(narrow)


def test_ends_have_the_names_of_the_legend_and_no_computers_exponents() -> None:
    curves = {"kbr_printed": [1.96, 2154.0], "ekf": [0.06501, 0.06499], "cmp": [3.1e-7, 12.0]}
    said = descriptions.ends(curves, {"kbr_printed": "Rule,<br>as printed"})
    assert said == "Rule, as printed 1.96 to 2,150, Extended Kalman 0.065, CMP 3.1 × 10⁻⁷ to 12"
    figure = scores_against(
        {name: {1.0: [first], 2.0: [last]} for name, (first, last) in curves.items()}, title="t", labels=("n", "e"),
        names={"kbr_printed": "Rule,<br>as printed"}, dashes={"ekf": "dash"},
    )  # fmt: skip
    assert said in alt(figure)
    assert [trace["line"]["dash"] for trace in figure["data"]] == ["solid", "dash", "solid"]


def test_the_truth_lies_on_top() -> None:
    figure = function_plot(X, X + 1, None, {"truth": X, "impute": X + 3}, title="f", model="cmp")
    assert [trace["name"] for trace in figure["data"]][-1] == "Truth"


def test_a_map_tells_where_it_is_low_and_high() -> None:
    grid = make_grid("latlon", np.linspace(50, 55, 6), np.linspace(-4, 4, 9))
    values = np.zeros((6, 9))
    values[4:, :3], values[:2, 6:] = -9, 7  # north-west, south-east
    said = alt(field_map(Panel("k", "t", values, grid, MapScale("T", "K", "sequential", -9, 8))))
    assert "lowest at the upper left (−9 on average), highest at the lower right (7)" in said
    assert descriptions.extremes(np.full((6, 9), np.nan)) == "all values missing"
    values[0, 0] = np.nan
    mean = number((6 * 7 - 6 * 9) / 53, 4)
    assert descriptions.spread(values, "K") == f"From −9\u00a0K to 7\u00a0K, on average {mean}\u00a0K."
    assert descriptions.spread(values[:1, :1], "K") == "All values are missing."
    values[0, 0] = 0
    error = alt(field_map(Panel("k", "t", values, grid, MapScale("T", "K", "diverging", -9, 9))))
    rms = np.sqrt((6 * 81 + 6 * 49) / 54)
    assert f"{number((6 * 7 - 6 * 9) / 54)} on average, root mean square {number(rms)}" in error


def test_a_scatter_on_log_axes_tells_the_correlation_of_logs() -> None:
    at = np.array([0.5, 2.0, 40.0, 800.0])
    figure = pairs_plot(at, 1 / at, title="t", labels=("x", "y"), rule=0.3, logs=(True, True))
    assert alt(figure).endswith("correlation -1.00.")
    assert figure["layout"]["xaxis"]["type"] == figure["layout"]["yaxis"]["type"] == "log"
    assert figure["layout"]["xaxis"]["ticktext"] == ["1", "10", "100", "1000"]
    assert not alt(pairs_plot(at, 1 / at, title="t", labels=("x", "y"))).endswith("-1.00.")


def test_weights_tell_how_far_apart_they_join() -> None:
    near = alt(weights_plot(np.eye(5), X, X))
    assert "weighted mean distance between y and ỹ 0," in near and "mean distance 0.8." in near


def test_filters_are_told_by_their_distance() -> None:
    path = np.column_stack([X, X])
    said = alt(plane_plot(path, None, {"kbr": path + np.array([3, 4]), "ekf": path + np.array([0, 1])}, 2))
    assert said.endswith("distances from it: Extended Kalman 1, Kernel Bayes 5.")


def test_a_line_with_gaps_has_room_for_all_of_its_values() -> None:
    """The axis reaches 6 % beyond the lowest and the highest value, whichever of them are missing."""
    gaps = np.array([np.nan, 9.0, np.nan, -7.0])
    figure = function_plot(np.arange(4.0), np.zeros(4), np.ones(4), {"coarse": gaps}, title="f", model="cmp")
    assert figure["layout"]["yaxis"]["range"] == pytest.approx([-7 - 0.06 * 16, 9 + 0.06 * 16])
