"""Page Runs in AppTest: empty, full, live, linked, compared, damaged."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.engine import Engine, RunSpec
from core.engine.store import Store
from tests.core.engine.toys import ENDLESS
from tests.waiting import HANG_S, wait_for

PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "runs" / "page.py")


@pytest.fixture
def folder(runs_folder: Path) -> Iterator[Path]:
    """A runs folder that the page's own engine uses."""
    st.cache_resource.clear()
    yield runs_folder
    st.cache_resource.clear()


def made(folder: Path, title: str, seed: int = 0, status: str = "done", **more) -> str:
    """A run as the engine would have left it."""
    store = Store(folder)
    settings = {"model": "cmp", "problem": {"block": [7 + seed, 7]}}
    run_id = store.create(RunSpec("downscale", settings, seed=seed, title=title))
    times = {"created": time.time() + seed, "started": time.time(), "ended": time.time() + 95}
    store.write_status(run_id, {"status": status, "progress": 1.0, **times, **more})
    scores = {"cmp": {"rmse": 0.5 + seed}, "bilinear": {"rmse": 0.7}}
    said = {
        "warnings": ["The prior ran away."],
        "notes": ["The grid is cut."],
        "coarse_scores": {"seen": {"rmse": 0.2}},
    }
    store.write_result(run_id, {"scores": scores, "units": "K", **said})
    store.add_trace(run_id, [{"step": n, "total": 9, "time": n / 2, "evidence": -9.0 / n} for n in range(1, 10)])
    store.write_file(run_id, "field.nc", b"CDF")
    return run_id


def opened(**query: str) -> AppTest:
    """The page, with this address."""
    page = AppTest.from_file(PAGE, default_timeout=HANG_S)
    for name, value in query.items():
        page.query_params[name] = value
    page.run()
    assert not page.exception
    return page


def words(page: AppTest) -> str:
    """All text of the page."""
    parts = [*page.markdown, *page.caption, *page.info, *page.warning, *page.error, *page.subheader]
    return "\n".join(str(part.value) for part in parts)


def test_an_empty_page_says_what_to_do(folder: Path) -> None:
    page = opened()
    assert "press Learn" in page.info[0].value
    assert not page.selectbox


def test_the_newest_run_is_open(folder: Path) -> None:
    _, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened()
    assert page.subheader[0].value == "Second"
    assert page.query_params["run"] == second
    table = page.dataframe[0].value
    assert list(table["Title"]) == ["Second", "First"] and list(table["State"]) == ["Done", "Done"]
    assert "The prior ran away." in words(page) and "The grid is cut." in words(page)
    assert list(table["RMSE"]) == ["1.5 K", "0.5 K"] and table["Took"][1] == "1 min 35 s"


def test_a_link_opens_a_run_and_a_comparison(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened(run=first, **{"with": second})
    assert [part.value for part in page.subheader] == ["First", "Second"]
    settings = page.dataframe[1].value
    assert list(settings["Setting"][:2]) == ["seed", "problem.block"]
    assert list(settings.iloc[1, 1:]) == ["[7, 7]", "[8, 7]"]
    assert any("2 differ" in part.label for part in page.expander)


def test_choosing_changes_the_address(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened()
    page.selectbox(key="box-run").select(first).run()
    assert page.subheader[0].value == "First" and page.query_params["run"] == first
    page.selectbox(key="box-with").select(second).run()
    assert page.query_params["with"] == second
    page.selectbox(key="box-with").select(None).run()
    assert "with" not in page.query_params and not page.exception


def test_a_link_to_a_run_that_is_gone_is_a_sentence(folder: Path) -> None:
    made(folder, "First")
    page = opened(run="../../etc/passwd")
    assert "There is no run ../../etc/passwd here" in page.warning[0].value
    assert page.subheader[0].value == "First"


def test_failures_and_interruptions_are_told(folder: Path) -> None:
    made(folder, "Broken", status="failed", message="The target is constant: choose another variable.")
    assert "The target is constant" in opened().error[0].value
    made(folder, "Cut", seed=1, status="running", owner={"pid": 1})
    page = opened()
    assert "run it again" in words(page) and page.dataframe[0].value["State"][0] == "Interrupted"


def test_delete_asks_first_and_leaves_the_others(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened(run=first)
    page.button(key=f"delete-{first}").click().run()
    assert not page.exception and not (folder / first).exists() and (folder / second).exists()
    assert page.subheader[0].value == "Second"


def test_rubbish_in_the_folder_does_not_stop_the_page(folder: Path) -> None:
    run_id = made(folder, "Good")
    (folder / "20261121-013255-ffffffff").mkdir()
    (folder / run_id / "result.json").write_text(
        '{"scores": {"cmp": 3, "x": {"rmse": "no"}}, "units": 5, "warnings": 3, "notes": [4]}'
    )
    (folder / run_id / "trace.jsonl").write_text('{"step": "x", "evidence": []}\n{"step": null}\n[]\n{"time": {}}\n')
    page = opened(run=run_id)
    assert page.subheader[0].value == "Good"


def test_a_running_run_shows_progress_and_can_be_cancelled(folder: Path) -> None:
    page = opened()
    from pages.kit.state import get_engine

    engine: Engine = get_engine()
    assert engine.root == folder.resolve()
    run_id = engine.submit(RunSpec("tests.core.engine.toys:count", {"steps": ENDLESS}, title="Long"))
    wait_for(lambda: engine.get(run_id).progress)
    page.run()
    assert not page.exception and page.subheader[0].value == "Long"
    assert page.dataframe[0].value["State"][0] == "Running"
    page.button(key=f"cancel-detail-{run_id}").click().run()
    assert engine.wait(run_id, HANG_S).status == "cancelled"
    page.run()
    assert "best result so far is kept" in words(page)
    page.button(key=f"again-{run_id}").click().run()
    again = page.query_params["run"]
    assert again != run_id and engine.get(str(again)).spec == engine.get(run_id).spec
    engine.cancel(str(again))
