"""Pictures of the methods' pages: where names, rows, bins and lines of a cut stand."""

import numpy as np
import pytest

from deconditioning.figures.colours import GROUND, colour_scale, image_scale
from deconditioning.figures.studies import embeddings, likelihood_free, real_fields, story
from deconditioning.figures.style import histogram_bins, uncompacted
from tests.core.figures.test_palette import contrast

INTERVALS = {"exact": (0.5, 1.0, 2.0), "dme": (0.4, 1.1, 2.2), "abc": (0.1, 1.2, 2.4)}


def test_names_stand_between_intervals() -> None:
    figure = likelihood_free.marginal_plot(np.linspace(0, 2, 30), INTERVALS, variable="θ", limits=(0, 3))
    heights = [trace["y"][0] for trace in figure["data"] if trace.get("mode") == "lines+markers"]
    (names,) = (trace for trace in figure["data"] if trace.get("mode") == "text")
    assert heights == [2, 1, 0]  # the first method is at the top
    for height, name in zip(heights, names["y"], strict=True):
        assert height < name < height + 0.5
    assert names["text"] == ["Exact", "Deconditional mean", "ABC"]
    low, high = figure["layout"]["yaxis2"]["range"]
    assert low < 0 and high > names["y"][0] + 0.5


@pytest.mark.parametrize("count", [40, 200, 3000])
def test_bins_are_those_of_freedman_and_diaconis(count: int) -> None:
    samples = np.random.default_rng(1).normal(size=count)
    edges = np.histogram_bin_edges(samples, "fd")
    width = 6 / histogram_bins(samples, (-3.0, 3.0))
    expected = max(2 * np.subtract(*np.quantile(samples, [0.75, 0.25])) / count ** (1 / 3), 6 / 36)
    assert width <= expected + 1e-12 and width == pytest.approx(max(edges[1] - edges[0], 6 / 36), rel=0.15)


def test_a_methods_page_gives_it_one_name_in_every_picture() -> None:
    names = {"dme": "Deconditional embedding"}
    ranks = likelihood_free.ranks_plot(np.ones(4), (0.5, 2.0), method="dme", parameter="θ", names=names)
    errors = likelihood_free.errors_plot({"dme": {10: 1.0, 20: 0.5}}, title="t", label="l", names=names)
    corner = likelihood_free.corner_plot(np.eye(2), ["a", "b"], limits=np.array([[0, 1], [0, 1]]), methods=names)
    assert ranks["layout"]["title"]["text"].startswith("Deconditional embedding")
    assert errors["data"][0]["name"] == "Deconditional embedding"
    assert corner["data"][0]["name"] == "samples:<br>Deconditional embedding"
    assert all("Deconditional embedding" in figure["layout"]["meta"]["alt"] for figure in (ranks, errors))


def test_bins_of_equal_samples() -> None:
    assert histogram_bins(np.ones(20), (0.0, 2.0)) == 36


def test_every_other_field_is_shaded() -> None:
    rows = [real_fields.Measured(field, "cmp", 0.5, 0.95) for field in "abcde"]
    for figure in (real_fields.accuracy(rows, "cmp"), real_fields.coverage(rows, "cmp")):
        strips = [shape for shape in figure["layout"]["shapes"] if shape.get("xref") == "paper"]
        assert [(strip["y0"], strip["y1"]) for strip in strips] == [(-0.5, 0.5), (1.5, 2.5), (3.5, 4.5)]
        assert len(figure["layout"]["shapes"]) == 4  # and the line at 1 or the aim


def test_the_cut_is_a_line_at_its_y_over_all_x() -> None:
    x, y = np.linspace(-2, 2, 9), np.linspace(0, 1, 5)
    values = np.outer(x, y)
    plain = embeddings.embedding_map(values, x, y, title="t")
    cut = embeddings.embedding_map(values, x, y, title="t", cut=0.3)
    rim, line = (trace for trace in cut["data"] if trace["type"] == "scatter")
    for trace in (rim, line):
        assert uncompacted(trace["x"]) == pytest.approx([0.3, 0.3]) and uncompacted(trace["y"]).tolist() == [-2, 2]
    assert len(plain["data"]) == 1
    assert (cut["layout"]["xaxis"]["range"], cut["layout"]["yaxis"]["range"]) == ([0, 1], [-2, 2])  # no wider for it


def test_zero_is_not_the_brightest_of_an_image_on_a_dark_page() -> None:
    dark = [contrast(colour, GROUND[True]) for _, colour in image_scale("diverging", True)]
    middle = len(dark) // 2
    assert image_scale("diverging", True)[middle][0] == 0.5
    assert min(dark) == dark[middle] and dark[0] > 2 * dark[middle] < dark[-1]
    assert image_scale("diverging", False) == colour_scale("diverging")
    assert image_scale("sequential", True) == colour_scale("sequential")


def test_marks_of_two_pictures_side_by_side_do_not_touch_on_a_phone() -> None:
    figure = story.two_pictures([], [], ("a", "b", "up"), "alt", dark=False)["layout"]
    (_, end), (begin, _) = figure["xaxis"]["domain"], figure["xaxis2"]["domain"]
    margin = figure["margin"]["l"] + figure["margin"]["r"]
    assert (begin - end) * (345 - margin) > 18  # half of a "−6" and of a "3", of 15 pixels
    assert figure["meta"]["aspect"] * (345 - margin) < 0.5 * figure["height"]
