"""Page Swiss roll in AppTest: it opens finished, every model and slider moves it, learning ends on the sliders."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.figures.colours import mark_scale
from deconditioning.models.catalogue import GENERAL, MODELS
from pages.swiss_roll.compare import COLUMNS, without_repeats
from tests.pages.conftest import until
from tests.pages.sliders import log_slider, moved
from tests.pages.test_present import charts

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on a small roll."""
    return open_page("swiss_roll", **{"r-points": "400"})


def sentence(page: AppTest) -> str:
    """The sentence under the prediction."""
    assert not page.exception
    return next(block.value for block in page.markdown if "RMSE **" in block.value)


def test_it_opens_on_a_finished_example_with_the_papers_table(page):
    assert [error.value for error in page.error] == []
    assert "RMSE **0." in sentence(page)
    said = " ".join(block.value for block in page.caption)
    assert "stored; made by `deconditioning benchmark swiss-roll`" in said
    assert {"RMSE", "RMSE, paper"} <= set(page.dataframe[0].value.columns)


@pytest.mark.parametrize("matching", ["direct", "indirect"])
def test_every_model_fits_both_matchings(page, matching):
    page.segmented_control(key="r-match").set_value(matching)
    for model in GENERAL:
        page.selectbox(key="r-model").set_value(model).run()
        assert [error.value for error in page.error] == [], model
        assert MODELS[model].title in sentence(page)


def test_every_slider_moves_the_posterior(page):
    page.segmented_control(key="r-match").set_value("indirect").run()
    for key in ("r-lam", "r-ell", "r-k0", "r-s", "r-n"):
        before = sentence(page)
        moved(page, key, 10)
        assert sentence(page) != before, key


def test_the_right_picture_can_show_more(page):
    for shown in ("Truth", "Error", "2 sd", "Recovered share"):
        page.segmented_control(key="r-right").set_value(shown).run()
        assert not page.exception and page.error == [], shown


def test_too_few_points_for_the_slices_are_a_sentence_and_the_page_comes_back(page):
    page.selectbox(key="r-model").set_value("variational_cmp").run()
    page.number_input(key="r-induce").set_value(1000).run()
    assert any("distinct points" in error.value or "inducing points" in error.value for error in page.error)
    page.number_input(key="r-induce").set_value(50).run()
    assert [error.value for error in page.error] == []


def test_learning_puts_the_learned_values_on_the_sliders(page):
    before = log_slider(page, "r-n").value
    page.number_input(key="r-steps").set_value(5)
    page.number_input(key="r-starts").set_value(1).run()
    next(button for button in page.button if button.label == "Learn hyperparameters").click().run()
    until(page, lambda: any("Learned" in box.value for box in page.info))
    assert not page.exception
    assert log_slider(page, "r-n").value != before


def test_what_the_paper_reads_from_table_1_is_said_beside_it(page):
    said = " ".join(block.value for block in page.markdown)
    kept = json.loads((ROOT / "data" / "benchmarks" / "swiss_roll.json").read_text())["rows"]
    found = [row for row in kept if (row["model"], row["matching"]) == ("cmp", "direct")]
    mean = sum(row["scores"]["rmse"] for row in found) / len(found)
    assert f"the difference vanishes**: {mean:.3f} against" in said


def test_a_model_that_repeats_another_is_named_once() -> None:
    scores = dict.fromkeys(COLUMNS, 0.5)
    rows = {"cmp": scores | {"rmse": 0.4}, "bag_gp": scores | {"rmse": 0.09881}, "vbagg": scores | {"rmse": 0.09884}}
    shown, same = without_repeats(rows)
    assert list(shown) == ["bag_gp", "cmp"] and same == {"vbagg": "bag_gp"}


@pytest.mark.parametrize("dark", [False, True])
def test_positions_have_colours_whose_order_is_seen(dark: bool) -> None:
    """Lightness alone tells which of two positions is further along the roll."""
    channels = [[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for _, colour in mark_scale("sequential", dark)]
    light = [0.2126 * r**2.2 + 0.7152 * g**2.2 + 0.0722 * b**2.2 for r, g, b in channels]
    assert all(later > earlier for earlier, later in pairwise(light))


def test_the_truth_stands_beside_the_estimate_with_the_same_camera_and_colours(page: AppTest) -> None:
    def looks(key: str) -> list[Any]:
        """What makes two pictures comparable."""
        figure = json.loads(charts(page)[key]["figure"])
        marker = figure["data"][0]["marker"]
        scene = figure["layout"]["scene"]
        return [scene["camera"], scene["aspectmode"], figure["layout"]["height"], marker["colorscale"],
                marker["cmin"], marker["cmax"], marker["size"]]  # fmt: skip

    def title(key: str) -> str:
        return json.loads(charts(page)[key]["figure"])["layout"]["title"]["text"]

    assert looks("roll-right") == looks("roll-beside")
    assert title("roll-right").startswith("Recovered") and title("roll-beside").startswith("True position")
    page.segmented_control(key="r-right").set_value("Truth").run()
    assert title("roll-right").startswith("True position") and title("roll-beside").startswith("Recovered")


def test_more_slices_at_the_same_blending_cost_accuracy_and_less_blending_wins_it_back(open_page) -> None:
    """The sentence stands where it is true: at 78 slices a hundredth of λ has the smaller error."""
    errors = {}
    for lam in (1e-5, 1e-7):
        page = open_page("swiss_roll", **{"r-bags": "78", "r-lam": str(lam)})
        (said,) = [each.value for each in page.markdown if "the more the same λ blends them" in each.value]
        errors[lam] = float(re.search(r"RMSE \*\*([\d.]+)\*\*", said)[1])
    assert errors[1e-7] < errors[1e-5]
    few = open_page("swiss_roll")
    assert not [each for each in few.markdown if "blends them" in each.value]
