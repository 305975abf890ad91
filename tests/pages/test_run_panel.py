"""What is told of a run that waits, goes on, is stopped or has ended: plain sentences with its time."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.engine.records import Run, RunSpec
from deconditioning.kernels.spec import gaussian
from deconditioning.models.catalogue import AREA_TO_POINT_GP, BAG_GP
from deconditioning.models.spec import ModelSpec
from pages.downscaling import descriptions, learn
from pages.kit.runs import run_panel
from tests.waiting import HANG_S


def _page(changes: dict, stopping: bool) -> None:
    import time

    import streamlit as st

    from deconditioning.engine.records import Run, RunSpec
    from pages.kit.runs import run_panel

    now = time.time()
    times = {name: now + changes.pop(name) for name in ("created", "started", "ended") if name in changes}
    run = Run(
        "20260101-000000-abcdef12", RunSpec("downscale"), **({"status": "running", "created": now} | times | changes)
    )
    if stopping:
        st.session_state["_stopping-runs"] = {run.id}
    if run.active:
        st.markdown(run_panel.status_words(run))
    else:
        run_panel.outcome(run, "Learned", "the sliders show the best values so far", " · more")


@pytest.mark.parametrize(
    ("changes", "stopping", "said"),
    [({"status": "queued", "created": -12}, False, "Waiting for a free process (12 s)"),
     ({"status": "queued", "created": -75, "message": "One run is before it."}, False,
      "One run is before it (1 min 15 s)"),
     ({"created": -500, "started": -42, "message": "Stage two", "eta_s": 90.0}, False,
      "Stage two · 42 s so far, about 2 min left"),
     ({"created": -5, "started": -3}, False, "Starting · 5 s so far"),  # the time goes on where the run begins
     ({"created": -90, "started": -3}, False, "3 s so far"),  # it waited for others
     ({"started": -3, "message": "Stage two"}, True, "Stopping…"),
     ({"status": "cancelled", "started": -400, "ended": -20, "result": {"learned": {}}}, False,
      "Cancelled after 6 min 20 s; the sliders show the best values so far · more."),
     ({"status": "cancelled", "started": -400, "ended": -395}, False,
      "Cancelled after 5.0 s; there is no result yet"),
     ({"status": "cancelled", "created": -6, "started": -3, "ended": 0}, False, "Cancelled after 6.0 s"),
     ({"status": "cancelled"}, False, "Cancelled before it started"),
     ({"status": "done", "started": -95, "ended": 0}, False, "Learned in 1 min 35 s · more"),
     ({"status": "failed", "started": -95, "ended": 0, "message": "No memory."}, False,
      "Failed after 1 min 35 s: No memory.")],
)  # fmt: skip
def test_what_is_told_of_a_run(changes: dict[str, Any], stopping: bool, said: str, runs_folder: Path) -> None:
    page = AppTest.from_function(_page, default_timeout=HANG_S, kwargs={"changes": changes, "stopping": stopping}).run()
    assert not page.exception
    words = " ".join(box.value for box in (*page.markdown, *page.info, *page.error))
    assert said.lower() in words.lower(), words


@pytest.mark.parametrize(
    ("passed", "eta", "load", "share", "left"),
    [(10, None, 0.0, 1 / 3, "about 20 s left"), (10, None, 8.0, 1 / 12, "about 2 min left"),
     (100, None, 0.0, 5 / 7, "about 40 s left"), (100, 300.0, 0.0, 1 / 4, "about 5 min left"),
     (100, 0.0, 0.0, 10 / 11, "about 10 s left")],
)  # fmt: skip
def test_the_bar_moves_with_the_time_that_has_passed(
    passed: float, eta: float | None, load: float, share: float, left: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 30 s expected alone on two processors; the run's own pace counts where it is known."""
    monkeypatch.setattr(run_panel, "is_stopping", lambda run: False)
    monkeypatch.setattr("os.getloadavg", lambda: (load, load, load))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    begun = time.time() - passed
    run = Run("r", RunSpec("downscale"), status="running", created=begun, started=begun, eta_s=eta)
    assert run_panel.share_done(run, 30.0) == pytest.approx(share, abs=2e-3)
    assert run_panel.status_words(run, 30.0).endswith(left)
    assert run_panel.share_done(replace(run, eta_s=None, progress=0.4)) == 0.4


@pytest.mark.parametrize("name", ["downscaling", "one_dimension", "sparse_representation", "swiss_roll"])
def test_the_time_of_learning_is_told_before_it_begins(name: str, open_page: Callable[..., AppTest]) -> None:
    page = open_page(name)
    assert not page.exception
    (said,) = [box.value for box in page.caption if box.value.startswith("Learning takes")]
    assert "about " in said or "a few seconds" in said


def test_after_a_run_its_own_time_is_told_for_the_same_data_only(monkeypatch: pytest.MonkeyPatch) -> None:
    source, problem = {"fields": "a"}, {"target": "t"}
    settings = {"source": source, "problem": problem}
    run = SimpleNamespace(status="done", started=100.0, ended=290.0, spec=SimpleNamespace(settings=settings))
    monkeypatch.setattr(learn, "run_of", lambda task: run)

    def choice(target: str) -> Any:
        return SimpleNamespace(
            source=SimpleNamespace(to_dict=lambda: source), spec=SimpleNamespace(to_dict=lambda: {"target": target})
        )

    assert learn._last_seconds(choice("t")) == 190.0 and learn._last_seconds(choice("u")) is None
    run.status = "running"
    assert learn._last_seconds(choice("t")) is None


def test_the_page_names_every_model_of_an_average() -> None:
    """Weights of the components, the largest first; they sum to 1."""
    kernel = gaussian(("x",), (1.0,))
    one = ModelSpec(BAG_GP, kernel)
    both = replace(one, others=((0.79, ModelSpec(AREA_TO_POINT_GP, kernel)),))
    assert descriptions._estimator(one) == f"the {BAG_GP.phrase}"
    assert descriptions._estimator(both) == (
        f"an average of the {AREA_TO_POINT_GP.phrase} (79 %) and the {BAG_GP.phrase} (21 %)"
    )
