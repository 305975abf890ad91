"""Page Distribution regression in AppTest: it opens finished, follows its controls, refuses in sentences, adds runs."""

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.figures.colours import model_name
from deconditioning.studies.distribution_regression.curves import paired_tests
from deconditioning.studies.distribution_regression.study import MethodSettings, risk_sweep
from deconditioning.studies.distribution_regression.tables import keep_table, stored_tables, table_columns
from pages.distribution_regression.risk import FIXED
from tests.pages.conftest import until
from tests.pages.sliders import log_slider

ROOT = Path(__file__).resolve().parents[2]
STORED = json.loads((ROOT / "data" / "benchmarks" / "distribution_regression.json").read_text())


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on a smaller simulation."""
    return open_page("distribution_regression", **{"d-n": "40", "d-m": "50"})


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in (*page.markdown, *page.caption))


def scores(page: AppTest) -> str:
    return next(block.proto.body for block in page.get("html") if "5-fold cross-validation" in block.proto.body)


def test_it_opens_finished_beside_the_stored_risks(page):
    said = words(page)
    assert (
        "Its posterior risk, the mean squared distance of posterior draws from the true curve, is **0.0" in said
        and "the true curve" in said
        and "Chebyshev interpolation" in said
    )
    assert "Measured slopes in n" in said and "--seeds 0-99" in said
    assert "with the true curve and every distribution known it would be 0." in said
    assert "to learn the curve, not to predict single subjects" in said
    assert all(
        name in scores(page)
        for name in (
            "Gaussian process",
            "Density estimation",
            "BLR, 50 landmarks",
            "Functional linear",
            "Average alone",
        )
    )
    assert re.search(r"a straight line in each subject's average reaches −?[\d.]+[:,]", said)


def test_folds_that_learn_anew_say_so(page):
    assert "learned, it was on all subjects, so R² is slightly too good" in scores(page)
    before = scores(page)
    page.toggle(key="d-nested").set_value(True).run()
    words(page)
    assert "learned in every fold" in scores(page) and scores(page) != before


def test_every_control_moves_the_numbers(page):
    for kind, key, value in (
        ("select_slider", "d-s-scale", 0.1), ("segmented_control", "d-noise-by", "gibbs"),
        ("toggle", "d-low", True), ("selectbox", "d-family", "matern52"), ("toggle", "d-unequal", True),
    ):  # fmt: skip
        before = scores(page)
        getattr(page, kind)(key=key).set_value(value).run()
        said = words(page)
        assert scores(page) != before, key
        if value == "gibbs":
            assert "effective sample size" in said
        if value == "matern52":
            assert "sorting, exact" in said


def test_learning_moves_the_sliders(page):
    page.button(key="d-learn").click().run()
    until(page, lambda: "Learned from" in words(page))
    assert "log evidence" in words(page)
    assert log_slider(page, "d-s-noise").value != 0.01


def test_the_stand_in_is_labelled_and_has_a_link(page):
    page.segmented_control(key="d-data").set_value("stand-in").run()
    page.slider(key="d-people").set_value(40).run()
    assert "Generated stand-in" in words(page)
    page.toggle(key="d-link").set_value(True).run()
    assert "Left-out R² with the link" in words(page)


def test_an_own_table_is_kept_checked_and_refused_in_a_sentence(page):
    page.segmented_control(key="d-data").set_value("table").run()
    assert not page.exception and "No table yet" in page.error[0].value
    lines = [f"s{i},{(i * 7 + j * 3) % 11 + i / 9},{i * 1.5},{i % 2}" for i in range(20) for j in range(5)]
    key = keep_table(("id,x,age,male\n" + "\n".join(lines)).encode(), "mine.csv")
    assert stored_tables() == {key: "mine.csv"} and table_columns(key)[1] == "x"
    page.run()
    assert "mine.csv: 20 subjects, 5 to 5 measurements each" in words(page)
    page.selectbox(key=f"d-outcome-{key}").set_value("id").run()
    assert not page.exception and page.error and "Measured slopes" in " ".join(b.value for b in page.markdown)
    page.selectbox(key=f"d-outcome-{key}").set_value("age").run()
    assert "20 subjects" in words(page)


def test_a_run_is_added_on_top_of_the_stored_ones(page):
    page.number_input(key="d-add-n-n-2000").set_value(20)
    page.button(key="d-add").click().run()
    mine = risk_sweep([20], [2000], [1000], MethodSettings(), ("gpdr",))[0]["scores"]["posterior_risk"]
    assert f"n = 20, m = 2000 and seed 1000: Gaussian process {mine:.4f}" in words(page)


def test_the_stored_risks_are_what_their_command_measures_today():
    rows = risk_sweep([100], [500], [7], MethodSettings(), STORED["settings"]["methods"])
    for row in rows:
        curve = next(
            c for c in STORED["curves"] if (c["model"], c["subjects"], c["measures"]) == (row["model"], 100, 500)
        )  # fmt: skip
        assert row["scores"]["posterior_risk"] == pytest.approx(curve["risks"][curve["seeds"].index(7)], rel=1e-6)


def test_the_stored_risks_say_what_the_page_says_of_them():
    at = {(c["model"], c["subjects"]): c for c in STORED["curves"] if c["measures"] == 2000}
    sizes = sorted({n for _, n in at})
    assert sizes == [50, 100, 200, 300, 400] and all(len(c["risks"]) == 100 for c in at.values())
    for one, two in pairwise(sizes):
        first, second = at["gpdr", one], at["gpdr", two]
        assert first["mean"] - second["mean"] > 2 * (first["se"] ** 2 + second["se"] ** 2) ** 0.5
    every = paired_tests(STORED["curves"])
    kept = [t for t in STORED["tests"] if t["second"] == "kde"]
    assert [t["p_mean"] for t in every] == pytest.approx([t["p_mean"] for t in kept], rel=1e-6)
    tests = [t for t in every if t["measures"] == 2000]
    assert len(tests) == 5 and all(t["mean_difference"] < 0 and t["p_mean"] < 0.05 for t in tests)
    few = [t for t in every if t["measures"] == 50 and t["subjects"] >= 200]
    assert all(t["mean_difference"] > 0 and t["p_mean"] < 0.05 for t in few)  # densities win there, and it is said


def test_mean_risks_are_compared_in_a_table(page):
    """A row a method and size, by the stored tests."""
    (table,) = [each.value for each in page.dataframe if "Lower mean risk" in each.value]
    assert {float(p) <= 1 for p in table["p"] if not p.startswith("<")} <= {True} and "< 0.001" in set(table["p"])
    for row in table.to_dict("records"):
        (stored,) = [
            each for each in STORED["tests"]
            if (model_name(each["second"]), each["subjects"], each["measures"])
            == (row["Gaussian process against"], int(row["n"]), FIXED["n"])
        ]  # fmt: skip
        lower = stored["first"] if stored["mean_difference"] < 0 else stored["second"]
        expected = model_name(lower) if stored["p_mean"] < 0.05 else "no significant difference"
        assert row["Lower mean risk"] == expected


def test_the_paper_s_claim_is_counted_over_all_settings(page):
    said = " ".join(block.value for block in page.markdown)
    tests = [test for test in STORED["tests"] if test["second"] == "kde"]
    better = sum(test["p_mean"] < 0.05 and test["mean_difference"] < 0 for test in tests)
    assert f"in {better} of {len(tests)} (worse in" in said and better < len(tests)


def test_what_the_paper_states_follows_its_controls(page):
    """Lemma 1 at another concentration and for a wave, invariance under a transformation that keeps distances."""
    said = words(page)
    assert "Most of this is its mean" in said and "another prior of f" in said
    page.selectbox(key="d-l-function").set_value("waves").run()
    page.slider(key="d-l-waves").set_value(3)
    page.selectbox(key="d-i-transform").set_value("turned round").run()
    said = words(page)
    assert "keep **3.85 %**" in said and "overall average is zero" in said and "agree to rounding" in said
    page.selectbox(key="d-l-function").set_value("a constant").run()
    assert "keep **100 %**" in words(page) and "nothing is lost" in words(page)


def test_clusters_follow_their_controls(page):
    """Their number, their distance, and the correlation by hand; at its ends it is one of the two other ways."""
    said = words(page)
    assert "Mean posterior risk of the functions of the clusters" in said and "50 seeds (stored)" in said
    page.slider(key="d-c-apart").set_value(0.5).run()
    assert re.search(r"(a separate function for each cluster is|exchangeable functions are) best\.", words(page))
    page.selectbox(key="d-c-way").set_value("by hand").run()
    page.slider(key="d-c-rho").set_value(1.0).run()
    risks = re.search(r"clusters: \*\*([\d.]+)\*\* \(ρ = 1\); one for all ([\d.]+)", words(page))
    assert risks is not None and risks[1] == risks[2]


def test_the_axes_of_the_three_charts_are_equally_high(page):
    """Height less margins: the legend stands below, and no chart keeps equal units."""
    figures = page.session_state["_seen"].figures
    layouts = [json.loads(figures[key].text)["layout"] for key in ("d-ridges", "d-function", "d-predicted")]
    high = {each["height"] - each["margin"]["t"] - each["margin"]["b"] for each in layouts}
    assert len(high) == 1 and not any("scaleanchor" in each["yaxis"] or each["meta"].get("aspect") for each in layouts)
    assert layouts[1]["legend"]["orientation"] == "h" and layouts[1]["legend"]["y"] < 0
