"""Page Kernel Bayes' rule in AppTest: it opens finished, follows observation and knobs in one and two dimensions."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.experiments.kernel_bayes import GaussianSpec, compare_rules

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(open_page) -> AppTest:
    """The page as it opens."""
    return open_page("kernel_bayes.py")


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in page.markdown)


def test_it_opens_with_every_rule_beside_the_exact_mean(page):
    assert "the exact posterior mean is" in words(page)
    table = next(block.proto.body for block in page.get("html") if "from the exact one" in block.proto.body)
    assert all(name in table for name in ("Kernel Bayes", "Rejection ABC", "Densities"))


@pytest.mark.parametrize("key", ["k-beta", "k-eps", "k-delta"])
def test_every_slider_moves_the_answer(page, key):
    before = words(page)
    page.slider(key=key).set_value(page.slider(key=key).value - 1.0).run()
    assert words(page) != before


@pytest.mark.parametrize("form", ["kbr_a", "cme"])
def test_other_forms_are_shown_in_both_dimensions(page, form):
    before = words(page)
    page.segmented_control(key="k-form").set_value(form).run()
    assert words(page) != before
    page.segmented_control(key="k-dim").set_value(2).run()
    assert "herded samples have mean" in words(page)
    page.slider(key="k-y1").set_value(-3.0).run()
    assert "-3.00)" in words(page)


def test_an_observation_far_away_is_a_picture_or_a_sentence(page):
    page.slider(key="k-beta").set_value(-1.3)
    page.slider(key="k-y0").set_value(-8.0).run()
    assert not page.exception


def test_cross_validation_sets_the_sliders(page, monkeypatch):
    monkeypatch.setattr("core.experiments.kernel_bayes.SCALES", (0.5, 1.0))
    page.slider(key="k-n").set_value(40).run()
    next(b for b in page.button if b.label == "Choose by cross-validation").click().run()
    words(page)
    assert 10 ** page.slider(key="k-beta").value == pytest.approx(0.5) or page.slider(key="k-beta").value == 0
    assert page.slider(key="k-delta").value == pytest.approx(page.slider(key="k-eps").value + 0.30103)


def test_the_prior_and_the_sizes_have_views_of_their_own(page):
    page.segmented_control(key="k-more").set_value("prior").run()
    assert "The prior is moved by one of its sd" in words(page)
    page.segmented_control(key="k-more").set_value("size").run()
    assert "Theorem 3.6 promises" in words(page)


def test_the_stored_sizes_are_what_their_command_measures_today():
    kept = json.loads((ROOT / "data" / "benchmarks" / "kernel_bayes_sizes.json").read_text())
    spec = GaussianSpec(2, 100, 100, kept["settings"]["tests"], 3)
    first = GaussianSpec(2, kept["settings"]["pairs"][0], kept["settings"]["pairs"][0], kept["settings"]["tests"], 3)
    for row in [*compare_rules(spec, ("kbr_theorem", "cme")), *compare_rules(first, ("abc",), 1000)]:
        size = 1000 if row["model"] == "abc" else 100
        stored = next(
            r for r in kept["results"]
            if (r["dimension"], r["size"], r["seed"], r["model"]) == (2, size, 3, row["model"])
        )  # fmt: skip
        assert row["scores"] == pytest.approx(stored["scores"], rel=1e-3)


def test_the_stored_errors_are_what_their_command_measures_today():
    kept = json.loads((ROOT / "data" / "benchmarks" / "kernel_bayes.json").read_text())
    given = kept["settings"]
    spec = GaussianSpec(4, given["pairs"][0], given["pairs"][0], given["tests"], 1)
    for row in compare_rules(spec, ("kbr", "kde")):
        stored = next(
            r for r in kept["results"] if (r["dimension"], r["seed"], r["model"]) == (4, 1, row["model"])
        )  # fmt: skip
        assert row["scores"]["mse"] == pytest.approx(stored["scores"]["mse"], rel=1e-3)
