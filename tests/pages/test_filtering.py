"""Page Filtering in AppTest: it opens followed, plays, steps, answers silly values."""

import json
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.figures.studies.filtering import errors_plot, plane_plot
from deconditioning.filtering.systems import RotationSystem
from deconditioning.slides.exhibit import Drawn, Exhibit, presented
from deconditioning.studies.filtering.settings import RotationSettings
from deconditioning.studies.filtering.study import FilterSettings, compare, follow, rotation_problem, system_of
from pages.filtering.player import FIRST
from pages.kit.controls.play_words import BACK, NEXT, PAUSE, PLAY
from tests.pages.sliders import moved

pytestmark = pytest.mark.usefixtures("own_caches")

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def page(open_page) -> AppTest:
    """The page on a short series."""
    return open_page("filtering", **{"f-train": "60", "f-test": "20"})


def words(page: AppTest) -> str:
    assert not page.exception and [error.value for error in page.error] == []
    return " ".join(block.value for block in page.markdown)


def button(page: AppTest, label: str):
    return next(b for b in page.button if b.label == label)


def test_it_opens_with_all_four_filters(page):
    assert "**Hidden**: where it is. **Observed**: one noisy position" in words(page)
    table = next(block.proto.body for block in page.get("html") if "summed over" in block.proto.body)
    assert all(name in table for name in ("Kernel Bayes filter", "Unscented", "Particle"))
    assert "Unscented Kalman filter: α = 1, κ = 1, β = 2" in words(page)
    assert "the circle has radius 1" in table and "**Most" not in words(page)
    assert "Most accurate on this one series of 20 steps: the " in words(page)


def test_an_address_may_call_the_systems_as_earlier_versions_did(open_page):
    old, new = (
        open_page("filtering", **{"f-system": name, "f-train": "60", "f-test": "20"})
        for name in ("(a) circle", "circle (data a of the paper)")
    )
    assert "moves along a circle" in words(old) and words(old) == words(new)


def test_the_smoother_and_what_the_pictures_omit_are_said_where_it_is_so(page, open_page):
    def said(view: AppTest) -> str:
        return next(block.proto.body for block in view.get("html") if "summed over" in block.proto.body)

    assert "smoother" not in said(page) and "The pictures omit the " in said(page)
    around = open_page("filtering", **{"f-train": "60", "f-test": "20", "f-around": "true", "f-every": "true"})
    assert "The smoother knows later observations too" in said(around) and "omit" not in said(around)


def test_every_slider_moves_the_filter(page):
    for key in ("f-beta", "f-eps", "f-tol"):
        before = words(page)
        moved(page, key, 0.3)
        assert words(page) != before or key == "f-tol", key


def test_it_steps_plays_and_pauses(page):
    page.slider(key="f-step").set_value(1).run()
    button(page, NEXT).click().run()
    assert page.slider(key="f-step").value == 2
    button(page, BACK).click().run()
    button(page, BACK).click().run()
    assert page.slider(key="f-step").value == 20
    button(page, PLAY).click().run()
    assert button(page, PAUSE) and not page.exception
    button(page, PAUSE).click().run()
    assert button(page, PLAY)
    page.slider(key="f-step").set_value(7).run()
    assert page.slider(key="f-step").value == 7
    page.slider(key="f-test").set_value(20).run()
    words(page)


def test_ones_own_system_and_validation(page):
    page.selectbox(key="f-system").set_value("own").run()
    page.slider(key="f-sh").set_value(0.0)
    page.toggle(key="f-validate").set_value(True).run()
    assert "mean square error" in words(page)


def test_what_is_drawn_is_what_was_followed():
    found = follow(rotation_problem(RotationSystem.named("a"), 60, 15, 0), FilterSettings(0.7, 1e-4))
    figure = plane_plot(found.truth, found.observed, found.means, 14, sample=(found.points, found.weights[14]))
    names = [trace["name"] for trace in figure["data"]]
    assert {"examples<br>(area: weight)", "noisy observation", "true state now", "Extended Kalman"} <= set(names)
    lines = errors_plot(found.truth, found.means, 14)["data"]
    beside = errors_plot(found.truth, found.means, 14, legend=False)
    alone = Exhibit("t", "q", (Drawn("t", "a", json.dumps(beside)),))
    assert not beside["layout"]["showlegend"]
    assert presented(alone).deck()["figures"]["figure-0"]["layout"]["showlegend"]
    assert len(lines) == 4 and found.weights.shape == (15, 60) and np.isfinite(found.weights).all()


def test_ones_own_series_is_followed_and_bad_ones_are_refused(page):
    page.selectbox(key="f-system").set_value("series").run()
    assert "**Hidden**: position, velocity." in words(page)
    chosen = next(box for box in page.multiselect if box.label == "Observed")
    chosen.set_value(["velocity"]).run()
    assert "both a state and an observation" in page.error[0].value and not page.exception
    next(box for box in page.multiselect if box.label == "Observed").set_value([]).run()
    assert "No observation column" in page.error[0].value
    next(box for box in page.multiselect if box.label == "Observed").set_value(["seen"]).run()
    assert "**Hidden**: position, velocity." in words(page)


def test_a_run_more_joins_the_stored_ones(page, monkeypatch):
    monkeypatch.setattr("pages.filtering.length.compare", lambda problem, seed: [
        {"model": "kbr", "scores": {"mse": 0.5, "ms_per_step": 1.0}, "seed": seed}
    ])  # fmt: skip
    begin = next(b for b in page.button if b.label == "One more run")
    begin.click().run()
    page.run()
    assert any("Measured here: 1 run." in caption.value for caption in page.caption) and not page.exception


def test_the_stored_errors_are_what_their_command_measures_today():
    kept = json.loads((ROOT / "data" / "benchmarks" / "filtering.json").read_text())
    problem = rotation_problem(RotationSystem.named("b"), 100, kept["settings"]["test"], 2)
    for row in compare(problem, 2):
        stored = next(
            r for r in kept["results"]
            if (r["system"], r["train"], r["seed"], r["model"]) == ("b", 100, 2, row["model"])
        )  # fmt: skip
        assert row["scores"]["mse"] == pytest.approx(stored["scores"]["mse"], rel=1e-4)


def test_what_the_paper_says_of_ekf_and_ukf_stands_beside_the_stored_errors(page):
    kept = json.loads((ROOT / "data" / "benchmarks" / "filtering.json").read_text())["results"]
    last = [row for row in kept if (row["system"], row["train"]) == ("b", 800)]
    ekf, ukf = (np.mean([row["scores"]["mse"] for row in last if row["model"] == name]) for name in ("ekf", "ukf"))
    said = " ".join(block.value for block in page.markdown)
    assert f"Here they differ by {100 * (ekf / ukf - 1):.0f} %: {ekf:.4f} and {ukf:.4f} at T = 800" in said


@pytest.mark.parametrize(("asked", "shown"), [("7", 7), ("999", 20), ("", 20)])
def test_the_step_is_in_the_address(open_page, asked: str, shown: int) -> None:
    page = open_page("filtering", **{"f-train": "60", "f-test": "20"}, **({"f-step": asked} if asked else {}))
    words(page)
    assert page.slider(key="f-step").value == shown
    button(page, NEXT).click().run()
    assert page.slider(key="f-step").value == shown % 20 + 1
    page.slider(key="f-step").set_value(3).run()
    seen = page.session_state["_seen"].controls["f-step"]
    assert seen.value == 3 and list(seen.words) == ["3"]


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_opening_step_shows_the_filter_at_work(name: str) -> None:
    series = RotationSettings(system=name)
    result = follow(rotation_problem(system_of(series), series.train, series.test, series.seed), FilterSettings())
    observed, filtered = (
        float(np.linalg.norm(where[FIRST - 1] - result.truth[FIRST - 1]))
        for where in (result.observed, result.means["kbr"])
    )
    assert observed > 0.4 and filtered < 0.6 * observed
