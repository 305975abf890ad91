"""The view Camera in AppTest: it opens followed, steps, obeys its controls, shows the paper's table."""

import json
from pathlib import Path

import pytest
from scipy.stats import sem
from streamlit.testing.v1 import AppTest

from deconditioning.figures.studies.camera import noises_plot
from pages.kit.controls.play_words import NEXT
from tests.pages.sliders import moved
from tests.waiting import HANG_S

SCRIPT = """
from pages.filtering.camera import show
from pages.kit.layout.page_layout import refusals

with refusals():
    show()
"""


@pytest.fixture
def view() -> AppTest:
    """The view on short series."""
    app = AppTest.from_string(SCRIPT, default_timeout=HANG_S)
    for key, value in (("fc-train", 100), ("fc-test", 20)):
        app.session_state[key] = value
    return app.run()


def words(view: AppTest) -> str:
    assert not view.exception and [error.value for error in view.error] == []
    return " ".join(block.value for block in view.markdown)


def test_it_follows_steps_and_obeys(view):
    before = words(view)
    assert "Over 20 frames" in before and "100 frames with their rotations" in before
    table = next(block.proto.body for block in view.get("html") if "Frobenius" in block.proto.body)
    assert all(
        name in table
        for name in ("Kernel Bayes (Gauss)", "Kernel Bayes (trace)", "Kalman (9 dim.)", "Nearest observation")
    )
    assert "Kernel Bayes (Gauss): β = 1" in before
    view.slider(key="fc-step").set_value(20).run()
    next(b for b in view.button if b.label == NEXT).click().run()
    assert view.slider(key="fc-step").value == 1
    moved(view, "fc-noise", 10)
    assert words(view) != before
    view.selectbox(key="fc-shown").set_value("nearest").run()
    words(view)
    assert any("the ranking of the methods can be compared" in caption.value for caption in view.caption)


def test_the_stored_runs_stand_beside_the_papers_table(view, monkeypatch):
    folder = Path(__file__).resolve().parents[2] / "data" / "benchmarks"
    turned, kept = (json.loads((folder / f"{name}.json").read_text()) for name in ("camera_rotations", "camera"))
    for noise, variance in zip(turned["settings"]["noise"], ("0.0001", "0.001"), strict=True):
        found = [r["scores"]["mse"] for r in turned["results"] if (r["model"], r["noise"]) == ("kbr_gauss", noise)]
        assert f"at σ² = {variance} Kernel Bayes (Gauss) {sum(found) / len(found):.3g} ± {sem(found):.2g}" in words(
            view
        )
    given = {}

    def seen(ours, paper, *, title, dark):
        given[title] = ours
        return noises_plot(ours, paper, title=title, dark=dark)

    monkeypatch.setattr("pages.filtering.camera.noises_plot", seen)
    words(view.run())
    for title, noise in zip(("σ² = 0.0001", "σ² = 0.001"), kept["settings"]["noise"], strict=True):
        ours = [row["scores"]["mse"] for row in kept["results"] if (row["model"], row["noise"]) == ("kbr_tr", noise)]
        assert given[title]["kbr_tr"] == pytest.approx((sum(ours) / len(ours), sem(ours)))
    assert any("1800 frames followed, 10 runs;" in caption.value for caption in view.caption)
