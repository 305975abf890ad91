"""Page Conditional mean embeddings in AppTest."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(runs_folder: Path) -> Iterator[AppTest]:
    """The page as it opens."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
    app.switch_page(str(ROOT / "pages" / "conditional_mean_embeddings.py")).run()
    yield app


def words(page: AppTest) -> str:
    assert not page.exception and page.error == []
    return " ".join(block.value for block in page.markdown)


def test_equal_bags_are_said_to_be_the_same_and_unequal_ones_are_not(page):
    assert "the same estimate, to rounding" in words(page)
    page.toggle(key="e-unequal").set_value(True).run()
    assert "large bags weigh more" in words(page)
    page.toggle(key="e-unequal").set_value(False)
    page.toggle(key="e-alike").set_value(False).run()
    assert "regularises shrinkage more" in words(page)


@pytest.mark.parametrize("layout", ["3 × 50", "50 × 500", "500 × 50", "own"])
def test_every_layout_is_drawn_with_its_time(page, layout):
    page.segmented_control(key="e-layout").set_value(layout).run()
    said = words(page)
    assert "CPU time of the weights" in said
    assert ("extrapolated" in said) == ("500" in layout)


def test_lambda_moves_the_difference(page):
    page.toggle(key="e-alike").set_value(False).run()
    before = words(page)
    page.slider(key="e-lam").set_value(1.0).run()
    assert words(page) != before


def test_the_rates_follow_their_sliders(page):
    page.segmented_control(key="e-view").set_value("Rates").run()
    assert "more first-stage samples would still help" in words(page)
    page.slider(key="e-a").set_value(1.0)
    page.slider(key="e-b").set_value(1.05).run()
    assert "minimax point lies at a* = **1.02**" in words(page)
    page.slider(key="e-cp").set_value(1.05)
    page.slider(key="e-a").set_value(3.0).run()
    assert not page.exception and "choose a smaller a" in page.error[0].value
