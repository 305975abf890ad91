"""Page Likelihood-free inference in AppTest: it opens finished, follows every knob, takes a table, refuses in words."""

import json
import re
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.studies.likelihood_free.study import make_problem, run_problem
from deconditioning.wording import number
from pages.likelihood_free.checks import who_chooses
from tests.pages.sliders import log_slider

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(open_page) -> AppTest:
    """The page as it opens."""
    return open_page("likelihood_free")


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    helps = (block.proto.help for block in page.markdown)
    return " ".join((*(block.value for block in (*page.markdown, *page.caption)), *helps))


def result(page: AppTest) -> str:
    """The sentence on top: a mean and its interval."""
    assert words(page)
    return next(
        block.value for block in page.markdown if " estimates " in block.value and "95 % interval" in block.value
    )


def test_it_opens_with_every_method_beside_the_exact_posterior(page):
    assert "The deconditional embedding estimates θ as" in words(page)
    (said,) = [each.value for each in page.markdown if each.value.startswith("**Simulated**")]
    assert "exponential waiting times" in said and "at 300 values of their rate θ" in said
    (more,) = [each.proto.help for each in page.markdown if " estimates " in each.value and each.proto.help]
    assert "Exact posterior: mean 0.106, 95 % interval 0.097 to 0.116." in more
    assert re.fullmatch(
        r".*The interval of the conditional mean is closest in width: [\d.]+ times the exact one\.", more
    )
    table = next(block.proto.body for block in page.get("html") if "central 95 % interval" in block.proto.body)
    assert all(name in table for name in ("Exact posterior", "Deconditional", "Kernel Bayes", "Conditional", "ABC"))


def test_a_moved_slider_takes_the_kernels_into_ones_own_hands_and_back(page):
    before = result(page)
    log_slider(page, "lf-del").set_value(0.1).run()
    assert page.segmented_control(key="lf-mode").value == "by hand"
    assert result(page) != before
    page.segmented_control(key="lf-mode").set_value("by the evidence").run()
    assert result(page) == before


def test_every_hyperparameter_moves_the_answer(page):
    for key, value in {"lf-len": 2.51, "lf-k": 0.501, "lf-lam": 0.1}.items():
        before = result(page)
        log_slider(page, key).set_value(value).run()
        assert result(page) != before, key


def test_observation_prior_and_number_of_simulations_move_it(page):
    page.slider(key="lf-y").set_value(3.0).run()
    assert "Exact posterior: mean 0.333" in words(page)
    log_slider(page, "lf-rate").set_value(10.0).run()
    assert "Exact posterior: mean 0.331" in words(page)
    page.slider(key="lf-n-exponential-gamma").set_value(60).run()
    assert "at 60 values" in words(page)


def test_gaussian_in_three_dimensions_and_other_methods(page):
    page.selectbox(key="lf-problem").set_value("gaussian").run()
    page.slider(key="lf-d").set_value(3).run()
    tables = [block for block in page.get("html") if "central 95 % interval" in block.proto.body]
    assert len(tables) == 3
    page.segmented_control(key="lf-shown").set_value("abc").run()
    assert "Rejection ABC estimates θ₁ as" in words(page)


def test_samples_are_drawn_one_by_one(page):
    page.slider(key="lf-step").set_value(3).run()
    page.button(key="lf-next").click().run()
    assert page.slider(key="lf-step").value == 4
    assert words(page)


def test_an_own_table_opens_with_an_example_and_a_bad_one_changes_nothing(page):
    page.selectbox(key="lf-problem").set_value("table").run()
    assert "the 200 rows of the table" in words(page) and "estimates log theta as" in words(page)
    page.segmented_control(key="lf-prior").set_value("uniform").run()
    page.number_input(key="lf-from-log theta").set_value(-3.0).run()
    assert any("theta outside the prior's support" in error.value for error in page.error)
    page.segmented_control(key="lf-prior").set_value("the table's range").run()
    page.file_uploader(key="lf-table").upload("mine.csv", b"theta,s\n1,2\n,3\n,4\n", "text/csv").run()
    assert any("missing cells" in error.value for error in page.error)
    assert any("the 200 rows of the table" in block.value for block in page.markdown)


def test_the_stored_numbers_are_what_their_command_measures_today():
    kept = json.loads((ROOT / "data" / "benchmarks" / "likelihood_free.json").read_text())
    _, rows = run_problem(make_problem("exponential-gamma"), 50, 3)
    for row in rows:
        stored = next(r for r in kept["results"]
                      if (r["simulations"], r["seed"], r["model"]) == (50, 3, row["model"]))  # fmt: skip
        for name, value in row["scores"].items():
            assert value == pytest.approx(stored["scores"][name], rel=1e-3, abs=1e-6)


def test_it_opens_with_a_good_posterior(page):
    times = re.search(r"to [\d.]+, is ([\d.]+) times as wide as the exact one", result(page))
    assert times and 0.8 < float(times[1]) < 1.5
    assert "times the exact width" not in words(page)


def test_the_essential_slider_goes_from_hardly_any_simulation_to_all_of_them(page):
    widths = []
    for value in (0.01, 0.0501, 0.501, 5.01):
        log_slider(page, "lf-k").set_value(value).run()
        low, high = re.search(r"95 % interval, ([\d.]+) to ([\d.]+)", result(page)).groups()
        widths.append(float(high) - float(low))
    assert 5 * widths[1] < widths[2] < widths[3] / 3


def test_a_narrow_k_lets_hardly_any_simulation_count(open_page):
    page = open_page("likelihood_free", **{"lf-mode": "by hand", "lf-k": "0.01", "level": "All"})
    sums = [re.search(r"The weights sum to (\d\.\d+)", each.value) for each in page.caption]
    assert any(sums) and all(float(each[1]) < 0.5 for each in sums if each)


def test_a_wide_interval_is_explained_and_a_narrower_k_is_a_preset(page):
    page.slider(key="lf-n-exponential-gamma").set_value(100).run()
    said = " ".join(block.value for block in page.markdown)
    assert "Why 2.3 times the exact width" in said and "lie inside the exact interval" in said
    index = next(i for i in range(5) if "A narrower kernel" in page.button(key=f"lab-preset-{i}").label)
    page.button(key=f"lab-preset-{index}").click().run()
    assert "exact width**" not in " ".join(block.value for block in page.markdown) and not page.exception


@pytest.mark.parametrize(("change", "who"), [(0.019, "The data cannot choose"), (0.8, "The data choose")])
def test_who_chooses_the_kernels_is_said_first(change: float, who: str) -> None:
    assert who_chooses(change).startswith(f"**{who}") and f"changes by {number(change, 2)} within" in who_chooses(
        change
    )


def test_the_page_says_that_herded_samples_are_no_density(page):
    assert any("may end abruptly" in caption.value for caption in page.caption)
