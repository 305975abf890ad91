"""Page Conditional mean embeddings in AppTest: it opens finished, follows its controls, answers silly values."""

import re

import pytest
import torch
from streamlit.testing.v1 import AppTest

from deconditioning.studies.conditional_means.study import BagLayout, compare, sample_bags
from deconditioning.wording import number
from pages.conditional_mean_embeddings.estimates import CLOSER_SEEDS
from tests.pages.conftest import until
from tests.pages.sliders import moved


@pytest.fixture
def page(open_page) -> AppTest:
    """The page as it opens."""
    return open_page("conditional_mean_embeddings")


@pytest.fixture
def rates(open_page) -> AppTest:
    """Its view Rates."""
    return open_page("conditional_mean_embeddings", **{"e-view": "Rates"})


def words(page: AppTest) -> str:
    """Everything it says; no error, no exception."""
    assert not page.exception and page.error == []
    return " ".join(block.value for block in [*page.markdown, *page.caption, *page.info])


def scores(page: AppTest) -> str:
    return next(block.proto.body for block in page.get("html") if "gainst the truth" in block.proto.body)


def test_it_opens_where_the_estimators_differ_and_says_by_how_much(page):
    said = words(page)
    found = re.search(
        r"30 groups of (\d+) to (\d+) points, 30 on average, .*: the error .* is \*\*(\S+)\*\* if every group counts "
        r"once .* and \*\*(\S+)\*\* if every point",
        said,
    )
    assert found and int(found[1]) < int(found[2]) / 10
    assert float(found[4]) > 1.5 * float(found[3])
    layout = BagLayout(30, 30, True, True, 0.003, 2)
    lines = compare(layout).regressions
    assert float(found[3]) == pytest.approx(compare(layout).regression_rmse["shrinkage"], rel=0.05)
    assert float((lines["standard"] - lines["shrinkage"]).abs().max()) > 0.5, "the curves coincide to the eye"
    apart = re.search(r"The RMSE between the two embeddings is \*\*(\S+)\*\* over the maps", said)
    assert apart and float(apart[1]) == pytest.approx(brute_difference(layout), rel=0.05) and float(apart[1]) > 0.03
    errors = compare(layout).embedding_rmse
    assert f"it is {number(errors['shrinkage'])} (shrinkage) and {number(errors['standard'])} (standard)" in said


def brute_difference(layout: BagLayout) -> float:
    """RMSE over the page's grid between the two estimates, with labels replicated over N×N matrices."""
    sample = sample_bags(layout)
    inputs, labels = sample.bags.inputs, sample.mediators[sample.bags.bag]
    k, ell = sample.lengthscales

    def gram(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
        return torch.exp(-0.5 * (a - b.T) ** 2 / scale**2)

    x, y = (torch.linspace(float(v.min()), float(v.max()), 60).double()[:, None] for v in (inputs, sample.mediators))
    standard = torch.linalg.solve(
        gram(labels, labels, ell) + layout.points * layout.regularisation * torch.eye(layout.points).double(),
        gram(labels, y, ell),
    )
    means = torch.stack([gram(x, inputs[sample.bags.bag == j], k).mean(1) for j in range(layout.bags)], 1)
    shrinkage = torch.linalg.solve(
        gram(sample.mediators, sample.mediators, ell) + layout.bags * layout.regularisation * torch.eye(layout.bags),
        gram(sample.mediators, y, ell),
    )
    return float((gram(x, inputs, k) @ standard - means @ shrinkage).square().mean().sqrt())


def test_the_opening_says_for_how_many_seeds_shrinkage_is_nearer(page):
    found = [compare(BagLayout(30, 30, True, True, 0.003, seed)).regression_rmse for seed in range(20)]
    closer = sum(each["shrinkage"] < each["standard"] for each in found)
    assert closer == CLOSER_SEEDS > 10 and f"more accurately with {closer}." in scores(page)
    moved(page, "e-lam", 0.1)
    assert "more accurately with" not in scores(page)


def test_equal_bags_are_said_to_be_the_same_and_unequal_ones_are_not(page):
    page.toggle(key="e-unequal").set_value(False).run()
    assert "both estimators give the same curve" in words(page)
    page.toggle(key="e-alike").set_value(False).run()
    assert "regularises the shrinkage estimator more" in words(page)
    page.toggle(key="e-unequal").set_value(True).run()
    said = words(page)
    assert "a group by its number of points" in said and "regularises the shrinkage estimator more" in said


def test_every_layout_is_drawn_with_its_time(page):
    for layout in ("3 × 50", "50 × 500", "500 × 50", "own"):
        page.selectbox(key="e-layout").set_value(layout).run()
        said = words(page)
        assert "CPU time of the weights" in said
        assert ("too large to run here" in said) == ("500" in layout)


def test_every_slider_moves_the_scores(page):
    for key in ("e-lam", "e-k", "e-l"):
        before = scores(page)
        moved(page, key, 4)
        words(page)
        assert scores(page) != before, key


def test_another_y_is_looked_along(page):
    page.slider(key="e-y").set_value(-3.95).run()
    assert page.slider(key="e-y").value == -3.95 and words(page)


def test_the_dense_estimator_is_measured_on_request(page):
    page.selectbox(key="e-layout").set_value("own").run()
    page.number_input(key="e-per").set_value(40).run()
    assert "extrapolated as N³" in words(page)
    page.button(key="e-measure").click().run()
    until(page, lambda: "(measured here)" in words(page))


def test_silly_layouts_get_a_sentence_and_the_page_comes_back(page):
    page.selectbox(key="e-layout").set_value("own").run()
    page.number_input(key="e-bags").set_value(1000)
    page.number_input(key="e-per").set_value(1000).run()
    assert not page.exception and "at most 100,000" in page.error[0].value
    page.number_input(key="e-bags").set_value(1)
    page.number_input(key="e-per").set_value(1).run()
    assert "both estimators give the same curve" in words(page) or "RMSE between the two embeddings" in words(page)


def test_the_rates_open_on_the_kept_curve_and_its_slope(rates):
    said = words(rates)
    assert "more first-stage samples would still help" in said and "a* = **1.25**" in said
    assert "Stored with the app" in said and "is at least as steep" in said and "Stored results" in said
    rates.slider(key="e-a").set_value(1.25).run()
    assert "Stored with the app" in words(rates) and "N from 75,660" in words(rates)
    rates.segmented_control(key="e-error").set_value("Hilbert–Schmidt").run()
    assert "squared Hilbert–Schmidt distance" in words(rates)


def test_other_parameters_are_measured_now(rates):
    rates.slider(key="e-a").set_value(1.0)
    rates.slider(key="e-b").set_value(1.05).run()
    assert "minimax point lies at a* = **1.02**" in words(rates)
    until(rates, lambda: "Measuring" not in words(rates))
    assert "$M^{-" in words(rates).split("A circle with 33")[1]
    rates.toggle(key="e-flat").set_value(True).run()
    assert "a* = **1.67**" in words(rates) and "A circle with 5" in words(rates)


def test_what_cannot_be_measured_is_said_and_the_theorem_stays(rates):
    rates.slider(key="e-cp").set_value(1.05)
    rates.slider(key="e-a").set_value(3.0).run()
    said = words(rates)
    assert "choose a smaller a" in said and "bring no gain" in said and "Stored results" in said


def test_beyond_the_theorem_the_stored_runs_speak(rates):
    """Another growth of the first stage is another curve; what is said of bags is the same in both pictures."""
    said = words(rates)
    assert "that of the identity on the features" in said and "With equal bags both estimates are identical" in said
    fall = r"power −([\d.]+) ± [\d.]+, (faster than|more slowly than|consistent with)"
    before = re.search(fall, said)
    rates.segmented_control(key="e-inf-a").set_value(0.4).run()
    after = re.search(r"power −([\d.]+) ± [\d.]+, (faster than|more slowly than|consistent with)", words(rates))
    assert before is not None and after is not None and before[1] != after[1]
    rates.toggle(key="e-bags-unequal").set_value(False).run()
    assert "With equal bags both estimates are identical" in words(rates)
