"""Sweep this on every page in AppTest: what is swept is what the page shows; a run, adopted, undone, opened again."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.engine.records import Run, RunSpec
from deconditioning.studies.sweeping import study_of
from pages.kit.state import get_engine
from pages.kit.tools import sweep
from pages.kit.tools.sweep import Offer, Sweepable
from tests.pages.conftest import until
from tests.pages.sliders import log_slider, moved
from tests.waiting import HANG_S

Opened = Callable[..., AppTest]
SMALL_LINE = {"o-n": "40", "o-m": "40"}
#: Page, perhaps a view → what makes it small, the score of a cell, the model and score of the page's table that agree.
PAGES: dict[str, tuple[dict[str, str], str, tuple[str, str]]] = {
    "one_dimension": (SMALL_LINE, "rmse", ("task_transformed_gp", "rmse")),
    "sparse_representation": ({"s-data": "50", "s-places": "even"}, "rmse", ("on_sliders", "rmse")),
    "swiss_roll": ({"r-points": "300", "r-bags": "12"}, "rmse", ("cmp", "rmse")),
    "conditional_mean_embeddings": ({"e-layout": "50 × 3"}, "shrinkage", ("shrinkage_cmp", "RMSE of μ(x, y)")),
    "kernel_bayes": ({"k-dim": "6", "k-n": "60", "k-l": "60"}, "mse", ("kbr", "mse")),
    "kernel_bayes in one dimension": ({"k-n": "60", "k-l": "60"}, "distance", ("kbr", "distance")),
    "filtering": ({"f-train": "60", "f-test": "40"}, "mse", ("kbr", "mse")),
    "distribution_regression": ({"d-n": "40", "d-m": "20"}, "risk", ("gpdr", "posterior_risk")),
    "likelihood_free": ({"lf-n-exponential-gamma": "40"}, "width", ("dme", "width / exact")),
}


#: Other views: page, what opens it, the score of a cell and the page's number that must agree.
VIEWS: list[tuple[str, dict[str, str], str, str]] = [
    ("one_dimension", {"o-view": "There and back", "t-eps": "0.1", **SMALL_LINE}, "comes_back", "comes_back"),
    ("filtering", {"f-system": "camera", "fc-train": "100", "fc-test": "20"}, "angle_kbr_tr", "kbr_tr.angle"),
]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Sweepable]]:
    """What pages offer while their panels are open; the panels themselves stay closed."""
    found: list[Sweepable] = []
    monkeypatch.setattr(sweep, "_panel", found.append)
    yield found


@pytest.mark.parametrize("name", list(PAGES))
def test_a_cell_at_the_sliders_is_what_the_page_shows(name: str, open_page: Opened, offered: list[Sweepable]) -> None:
    query, score, (model, shown) = PAGES[name]
    page = open_page(name.split(" ")[0], sweep="true", **query)
    assert not page.exception and offered
    found = offered[-1]
    row = study_of(found.settings["study"]).row(found.settings["settings"])
    tables = page.session_state["_seen"].tables.values()
    rows = [table.rows[model] for table in tables if model in table.rows]
    assert row[score] == pytest.approx(rows[0][shown], rel=1e-6)
    assert all(offer.now == pytest.approx(float(page.session_state[offer.key])) for offer in found.offers.values())
    values = {key: offer.now for key, offer in list(found.offers.items())[:1]}
    settings = {**found.settings, "axes": [{"name": key} for key in values]}
    assert found.fits(settings) and not found.fits(settings | {"study": "another"})
    assert (
        found.controls(settings, values).items() >= {offered[-1].offers[key].key: values[key] for key in values}.items()
    )


@pytest.mark.parametrize(("name", "query", "score", "shown"), VIEWS)
def test_so_it_is_on_other_views(
    name: str, query: dict[str, str], score: str, shown: str, open_page: Opened, offered: list[Sweepable]
) -> None:
    page = open_page(name, sweep="true", **query)
    assert not page.exception and offered
    found = offered[-1]
    row = study_of(found.settings["study"]).row(found.settings["settings"])
    assert row[score] == pytest.approx(page.session_state["_seen"].all_numbers()[shown], rel=1e-6)


def test_a_sweep_begins_with_the_slider_moved_last_and_undo_covers_what_is_adopted(open_page: Opened) -> None:
    page = open_page("one_dimension", **SMALL_LINE, level="All")
    moved(page, "o-k-scale", 2.0)
    page.toggle(key="sweep").set_value(True).run()
    assert page.selectbox(key="sweep-x").value == "k_scale"
    page.number_input(key="sweep-x-k_scale-count").set_value(3).run()
    page.button(key="sweep-begin").click().run()
    run_id = page.query_params["swept"]
    run = get_engine().wait(run_id, HANG_S)
    assert run.status == "done" and len(run.result["cells"]) == 3 and "thumbnail.png" in run.files
    until(page, lambda: any(box.key == "sweep-pick" for box in page.selectbox))
    said = " ".join(box.value for box in page.markdown)
    assert "The evidence is highest at lengthscale of k = " in said and "the error is lowest at" in said
    before = log_slider(page, "o-k-scale").value
    page.selectbox(key="sweep-pick").set_value(0).run()
    page.button(key="sweep-adopt").click().run()
    assert log_slider(page, "o-k-scale").value == pytest.approx(run.result["cells"][0]["values"]["k_scale"], rel=1e-3)
    page.button(key="lab-undo").click().run()
    assert log_slider(page, "o-k-scale").value == pytest.approx(before)
    moved(page, "o-noise", 4.0)
    kept = "computed at How noisy the measured values are (sd σ) = 0.447, which differs from the current settings"
    captions = [box.value for box in page.caption if "computed" in box.value]
    assert any(kept in each for each in captions), captions
    library = open_page("runs", run=run_id)
    assert not library.exception and any("The evidence is highest at" in box.value for box in library.markdown)


@pytest.mark.parametrize(
    ("offer", "ends"),
    [
        (Offer("σ²", 0.2, "k", 1e-4, 10.0), (0.02, 2.0)),
        (Offer("σ²", 5.0, "k", 1e-4, 10.0), (0.5, 10.0)),
        (Offer("σ²", 0.0, "k"), (1e-6, 1e-2)),
        (Offer("x", -3.0, "k", -4.0, 4.0, log=False), (-4.0, -1.0)),
        (Offer("n", 200, "k", 1, 400, whole=True), (20.0, 400.0)),
    ],
)
def test_ends_around_the_present_value(offer: Offer, ends: tuple[float, float]) -> None:
    assert offer.ends() == pytest.approx(ends)


def test_what_leaves_a_slider_is_refused_in_a_sentence(open_page: Opened) -> None:
    page = open_page("one_dimension", sweep="true", **SMALL_LINE)
    page.number_input(key="sweep-x-noise-high").set_value(100.0).run()
    assert any("goes above 10, the end of its slider" in box.value for box in page.error)
    assert page.button(key="sweep-begin").disabled


def test_a_view_without_a_sweep_has_no_switch(open_page: Opened) -> None:
    page = open_page("conditional_mean_embeddings", **{"e-view": "Rates"})
    assert not page.exception and not any(box.key == "sweep" for box in page.toggle)


def test_how_long_a_sweep_takes_is_told_before_it_begins_and_then_from_what_the_last_one_took(
    open_page: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (0.0, 0.0, 0.0))
    page = open_page("filtering", sweep="true")
    (said,) = [box.value for box in page.caption if box.value.startswith("The sweep takes")]
    assert "a few seconds" in said
    spec = RunSpec("sweep-study", {})
    run = Run("", spec, "done", created=0.0, started=10.0, ended=52.0, result={"cells": [{}] * 20})
    assert sweep._took(run) == pytest.approx(2.0)
    assert sweep._took(None) is None and sweep._took(replace(run, result=None)) is None
    assert sweep._took(replace(run, spec=RunSpec("sweep-study", {"rows": [{}] * 19}))) is None
