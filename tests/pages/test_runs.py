"""Page Runs in AppTest: empty, full, live, linked, compared, damaged."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import TextInput

from deconditioning.downscaling.saved_map import FILE, saved_map
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import RunSpec
from deconditioning.engine.store import Store
from pages.runs import detail
from pages.runs.names import STATES, setting_name, setting_text
from tests.core.engine.toys import ENDLESS
from tests.pages.conftest import empty_caches
from tests.pages.reading import as_shown
from tests.waiting import HANG_S, wait_for

(EXAMPLE,) = (Path(__file__).resolve().parents[2] / "data" / "example_run").iterdir()
PAGE = str(Path(__file__).resolve().parents[2] / "pages" / "runs" / "page.py")


@pytest.fixture
def folder(runs_folder: Path) -> Iterator[Path]:
    """A runs folder that the page's own engine uses."""
    with empty_caches():
        yield runs_folder


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


def box(page: AppTest, label: str) -> TextInput:
    return next(found for found in page.text_input if found.label == label)


def test_an_empty_page_says_what_to_do(folder: Path) -> None:
    page = opened()
    assert "A run is one computation" in words(page)
    assert "Open page Downscaling and press Learn" in words(page)  # a link where the router runs
    assert not page.selectbox


def test_an_empty_page_shows_the_stored_run_whose_scores_are_those_of_its_maps(folder: Path) -> None:
    page = opened()
    assert page.subheader[0].value == "Potential temperature, UKV, 645 m, 19 November 2009" and "A stored run" in words(
        page
    )
    keys = [f"run-map-{EXAMPLE.name}-{key}" for key in ("coarse", "mean", "sd", "error")]
    assert set(keys) <= set(page.session_state["_seen"].figures)
    saved = saved_map((EXAMPLE / "files" / FILE).read_bytes())
    stored = json.loads((EXAMPLE / "result.json").read_text())["scores"]
    assert saved.truth is not None and saved.sd is not None and saved.coarse is not None
    error = saved.mean - saved.truth
    inside = np.abs(error) <= 1.959964 * saved.sd
    ours = stored["area_to_point_gp"]
    assert np.sqrt((error**2).mean()) == pytest.approx(ours["rmse"], rel=1e-4)
    assert inside.mean() == pytest.approx(ours["coverage95"], abs=1e-3)
    cells = saved.truth.reshape(22, 9, 20, 9).mean(axis=(1, 3))
    np.testing.assert_allclose(saved.coarse, cells, atol=2e-4)
    (said,) = [each.value for each in page.success if "RMSE" in each.value]
    assert said.startswith("The RMSE of the posterior mean is 0.0704 K, that of bilinear interpolation 0.222 K.")
    assert f"{100 * inside.mean():.0f} % of the 95 % intervals" in said
    assert not [button for button in page.button if button.label in ("Delete", "Run again")]


def test_a_single_run_has_nothing_to_choose_and_its_settings_no_empty_rows(folder: Path) -> None:
    run_id = made(folder, "Only")
    settings = {"model": "cmp", "source": {"coarse": None}, "problem": {"block": [7, 7], "mediators": []}}
    spec = {"task": "downscale", "seed": 0, "title": "Only", "settings": settings}
    (folder / run_id / "spec.json").write_text(json.dumps(spec))
    page = opened()
    assert not [each for each in page.selectbox if each.label == "Run"] and not page.multiselect
    assert page.subheader[0].value == "Only"
    assert list(page.dataframe[1].value["Setting"]) == ["Task", "Seed", "Model", "Pixels of a cell, rows and columns"]
    assert list(page.dataframe[0].value["Cells"]) == ["7 × 7 pixels"]


def test_the_newest_run_is_open(folder: Path) -> None:
    _, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened()
    assert page.subheader[0].value == "Second"
    assert page.query_params["run"] == second
    table = page.dataframe[0].value
    assert list(table["Title"]) == ["Second", "First"] and list(table["State"]) == ["Done", "Done"]
    assert "The prior ran away." in words(page) and "The grid is cut." in words(page)
    assert (
        list(table["RMSE"]) == ["1.50", "0.500"]
        and list(table["Units"]) == ["K", "K"]
        and table["Took"][1] == "1 min 35 s"
    )


def test_a_run_says_which_version_made_it_and_where_its_numbers_were_others(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id = made(folder, "Older")  # 0.1.0 wrote no version
    page = opened()
    assert "version 0.1.0" in as_shown(words(page)) and "other numbers" not in words(page)
    monkeypatch.setattr("deconditioning.versions.SAME_NUMBERS_SINCE", "0.2.0")
    assert "Version 0.1.0 made it, and since version 0.2.0 the same settings give other numbers." in words(opened())
    made(folder, "Newer", 1, version="999.0.0")
    assert "Version 999.0.0 made it, which is newer than this one" in words(opened())
    made(folder, "Damaged", 2, version=["<b>"])
    assert "does not state which version" in words(opened())
    assert "version 0.1.0" in as_shown(words(opened(run=run_id)))


def test_the_list_has_no_empty_columns_and_no_none(folder: Path) -> None:
    made(folder, "Plain")
    page = opened()
    columns = list(page.dataframe[0].value.columns)
    assert columns[:3] == ["Title", "Picture", "RMSE"] and "State" in columns
    assert not {"CRPS", "Coverage of 95 %", "Star", "Tags", "Data"} & set(columns)
    run_id = made(folder, "Failed", 1, "failed")
    Store(folder).write_result(run_id, {})
    page = opened()
    assert list(page.dataframe[0].value["RMSE"].isna()) == [True, False]
    assert {table.proto.placeholder for table in page.dataframe} == {"–"}


def test_every_table_of_data_shows_a_dash_for_what_is_missing() -> None:
    sources = [path.read_text() for path in Path(PAGE).parents[1].rglob("*.py")]
    calls = [call for text in sources for call in text.split("st.dataframe(")[1:]]
    assert len(calls) >= 8 and all("placeholder=MISSING" in call.partition("\n\n")[0] for call in calls)


def test_the_name_of_a_run_comes_before_its_pictures(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    for name in ("heading", "maps", "sweeps", "trace_plots"):
        monkeypatch.setattr(detail, name, lambda *given, name=name: drawn.append(name))
    made(folder, "Swept")
    opened()
    assert drawn == ["heading", "maps", "sweeps", "trace_plots"]


def test_a_link_opens_a_run_and_a_comparison(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened(run=first, **{"with": second})
    assert [part.value for part in page.subheader] == ["First", "Second"]
    settings = page.dataframe[1].value
    assert list(settings["Setting"][:2]) == ["Seed", "Pixels of a cell, rows and columns"]
    assert list(settings.iloc[1, 1:]) == ["7, 7", "8, 7"]
    assert any("2 differ" in part.label for part in page.expander)


def test_choosing_changes_the_address(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened()
    page.selectbox(key="box-run").select(first).run()
    assert page.subheader[0].value == "First" and page.query_params["run"] == first
    page.multiselect(key="box-with").select(second).run()
    assert page.query_params["with"] == second
    page.multiselect(key="box-with").unselect(second).run()
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


def test_a_deleted_run_leaves_the_others_and_can_be_brought_back(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    before = {path.name: path.read_bytes() for path in (folder / first).iterdir() if path.is_file()}
    page = opened(run=first)
    page.button(key=f"delete-{first}").click().run()
    assert not page.exception and not (folder / first).exists() and (folder / second).exists()
    assert page.subheader[0].value == "Second"
    page.button(key="bring-back").click().run()
    assert {path.name: path.read_bytes() for path in (folder / first).iterdir() if path.is_file()} == before
    assert page.subheader[0].value == "First" and not page.exception


def test_name_star_and_tags_are_kept_found_and_sorted_by(folder: Path) -> None:
    first, second = made(folder, "First", 0), made(folder, "Second", 1)
    page = opened(run=first)
    page.button(key=f"star-{first}").click().run()
    page.text_input[[box.label for box in page.text_input].index("Name")].set_value("Alps *by night*")
    page.text_input[[box.label for box in page.text_input].index("Tags, separated by commas")].set_value(
        "talk,  a b ,,"
    )
    next(button for button in page.button if button.label == "Save").click().run()
    assert not page.exception and page.subheader[0].value == r"Alps \*by night\*"
    again = opened(run=first)
    row = again.dataframe[0].value.set_index("Title").loc["Alps *by night*"]
    assert row["Star"] == "★" and list(row["Tags"]) == ["talk", "a b"]
    again.text_input(key="find").set_value("TALK alps").run()
    assert list(again.dataframe[0].value["Title"]) == ["Alps *by night*"]
    again.text_input(key="find").set_value("nothing of the kind").run()
    assert "No run matches" in words(again)
    again.text_input(key="find").set_value("").run()
    again.toggle(key="stars").set_value(True).run()
    assert list(again.dataframe[0].value["Title"]) == ["Alps *by night*"]
    again.toggle(key="stars").set_value(False).run()
    again.selectbox(key="sort").set_value("rmse").run()
    assert list(again.dataframe[0].value["RMSE"]) == ["0.500", "1.50"]
    assert (folder / second / "label.json").exists() is False


def test_a_name_that_is_too_much_is_a_sentence_and_nothing_is_changed(folder: Path) -> None:
    first = made(folder, "First")
    page = opened(run=first)
    box(page, "Tags, separated by commas").set_value("x" * 40)
    next(button for button in page.button if button.label == "Save").click().run()
    assert "A tag has 40 characters" in words(page) and not (folder / first / "label.json").exists()


def test_six_runs_are_compared(folder: Path) -> None:
    ids = [made(folder, f"Run {seed}", seed) for seed in range(7)]
    page = opened(run=ids[0], **{"with": ids[1:6]})
    assert [part.value for part in page.subheader] == [f"Run {seed}" for seed in range(6)]
    assert page.query_params["with"] == ids[1:6] and not page.exception
    assert page.dataframe[1].value.shape[1] == 7


def test_models_are_tested_over_the_seeds_of_one_problem(folder: Path) -> None:
    store, last = Store(folder), {}
    for seed in range(7):
        for model, rmse in (("cmp", 1.0 + 0.1 * seed), ("bag_gp", 0.5 + 0.1 * seed + 0.01 * seed**2)):
            settings = {"model": model, "problem": {"block": [9, 9], "seed": seed}, "source": {"fields": "ukv-645m"}}
            last[model] = store.create(RunSpec("downscale", settings, seed=seed, title=f"{model} {seed}"))
            store.write_status(last[model], {"status": "done", "created": time.time() + seed})
            store.write_result(last[model], {"model": model, "scores": {model: {"rmse": rmse}}})
    page = opened(run=last["cmp"], **{"with": last["bag_gp"]})
    said = next(box.value for box in page.caption if box.value.startswith("RMSE over 7 common seeds"))
    # all seven differences have one sign: the exact two-sided p is 2 / 2⁷
    assert "p = 0.016" in said and "Bag GP" in said and "0.41" in said


def test_rubbish_in_the_folder_does_not_stop_the_page(folder: Path) -> None:
    run_id = made(folder, "Good")
    (folder / "20261121-013255-ffffffff").mkdir()
    (folder / run_id / "result.json").write_text(
        '{"scores": {"cmp": 3, "x": {"rmse": "no"}}, "units": 5, "warnings": 3, "notes": [4]}'
    )
    (folder / run_id / "trace.jsonl").write_text('{"step": "x", "evidence": []}\n{"step": null}\n[]\n{"time": {}}\n')
    page = opened(run=run_id)
    assert page.subheader[0].value == "Good"


def test_the_list_of_runs_says_no_state_that_a_browser_would_keep(folder: Path) -> None:
    made(folder, "Ended", 0), made(folder, "Broken", 1, status="failed", message="no room")
    (box,) = [each for each in opened().selectbox if each.label == "Run"]
    assert all(word.lower() not in option.lower() for option in box.options for word, _ in STATES.values())
    assert [option.split(",")[0] for option in box.options] == ["Broken", "Ended"]


@pytest.mark.parametrize(
    ("status", "said"), [("done", "found nothing better than its start"), ("cancelled", "one step")]
)
def test_a_single_step_of_learning_is_a_sentence_and_no_chart(
    folder: Path, status: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_id, drawn = made(folder, "Short", status=status), list[str]()
    monkeypatch.setattr(detail, "plotly_live", lambda figure, key: drawn.append(key))
    row = {"step": 1, "time": 0.1, "quantity": "log evidence", "value": -50.25, "best": -50.25}
    Store(folder).add_trace(run_id, [{"step": 1, "hyperparameters": {"noise": 0.1}} | row])
    assert "step" not in words(opened()) and f"objective--{run_id}" in drawn  # nine steps before
    drawn.clear()
    (Store(folder).folder(run_id) / "trace.jsonl").unlink()
    Store(folder).add_trace(run_id, [{"hyperparameters": {"noise": 0.1}} | row])
    page = opened()
    assert f"{said}: log evidence −50.25" in words(page) and not drawn


def test_scores_at_stations_that_nothing_saw_stand_below_those_of_the_map(folder: Path) -> None:
    run_id = made(folder, "With stations")
    scored = {"count": 300, "rmse": 0.667, "bias": -0.1, "crps": 0.378, "inside_50": 0.6, "inside_90": 0.95,
              "inside_95": 0.99, "rmse_of": {"cmp": 1.02, "bilinear": 1.62},
              "bias_of": {"cmp": -0.7, "bilinear": -0.8}}  # fmt: skip
    store = Store(folder)
    result = {"scores": {"cmp": {"rmse": 0.5}}, "model": "cmp", "units": "K"}
    store.write_result(run_id, result | {"diagnostics": {"stations": {"scored": scored}}})
    (table,) = [each.proto.body for each in opened().get("html") if "no method used" in each.proto.body]
    rows = re.findall(r"<tr.*?</tr>", table.split("<tbody>")[1], re.S)
    assert ["0.667" in rows[0], "1.02" in rows[1], "1.62" in rows[2]] == [True] * 3
    for damage in ({"rmse": "x"}, {"rmse_of": {}}, {"bias_of": None}):
        store.write_result(run_id, result | {"diagnostics": {"stations": {"scored": scored | damage}}})
        assert not [each for each in opened().get("html") if "no method used" in each.proto.body]


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
    page.button(key=f"cancel-list-{run_id}").click().run()
    assert engine.wait(run_id, HANG_S).status == "cancelled"
    page.run()
    assert "best result so far is kept" in words(page)
    page.button(key=f"again-{run_id}").click().run()
    again = page.query_params["run"]
    assert again != run_id and engine.get(str(again)).spec == engine.get(run_id).spec
    engine.cancel(str(again))


def test_settings_are_said_in_words() -> None:
    kernel = [
        {"scale": 0.5, "factors": [{"family": "rbf", "columns": ["grid_latitude"], "lengthscales": [2.0, 3.0]}]},
        {"scale": 1.0, "factors": [{"family": "linear", "columns": ["altitude"], "lengthscales": [], "alpha": 1.1}]},
    ]
    assert setting_text(kernel) == "0.5 × Gaussian (grid latitude; lengthscale 2, 3) + 1 × Linear (altitude; alpha 1.1)"
    assert setting_text("area_to_point_gp") == "Area-to-point GP" and setting_text(True) == "yes"
    assert setting_text("kmeans", "settings.placement") == "k-means" and setting_text(3.2e-7) == "3.2 × 10⁻⁷"
    assert setting_text({"a_b": [1, 2.5]}) == "a b 1, 2.5" and setting_text(None) == ""
    assert setting_name("settings.point_noise") == "Noise variance ς² of a pixel"
    assert setting_name("toy.own_part") == "Toy, own part"
