"""Undo, redo, presets, the worked example, pin as A: whole pages in AppTest."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.wording import number
from pages.kit import record
from pages.kit.pages import PAGES
from pages.kit.record import Control, PageRecord, Table, same
from pages.kit.tools import compared, history
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.sliders import log_slider, moved

WITH_TOOLS = [page.folder for page in PAGES if page.study]


def press(page: AppTest, key: str) -> AppTest:
    return page.button(key=f"lab-{key}").click().run()


def held(page: AppTest) -> dict[str, object]:
    return page.session_state["_seen"].values()


def elsewhere(page: AppTest, opening: dict[str, object]) -> list[str]:
    """Controls that do not stand where they stood; some, such as those of prints, come when a picture is exact."""
    return [key for key, value in held(page).items() if key in opening and not same(value, opening[key])]


def wrong(page: AppTest) -> list[str]:
    return [box.value for box in (*page.exception, *page.error)]


def misread(page: AppTest) -> list[str]:
    """Controls that would hold something else if they were read from their words in an address, as a favourite is."""
    controls = page.session_state["_seen"].controls
    return [key for key, each in controls.items() if not same(each.from_words(each.words), each.value)]


@pytest.mark.parametrize("name", WITH_TOOLS)
def test_every_preset_changes_the_page_can_be_undone_and_the_worked_example_comes_back(
    name: str, open_page: Callable[..., AppTest]
) -> None:
    page = open_page(name)
    opening, presets = held(page), page.session_state["_seen"].presets
    assert 3 <= len(presets) <= 5 and page.button(key="lab-undo").disabled
    alone = {}
    changing = [i for i in range(len(presets)) if not page.button(key=f"lab-preset-{i}").disabled]
    assert len(changing) >= 3
    for index in changing:
        press(page, f"preset-{index}")
        wanted = presets[index].values(page.session_state["_seen"].controls)
        now = held(page)
        assert wrong(page) == []
        assert any(not same(now[key], opening[key]) for key in wanted if key in opening and key in now)
        assert misread(page) == []
        alone[index] = now
        press(page, "undo")
        assert elsewhere(page, opening) == []
    for index in changing:  # what another one changed is taken back
        press(page, f"preset-{index}")
        assert elsewhere(page, alone[index]) == []
    press(page, "reset")
    assert elsewhere(page, opening) == []


def test_the_address_says_settings_whose_defaults_have_changed(open_page: Callable[..., AppTest]) -> None:
    """Hyperparameters begin elsewhere when cells are hidden: those that stay where they were are settings then."""
    page = open_page("downscaling")
    moved(page, "s0", 2)
    page.slider(key="withhold").set_value(0.3).run()
    said = {key: page.query_params[key] for key in page.query_params}
    assert {"s0", "s1", "l0", "l2", "withhold"} <= said.keys()
    again = open_page("downscaling", **said)
    assert elsewhere(again, held(page)) == [] and elsewhere(page, held(again)) == []


def test_a_preset_keeps_the_data_and_the_model(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", data="ukv-75m", withhold="0.3", seed="7")
    page.selectbox(key="model").set_value("bag_gp").run()
    press(page, "preset-1")
    assert page.selectbox(key="data").value == "ukv-75m" and page.selectbox(key="model").value == "bag_gp"
    assert page.slider(key="withhold").value == held(open_page("downscaling", data="ukv-75m"))["withhold"]
    assert page.number_input(key="seed").value == 0 and not wrong(page)


def test_undo_and_redo_go_through_what_was_done(open_page: Callable[..., AppTest]) -> None:
    page = open_page("one_dimension")
    first = log_slider(page, "o-k-scale").value
    second = log_slider(moved(page, "o-k-scale", 3), "o-k-scale").value
    page.selectbox(key="o-k-family").set_value("matern32").run()
    press(page, "undo")
    assert page.selectbox(key="o-k-family").value == "rbf" and log_slider(page, "o-k-scale").value == second
    press(page, "undo")
    assert log_slider(page, "o-k-scale").value == first and page.button(key="lab-undo").disabled
    press(page, "redo")
    assert log_slider(page, "o-k-scale").value == second
    moved(page, "o-lam", 10)  # another way from here: what was ahead is gone
    assert page.button(key="lab-redo").disabled
    press(page, "undo")
    assert log_slider(page, "o-k-scale").value == second


def test_the_values_of_one_drag_are_one_step(
    open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("one_dimension")
    first = log_slider(page, "o-k-scale").value

    def drag(number: int, *factors: float) -> float:
        monkeypatch.setattr(history, "drag", lambda: number)
        for factor in factors:
            moved(page, "o-k-scale", factor)
        monkeypatch.setattr(history, "drag", lambda: 0)
        return log_slider(page, "o-k-scale").value

    second, third = drag(7, 1.3, 1.3, 1.3), drag(8, 3, 0.7)
    assert first < second < third
    for value in (second, first):
        press(page, "undo")
        assert log_slider(page, "o-k-scale").value == value
    assert page.button(key="lab-undo").disabled
    drag(9, 2, 0.5)  # back to where it began: nothing to undo
    assert log_slider(page, "o-k-scale").value == first and page.button(key="lab-undo").disabled
    moved(page, "o-k-scale", 2)
    press(page, "undo")
    assert log_slider(page, "o-k-scale").value == first and page.button(key="lab-undo").disabled


def test_a_second_press_before_the_page_has_settled_goes_on_from_the_first(open_page: Callable[..., AppTest]) -> None:
    """As two fast presses do: the first one's request still stands when the second is taken."""
    page = open_page("one_dimension")
    first = log_slider(page, "o-k-scale").value
    for step in (3, 2):
        moved(page, "o-k-scale", step)
    kept = page.session_state["_history"][page.session_state["_seen"].page]
    assert len(kept.states) == 3 and kept.at == 2
    page.session_state["_wish"] = history.Request(page.session_state["_seen"].page, lambda controls: {}, -1)
    press(page, "undo")
    assert kept.at == 0 and log_slider(page, "o-k-scale").value == first and page.button(key="lab-undo").disabled


def test_undo_brings_back_a_model_with_its_sliders(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", **FEW_CELLS)
    kept = log_slider(moved(page, "l0", 3), "l0").value
    page.selectbox(key="model").set_value("bag_gp").run()
    press(page, "undo")
    assert page.selectbox(key="model").value == "area_to_point_gp"
    assert log_slider(page, "l0").value == pytest.approx(kept, rel=5e-4)


def test_reset_comes_back_from_another_data_set(open_page: Callable[..., AppTest]) -> None:
    page = open_page("downscaling", data="ukv-75m", model="bag_gp", withhold="0.5")
    press(page, "reset")
    assert page.selectbox(key="data").value == "ukv-645m" and page.selectbox(key="model").value == "area_to_point_gp"
    assert page.slider(key="withhold").value == 0.0 and not wrong(page)


def test_what_is_pinned_stands_beside_what_is_live(open_page: Callable[..., AppTest]) -> None:
    page = open_page("one_dimension", level="All")
    before = held(page)
    press(page, "pin")
    assert any("have the same settings" in box.value for box in page.caption)
    now = log_slider(moved(page, "o-noise", 5), "o-noise").value
    (settings, scores) = [box.proto.body for box in page.get("html") if ">A</th>" in box.proto.body]
    assert "sd\u00a0σ" in settings and all(number(each**0.5, 3) in settings for each in (before["o-noise"], now))
    assert "Lengthscale" not in settings and "RMSE" in scores and ("better" in scores or "worse" in scores)
    press(page, "swap")
    assert same(log_slider(page, "o-noise").value, before["o-noise"])
    press(page, "back")
    assert log_slider(page, "o-noise").value == now
    press(page, "unpin")
    assert not [box for box in page.get("html") if ">A</th>" in box.proto.body]


def table(model: str, rmse: float, coverage: float) -> Table:
    return Table("t", {model: {"rmse": rmse, "coverage95": coverage}}, {}, "K")


def state(**values: object) -> PageRecord:
    return PageRecord("p", {k: Control(k, k.upper(), v, v, str(v)) for k, v in values.items()})


def test_settings_that_one_state_lacks_are_named_where_they_are_no_defaults() -> None:
    first, second = state(a=1.0, b="x", c=True, gone=5), state(a=1.00001, b="y", d=[1], come=7)
    for one, key in ((first, "c"), (second, "d")):
        one.controls[key] = replace(one.controls[key], default=None)
    assert compared.changed(first, second) == [("B", "x", "y"), ("D", "–", "[1]"), ("C", "True", "–")]


def test_only_what_was_moved_is_named_as_changed(open_page: Callable[..., AppTest]) -> None:
    """Not the controls of files, which are away while the exact picture is computed."""
    page = open_page("downscaling", level="All", **FEW_CELLS)
    until(page, lambda: page.button(key="lab-pin"))
    press(page, "pin")
    moved(page, "l0", 4)
    first, second = page.session_state["_pinned"], page.session_state["_seen"]
    assert [label for label, _, _ in compared.changed(first, second)] == [first.controls["l0"].label]


def test_scores_of_other_models_are_compared_as_the_pages_own() -> None:
    ((name, a, b),) = compared._pairs(table("cmp", 1.0, 0.9), table("bag_gp", 0.5, 0.8))
    assert "→" in name and (a["rmse"], b["rmse"]) == (1.0, 0.5)
    assert compared._arrow("rmse", -0.5) == "▼ −0.5 better" and compared._arrow("pearson", 0.1) == "▲ 0.1 better"
    assert compared._arrow("coverage95", 0.1) == "▲ 0.1" and compared._arrow("crps", 0.1) == "▲ 0.1 worse"


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [(1.0, 1.0004, True), (1.0, 1.01, False), (0.0, 0.0, True), (True, 1, True), ("a", "b", False),
     ((1.0, 2.0), [1.0, 2.0], True), ((1.0, 2.0), (1.0,), False), (None, "a", False)],
)  # fmt: skip
def test_values_that_read_the_same(first: object, second: object, alike: bool) -> None:
    assert same(first, second) is alike


def test_nothing_is_pinned_on_another_page(open_page: Callable[..., AppTest]) -> None:
    page = press(open_page("one_dimension"), "pin")
    assert page.session_state["_pinned"].page == "line"
    page.switch_page(str(PAGES[4].path)).run()
    assert not [box for box in page.markdown if "is pinned" in box.value]
    assert record.PageRecord().values() == {}
