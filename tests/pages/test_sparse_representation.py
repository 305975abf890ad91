"""Page Sparse representation in AppTest: it opens on learned points, follows its sliders, learns on request."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import until
from tests.pages.sliders import moved
from tests.pages.test_present import charts

DOCUMENT = json.loads((Path(__file__).resolve().parents[2] / "data/benchmarks/sparse_representation.json").read_text())
#: Learned version → seed → stored row.
STORED = {
    version: {row["seed"]: row for row in DOCUMENT["results"] if row["model"] == version}
    for version in ("learned", "learned_points")
}


@pytest.fixture
def page(open_page) -> AppTest:
    """The page as it opens."""
    return open_page("sparse_representation")


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in page.markdown)


def table(page: AppTest) -> str:
    return next(block.proto.body for block in page.get("html") if "without noise" in block.proto.body)


def test_it_opens_with_the_learned_points_it_was_shipped_with(page):
    assert "5 learned points" in words(page)
    learned, random, all_data = map(float, re.findall(r"0\.\d+", words(page).split("Log evidence")[0])[:3])
    assert all_data < learned < 1.5 * all_data < random
    assert (
        "Learned points, kernel from the sliders" in table(page)
        and "Points and hyperparameters learned" in table(page)
        and "GP on all data" in table(page)
    )
    assert "matrices of 5 × 5 instead of 100 × 100 numbers are inverted" in words(page)


def test_coverage_comes_second_and_a_phone_leaves_out_what_does_not_fit(page):
    heads = re.findall(r'<th scope="col"([^>]*)>([^<]+)', table(page))
    assert [name for _, name in heads] == ["RMSE", "Coverage of ±2 sd", "MAE", "Bias", "CRPS"]
    assert [name for mark, name in heads if "lab-wide" in mark] == ["MAE", "Bias"]
    assert "On a wider screen: MAE and Bias." in table(page)


def test_every_row_of_the_table_has_a_picture(page):
    rows = re.findall(r'<th scope="row"><i[^>]*></i>([^<]+)', table(page))
    drawn = {f"s-{'here' if key == 'on_sliders' else key}" for key in ("on_sliders", "random", *STORED, "exact_gp")}
    assert len(rows) == len(drawn) + 1 and drawn | {"s-variational_gp"} <= set(charts(page))


def test_a_wider_band_of_a_learned_kernel_is_explained_where_it_costs_accuracy(open_page):
    """Stored rows: with seed 0 the learned variance and the CRPS are larger than with points alone, with seed 9 not."""
    for seed, told in ((0, True), (9, False)):
        learned, points = (STORED[version][seed] for version in ("learned", "learned_points"))
        size = learned["learned"]["kernel"]["terms"][0]["scale"]
        assert (size > 1 and learned["scores"]["crps"] > points["scores"]["crps"]) == told
        said = words(open_page("sparse_representation", **{"s-seed": str(seed)}))
        sentence = f"is {size:.2g} (true value 1), which widens the band. CRPS: {learned['scores']['crps']:.3f}, "
        assert (sentence in said) == told and ("widens the band" in said) == told


def test_every_slider_moves_the_left_picture(page):
    for key in ("s-scale", "s-size", "s-n"):
        before = words(page)
        moved(page, key, 2.5)
        assert words(page) != before, key


def test_points_can_stand_elsewhere(page):
    for places in ("even", "learned"):
        before = words(page)
        page.segmented_control(key="s-places").set_value(places).run()
        assert words(page) != before and f"5 {places} points" in words(page)


def test_another_problem_has_nothing_learned_until_it_is(page):
    page.slider(key="s-points").set_value(3)
    page.select_slider(key="s-data").set_value(50).run()
    assert "hyperparameters learned" not in table(page)
    page.segmented_control(key="s-places").set_value("learned").run()
    assert "Nothing has been learned" in page.info[0].value
    page.number_input(key="s-starts").set_value(1)
    page.number_input(key="s-steps").set_value(10).run()
    next(button for button in page.button if button.label == "Learn points and kernel").click().run()
    until(page, lambda: any(info.value.startswith("Learned in") for info in page.info))
    assert "hyperparameters learned" in table(page) and "3 learned points" in words(page)


def test_extremes_are_pictures(page):
    for data, points, noise in ((100_000, 20, 0.1), (20, 1, 0.0), (20, 20, 1.0)):
        page.select_slider(key="s-data").set_value(data)
        page.slider(key="s-points").set_value(points)
        page.slider(key="s-noise").set_value(noise).run()
        assert "the RMSE is **" in words(page), (data, points, noise)
