"""Page Snapshot in AppTest: read-only for everyone, one way on, a sentence where there is no run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.engine.context import Context
from deconditioning.engine.labels import Label
from deconditioning.engine.records import RunSpec
from deconditioning.engine.store import Store
from deconditioning.engine.visitors.visitor import mark_of
from deconditioning.studies.sparse_representation.study import SparseSettings, sparse_task
from pages.kit.pages import SNAPSHOT
from pages.snapshot.run_address import page_of_run
from tests.pages.reading import as_shown

SETTINGS = {
    "toy": {"data": 50, "points": 4, "noise": 0.2, "seed": 3},
    "settings": vars(SparseSettings("random", 6, seed=3)),
    "model": "random",
}
NAME = "<b>Six</b> *points*"


@pytest.fixture
def run_id(runs_folder: Path) -> str:
    store = Store(runs_folder)
    made = store.create(RunSpec("sparse-representation", SETTINGS, 3, "Random points"), mark_of("somebody"))
    store.write_status(made, {"status": "done", "created": 1.0, "started": 1.0, "ended": 3.0})
    store.write_result(made, {**sparse_task(SETTINGS, Context()), "warnings": ["It ended at a bound."]})
    store.write_label(made, Label(NAME))
    return made


def opened(open_page: Callable[..., AppTest], **query: str) -> AppTest:
    page = open_page("runs")
    page.query_params.clear()
    page.query_params.update(query)
    page.switch_page(str(SNAPSHOT.path)).run()
    assert not page.exception and not page.error
    return page


def told(page: AppTest) -> str:
    return as_shown("\n".join(str(box.value) for box in (*page.markdown, *page.caption, *page.info, *page.warning)))


def links(page: AppTest) -> list[str]:
    return [link.proto.label for link in page.get("page_link")]


def test_a_run_is_shown_and_nothing_changes_it(open_page, runs_folder: Path, run_id: str) -> None:
    page = opened(open_page, run=run_id)
    assert as_shown(page.title[0].value) == NAME and links(page) == ["Open in the library"]
    assert not [*page.button, *page.text_input, *page.selectbox, *page.slider, *page.toggle]
    assert any("RMSE" in html.proto.body for html in page.get("html"))
    (table,) = (html.proto.body for html in page.get("html") if "lab-table lab-words" in html.proto.body)
    first = re.findall(r'scope="row">([^<]*)<', table)[:8]
    assert set(first) >= {"toy.noise", "toy.points", "settings.points"} and "settings.device" not in first
    words = told(page)
    assert "It ended at a bound." in words and "drawn by this software" in words and "in 2.0 s" in words
    assert any(f"snapshot-{run_id}-0" in key for key in page.session_state["_seen"].figures)


def test_whoever_has_the_link_sees_it_too(open_page, runs_folder: Path, run_id: str, monkeypatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "yes")
    monkeypatch.delenv("DECONDITIONING_ADMIN", raising=False)
    page = opened(open_page, run=run_id)
    assert links(page) == ["Open on its page with these settings"] and not page.button
    found = page_of_run(Store(runs_folder).read(run_id)[0])
    assert found is not None
    folder, query = found
    there = open_page(folder, **query)
    held = there.session_state["_seen"].values()
    assert {key: held[key] for key in ("s-data", "s-made", "s-noise", "s-seed", "s-points")} == {
        "s-data": 50, "s-made": 4, "s-noise": 0.2, "s-seed": 3, "s-points": 6,
    }  # fmt: skip


def test_a_run_that_is_not_there_is_a_sentence(open_page, runs_folder: Path, run_id: str) -> None:
    assert "There is no run" in told(opened(open_page, run="20200101-000000-00000000"))
    assert "names no run" in told(opened(open_page))
    page = opened(open_page, run=run_id)
    Store(runs_folder).remove(run_id)
    page.run()
    assert "There is no run" in told(page) and not page.exception


def test_a_damaged_or_a_going_run_is_told(open_page, runs_folder: Path, run_id: str) -> None:
    store = Store(runs_folder)
    store.write_result(run_id, {"learned": {"kernel": 3}, "scores": 3})
    assert "damaged" in told(opened(open_page, run=run_id))
