"""Page One dimension in AppTest: three views that open finished, follow their knobs and answer silly values."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.kernels.families.registry import FAMILIES
from pages.one_dimension import recover
from pages.one_dimension.controls import OFFERED
from tests.pages.conftest import until
from tests.pages.sliders import log_slider, moved
from tests.pages.test_present import charts


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on a small problem."""
    return open_page("one_dimension", **{"o-n": "40", "o-m": "50"})


def view(page: AppTest, name: str) -> AppTest:
    return page.segmented_control(key="o-view").set_value(name).run()


def words(page: AppTest) -> str:
    """Everything it says; no error, no exception."""
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in page.markdown)


def test_it_opens_on_a_posterior_with_its_scores_and_the_naive_ways_follow(page):
    assert "RMSE **" in words(page) and "log evidence is **" in words(page)

    def table() -> str:
        return next(block.proto.body for block in page.get("html") if "noise-free f" in block.proto.body)

    until(page, lambda: "being learned" not in table())
    assert "Cascade: y, then z" in table() and "Impute: z first" in table() and "Task-transformed GP" in table()
    assert ">–</td>" not in table()


def test_what_is_still_computed_has_its_place_from_the_start(open_page, monkeypatch):
    """Rows, lines of the legend and the frame of the evidence picture are there before their numbers."""
    monkeypatch.setattr(recover, "_naive", lambda spec: None)
    monkeypatch.setattr(recover, "_known_naive", lambda spec: None)
    monkeypatch.setattr(recover, "_requested", lambda *args: "never")
    monkeypatch.setattr(recover, "redraw_when", lambda ready, waiting, every=0.5: waiting())
    page = open_page("one_dimension", **{"o-n": "40", "o-m": "50"})
    assert "RMSE **" in words(page)
    rows = next(block.proto.body for block in page.get("html") if "noise-free f" in block.proto.body)
    assert rows.count("being learned …") == 2 and rows.count(">–</td>") == 2 * len(recover.SCORES)
    function, surface = (json.loads(charts(page)[key]["figure"]) for key in ("o-function", "o-surface"))
    assert sum(trace["name"].startswith(("impute", "cascade")) for trace in function["data"]) == 2
    assert surface["data"] == [] and surface["layout"]["height"] == 300
    assert any("The evidence picture is being computed" in block.value for block in page.caption)


def test_every_slider_moves_the_posterior(page):
    for key in ("o-k-scale", "o-k-size", "o-l-scale", "o-l-size", "o-lam", "o-noise"):
        before = words(page)
        moved(page, key, 3)
        assert words(page) != before, key


def test_either_end_of_a_slider_gives_a_picture_or_a_sentence(page):
    for key in ("o-lam", "o-noise", "o-k-scale", "o-l-scale"):
        usual = log_slider(page, key).value
        for end in (0, -1):
            slider = log_slider(page, key)
            slider.set_value(float(slider.options[end])).run()
            assert not page.exception, (key, end)
            assert all("raise" in error.value or "shorten" in error.value for error in page.error), (key, end)
        log_slider(page, key).set_value(usual)


def test_every_family_is_conditioned_and_its_own_parameters_move_the_result(page):
    for family in OFFERED:
        page.selectbox(key="o-k-family").set_value(family)
        page.selectbox(key="o-l-family").set_value(family).run()
        assert "RMSE **" in words(page), family
        for own in FAMILIES[family].parameters:
            before = words(page)
            if own.learned:
                moved(page, f"o-k-{own.name}", 0.6)
            else:
                page.slider(key=f"o-k-{own.name}").set_value(3.0).run()
            assert words(page) != before and not page.exception, family


def test_the_embedding_has_no_variance_of_ell_and_its_own_evidence(page):
    before = words(page)
    page.selectbox(key="o-method").set_value("dme").run()
    assert words(page) != before and "o-l-size" not in [slider.key for slider in page.select_slider]
    assert "ℓ1 variance" not in page.selectbox(key="o-up").options


def test_an_expression_of_ones_own_is_read_or_refused(page):
    page.selectbox(key="o-f").set_value("your own formula").run()
    page.text_input(key="o-f-own").set_value("2*x + cos(3*x)").run()
    assert "RMSE **" in words(page)
    for text, word in (
        ("2*x +", "cannot be read"),
        ("__import__('os')", "not allowed"),
        ("log(x)", "not a finite number"),
    ):
        page.text_input(key="o-f-own").set_value(text).run()
        assert not page.exception and word in page.error[0].value
    page.text_input(key="o-f-own").set_value("x").run()
    assert "RMSE **" in words(page)


def test_single_pairs_and_no_noise_are_still_a_picture(page):
    page.slider(key="o-eta").set_value(0.0)
    page.slider(key="o-xi").set_value(0.0)
    for n, m in ((1, 50), (40, 1), (1, 1)):
        page.slider(key="o-n").set_value(n)
        page.slider(key="o-m").set_value(m).run()
        assert "RMSE **" in words(page), (n, m)


def test_the_evidence_picture_follows_and_equal_axes_are_said(page):
    until(page, lambda: page.session_state["_o-surface"].values.shape == (21, 21) if "_o-surface" in page.session_state
          else False)  # fmt: skip
    words(page)
    page.selectbox(key="o-up").set_value(page.selectbox(key="o-across").value).run()
    assert any("same hyperparameter" in caption.value for caption in page.caption)


def test_learning_of_edited_pairs_ends_on_the_sliders(page):
    page.text_input(key="o-first-edits").set_value("m3_2_-4d5")
    page.number_input(key="o-starts").set_value(1)
    page.number_input(key="o-steps").set_value(8).run()
    before = log_slider(page, "o-noise").value
    next(button for button in page.button if button.label == "Learn hyperparameters").click().run()
    until(page, lambda: any(info.value.startswith("Learned in") for info in page.info))
    assert log_slider(page, "o-noise").value != before and "data set 1: 1 moved, 1 deleted." in words(page)


def test_there_and_back_follows_its_knobs(page):
    said = words(view(page, "There and back"))
    assert "f is partly recovered: the RMSE is **0." in said and "The limit is reached" in said
    for key in ("t-lam", "t-eps", "t-k-scale", "t-l-scale"):
        moved(page, key, 10)
        assert words(page) != said
        said = words(page)
    page.segmented_control(key="t-which").set_value("a draw from k").run()
    page.number_input(key="t-draw").set_value(3).run()
    assert words(page) != said
    log_slider(page, "t-lam").set_value(1e-14).run()
    assert not page.exception


def test_bayes_rule_follows_its_prior_and_its_observation(page):
    said = words(view(page, "Bayes' rule"))
    assert "samples (kernel herding) give" in said
    assert "has 4 modes" in said  # r takes the value 1, or nearly, at four y
    page.selectbox(key="b-prior").set_value("left").run()
    assert words(page) != said
    page.slider(key="b-x").set_value(-2.0).run()
    assert "**Observed**: x = r(y) + noise = −2.00" in words(page)
    page.slider(key="o-eta").set_value(0.0).run()
    assert not page.exception and "no density" in page.error[0].value
