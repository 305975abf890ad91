"""Page Kernel Bayes' rule in AppTest: it opens finished, follows observation and knobs in one and two dimensions."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.studies.kernel_bayes.one_observation import answers, kernel_means, other_means
from deconditioning.studies.kernel_bayes.study import GaussianSpec, compare_rules, make_gaussian
from pages.kernel_bayes.errors import compared_with_paper
from tests.pages.sliders import log_slider, moved

pytestmark = pytest.mark.usefixtures("own_caches")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def opened(open_page) -> AppTest:
    """The page in six dimensions."""
    return open_page("kernel_bayes", **{"k-dim": "6"})


@pytest.fixture
def page(open_page) -> AppTest:
    """The page as it opens, in one dimension."""
    return open_page("kernel_bayes")


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in page.markdown)


def test_in_six_dimensions_the_rule_is_nearest_and_it_says_when_it_is_not_worth_it(opened):
    said = words(opened)
    assert said.index("**Hidden**") < said.index("**Worth using**") < said.index("**Not worth using**")
    assert "here it is the most accurate of the methods with the same number of samples" in said
    kept = json.loads((ROOT / "data" / "benchmarks" / "kernel_bayes_sizes.json").read_text())["summary"]
    for dimension, model, size in ((6, "kbr", 200), (6, "kde", 200), (6, "cme", 200), (2, "kbr", 200),
                                   (2, "abc", 1000), (6, "abc", 10_000)):  # fmt: skip
        mean = next(
            row["mean"] for row in kept
            if (row["dimension"], row["model"], row["size"], row["score"]) == (dimension, model, size, "mse")
        )  # fmt: skip
        assert f"{mean:.2g}" in said.split("**Worth using**")[1]
    before = words(opened)
    opened.slider(key="k-obs").set_value(9).run()
    assert words(opened) == before  # another observation moves the picture, not the errors over all of them
    tables = [block.proto.body for block in opened.get("html")]
    table = next(body for body in tables if "the distance at the observation shown" in body)
    assert all(name in table for name in ("400 simulations", "20,000 simulations", "Density estimation"))
    moved(opened, "k-beta", 0.3)
    assert words(opened) != before


def test_at_the_opening_the_rule_is_nearest_for_every_seed():
    for seed in range(8):
        problem = make_gaussian(GaussianSpec(6, 200, 200, 50, seed))
        exact = problem.posterior(problem.tests)[0]
        found = kernel_means(problem, scale=1.0, epsilon=5e-5, delta=1e-4) | other_means(problem)
        error = {name: ((means - exact) ** 2).sum(1).mean() for name, means in found.items()}
        assert error["kbr"] < min(error[name] for name in ("kde", "cme", "abc_few"))
        assert error["abc"] < error["abc_few"]
        one = answers(problem, problem.tests[3], scale=1.0, epsilon=5e-5, delta=1e-4, bandwidth=2.0)
        assert found["kbr"][3] == pytest.approx(one["kbr"].mean, abs=1e-3)
        assert found["cme"][3] == pytest.approx(one["cme"].mean, abs=1e-6)


def test_a_numbered_observation_is_one_of_six_dimensions(open_page):
    assert "6 numbers" in words(open_page("kernel_bayes", **{"k-obs": "9"}))


def test_one_dimension_has_every_rule_beside_the_exact_mean(page):
    assert "the exact value is" in words(page)
    table = next(block.proto.body for block in page.get("html") if "from the exact one" in block.proto.body)
    assert all(name in table for name in ("Kernel Bayes", "Rejection ABC", "Density estimation"))


def test_every_slider_moves_the_answer(page):
    for key in ("k-beta", "k-eps", "k-delta"):
        before = words(page)
        moved(page, key, 0.1)
        assert words(page) != before, key


@pytest.mark.parametrize("form", ["kbr_a", "cme"])
def test_other_forms_are_shown_in_both_dimensions(page, form):
    before = words(page)
    page.segmented_control(key="k-form").set_value(form).run()
    assert words(page) != before
    page.segmented_control(key="k-dim").set_value(2).run()
    assert "samples (kernel herding) have mean" in words(page)
    page.slider(key="k-y1").set_value(-3.0).run()
    assert "−3.00)" in words(page)


def test_an_observation_far_away_is_a_picture_or_a_sentence(page):
    log_slider(page, "k-beta").set_value(0.05)
    page.slider(key="k-y0").set_value(-8.0).run()
    assert not page.exception


def test_cross_validation_sets_the_sliders(page, monkeypatch):
    monkeypatch.setattr("deconditioning.studies.kernel_bayes.study.SCALES", (0.5, 1.0))
    page.slider(key="k-n").set_value(40).run()
    next(b for b in page.button if b.label == "Choose by cross-validation").click().run()
    words(page)
    assert log_slider(page, "k-beta").value in (0.5, 1.0)
    assert log_slider(page, "k-delta").value == 2 * log_slider(page, "k-eps").value


def test_the_prior_and_the_sizes_have_views_of_their_own(page):
    page.segmented_control(key="k-more").set_value("prior").run()
    assert "The prior is shifted by one sd" in words(page)
    page.segmented_control(key="k-more").set_value("size").run()
    assert "Theorem 3.6 guarantees" in words(page)


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


def test_what_the_normalisations_give_is_read_off_the_curves():
    def said(one: float, printed: float, cme: float) -> str:
        return compared_with_paper(
            {"kbr": {2: [one]}, "kbr_printed": {2: [printed]}, "kde": {2: [1.0]}, "cme": {2: [cme]}}
        )

    assert "**Here neither normalisation" in said(0.5, 2.0, 0.6) and "**Here both normalisations" in said(0.5, 0.4, 0.1)
    assert "the one that sums to one gives both orders" in said(0.5, 2.0, 0.1)
    assert "the printed one gives both orders" in said(0.5, 0.7, 0.6)
    assert "| as printed | at no d | at every d |" in said(0.5, 2.0, 0.1)


def test_what_is_chosen_without_the_truth_is_said(opened):
    kept = {name: json.loads((ROOT / "data" / "benchmarks" / f"{name}.json").read_text())["summary"]
            for name in ("kernel_bayes", "kernel_bayes_validated")}  # fmt: skip

    def error(name: str, model: str, d: int) -> float:
        return next(row["mean"] for row in kept[name]
                    if (row["model"], row["dimension"], row["score"]) == (model, d, "mse"))  # fmt: skip

    lost = error("kernel_bayes_validated", "kde_lscv", 64) / error("kernel_bayes", "kde", 64) - 1
    gained = [error("kernel_bayes_validated", "kbr_cv", d) / error("kernel_bayes", "kbr", d) - 1
              for d in (2, 4, 8, 16, 32, 64)]  # fmt: skip
    said = words(opened)
    assert "selects the best bandwidth at d = 2, 4, 8, 16 and increases the error" in said
    assert f"the error by {100 * lost:.0f} % at d = 64" in said
    assert f"by −{-100 * min(gained):.0f} to +{100 * max(gained):.0f} %. With both choices, the rule is below" in said
    assert "2.8 × the median distance, wins on 60 of 60 problems" in said


def test_the_printed_normalisation_is_a_switch_and_its_order_is_said(opened):
    before = words(opened)
    assert "Here neither normalisation of μ̂ gives both orders" in before
    kept = {name: json.loads((ROOT / "data" / "benchmarks" / f"{name}.json").read_text())["results"]
            for name in ("kernel_bayes", "kernel_bayes_printed")}  # fmt: skip

    def error(name: str, model: str, d: int) -> float:
        found = [row["scores"]["mse"] for row in kept[name] if (row["model"], row["dimension"]) == (model, d)]
        return sum(found) / len(found)

    every = (2, 4, 8, 16, 32, 64)
    nearer = [d for d in every if error("kernel_bayes_printed", "kbr_printed", d) < error("kernel_bayes", "kde", d)]
    assert f"| as printed | at d = {', '.join(map(str, nearer))} | at every d |" in before
    assert all(error("kernel_bayes", "cme", d) < error("kernel_bayes_printed", "kbr_printed", d) for d in every)
    opened.segmented_control(key="k-norm").set_value("n").run()
    assert "is more accurate" in words(opened) and words(opened) != before
