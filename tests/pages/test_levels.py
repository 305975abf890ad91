"""Two levels of controls on every page: at most four in plain words, or all; what is hidden keeps its value."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.studies.distribution_regression.tables import keep_table
from pages.kit.controls import level
from pages.kit.controls.essential import Essential, essential, labelled, name_of, with_term
from pages.kit.pages import PAGES
from tests.pages.sliders import log_slider, moved
from tests.waiting import wait_for

Opens = Callable[..., AppTest]
INPUTS = "slider select_slider selectbox number_input text_input multiselect button_group toggle checkbox file_uploader"
#: Page → the addresses at which its essential controls are, a hidden setting in the first one.
VIEWS: dict[str, list[dict[str, str]]] = {
    "downscaling": [{"seed": "3"}],
    "one_dimension": [{"o-seed": "3"}, {"o-view": "There and back"}, {"o-view": "Bayes' rule"}],
    "sparse_representation": [{"s-size": "3"}],
    "swiss_roll": [{"r-seed": "3"}],
    "conditional_mean_embeddings": [{"e-seed": "3"}, {"e-view": "Rates"}],
    "kernel_bayes": [{"k-seed": "3"}, {"k-dim": "2"}, {"k-dim": "6"}],
    "likelihood_free": [{"lf-seed": "3"}],
    "filtering": [{"f-seed": "3"}, {"f-system": "camera"}, {"f-system": "own series"}],
    "distribution_regression": [{"d-seed": "3"}, {"d-data": "Stand-in"}, {"d-data": "Own table"}],
}
TABLE = "subject,value,outcome\n" + "".join(f"{i % 20},{i * 7 % 11},{i % 20 % 3}\n" for i in range(100))
#: Words alone, none of one letter but the article: no symbol.
PLAIN = re.compile(r"[A-Z]?[a-z]+(?:[ ,'-]+(?:[a-z]{2,}|a))*")


def at(open_page: Opens, page: str, **address: str) -> AppTest:
    """The page at an address; no error, no exception."""
    found = open_page(page, **address)
    assert [box.value for box in (*found.exception, *found.error)] == []
    return found


def inputs(page: AppTest) -> Iterator[Any]:
    """Everything that can be set on the page but for its tools and the switch itself."""
    for kind in INPUTS.split():
        for each in page.get(kind):
            key = getattr(each, "key", None) or ""
            if key != level.KEY and not key.startswith(("lab-", "sweep")):
                yield each


def visible(page: AppTest) -> dict[str, str]:
    """Key → label of what the style sheet leaves at the level Essential; what has no key it cannot hide."""
    controls, declared = seen(page).controls, seen(page).essentials
    shown = {}
    for each in inputs(page):
        key = getattr(each, "key", None) or ""
        names = [name for name in declared if re.fullmatch(name.replace("*", ".*"), key)]
        if (not key or names) and not (key in controls and controls[key].in_picture):
            shown[key or each.label] = each.label
    return shown


def seen(page: AppTest) -> Any:
    return page.session_state["_seen"]


def switched(page: AppTest, to: str) -> AppTest:
    return _switch(page).set_value(to).run()


def _switch(page: AppTest) -> Any:
    return page.segmented_control(key=level.KEY)


def query(page: AppTest) -> dict[str, Any]:
    return {key: value[0] if isinstance(value, list) else value for key, value in dict(page.query_params).items()}


def state(page: AppTest) -> tuple[dict[str, Any], dict[str, str]]:
    """Values and pictures."""
    return seen(page).values(), {key: figure.stamp for key, figure in seen(page).figures.items()}


def told(page: AppTest) -> list[str]:
    return [button.label for button in page.button if button.key == "lab-show-all"]


@pytest.mark.parametrize("name", VIEWS)
def test_essential_is_four_controls_in_plain_words_and_the_switch_changes_nothing_but_itself(
    name: str, open_page: Opens
) -> None:
    """A link applies a hidden setting, and the page says so."""
    keep_table(TABLE.encode(), "own.csv", "")
    page = at(open_page, name, **VIEWS[name][0])
    used = in_plain_words(page)
    for address in VIEWS[name][1:]:
        used |= in_plain_words(at(open_page, name, **address))
    assert used == set(seen(page).essentials), "every essential control is on one of the views"
    ((key, asked),) = VIEWS[name][0].items()
    words, named = {each.key: each.label for each in inputs(page)}, visible(page)
    assert seen(page).controls[key].words == (asked,) and key not in named
    assert told(page) == ["1 more setting differs from the worked example: show all"]

    def only_the_level_changes() -> bool:
        """Again where work in the background has changed a picture, or added its controls, in between."""
        before = state(page)
        address = {key: said for key, said in query(page).items() if key != level.KEY}  # left by the round before
        page.button(key="lab-show-all").click().run()
        assert seen(page).shows_all and not told(page)
        labels = {each.key: each.label for each in inputs(page)}
        assert {key for key in words if words[key] != labels[key]} <= set(named)
        assert all(labels[key].startswith(words[key]) for key in named)
        between = state(page)
        assert query(page) == address | {level.KEY: level.ALL} and address == {key: asked}
        switched(page, level.ESSENTIAL)
        after = state(page)
        shared = before[0].keys() & between[0].keys() & after[0].keys()
        assert {key: after[0][key] for key in shared} == {key: before[0][key] for key in shared}
        return after == between == before

    wait_for(only_the_level_changes, "both levels to show the same")


def in_plain_words(page: AppTest) -> set[str]:
    """The essential controls that are on the page, two to four beside the picture's own, each called by words alone."""
    shown = visible(page)
    assert 2 <= len(shown.keys() - {"withhold", "draws"}) <= 4, shown
    assert [label for label in shown.values() if not PLAIN.fullmatch(label)] == []
    return {one for one in seen(page).essentials for key in shown if re.fullmatch(one.replace("*", ".*"), key)}


def test_the_pages_that_show_a_study_have_levels() -> None:
    assert set(VIEWS) == {page.folder for page in PAGES if page.study}


@pytest.mark.parametrize("other", [page.folder for page in PAGES if not page.study])
def test_no_other_page_has_levels(other: str, open_page: Opens) -> None:
    """A page says so itself: it has essential controls, and with them the switch of levels."""
    assert not seen(at(open_page, other)).essentials


def test_the_level_goes_along_to_other_pages_and_undo_leaves_it_alone(open_page: Opens) -> None:
    page = switched(at(open_page, "one_dimension"), level.ALL)
    log_slider(moved(page, "o-lam", 10), "o-lam")
    page.button(key="lab-undo").click().run()
    assert seen(page).shows_all and page.button(key="lab-undo").disabled
    page.button(key="lab-preset-0").click().run()
    page.button(key="lab-reset").click().run()
    assert seen(page).shows_all
    page.switch_page(str(next(one.path for one in PAGES if one.folder == "sparse_representation"))).run()
    assert _switch(page).value == level.ALL  # the address follows in a browser


def test_an_address_says_the_level_in_any_letters_and_nonsense_is_essential(open_page: Opens) -> None:
    for asked, shown in (("all", level.ALL), ("ALL", level.ALL), ("nonsense", level.ESSENTIAL), ("", level.ESSENTIAL)):
        assert _switch(at(open_page, "sparse_representation", level=asked)).value == shown


def test_presets_move_hidden_controls_and_undo_brings_them_back(open_page: Opens) -> None:
    page = at(open_page, "one_dimension")
    assert told(page) == []
    page.button(key="lab-preset-2").click().run()  # λ and ℓ
    assert told(page) == ["2 more settings differ from the worked example: show all"]
    page.button(key="lab-undo").click().run()
    assert told(page) == []


def test_pins_call_controls_as_the_level_does(open_page: Opens) -> None:
    page = at(open_page, "one_dimension")
    page.button(key="lab-pin").click().run()
    page.button(key="lab-preset-3").click().run()

    def differing() -> str:
        return next(box.proto.body for box in page.get("html") if "Settings that differ" in box.proto.body)

    assert "How noisy the measured values are" in differing() and "σ" not in differing()
    switched(page, level.ALL)
    assert "sd\u00a0σ" in differing()


def test_stars_in_keys_stand_for_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.kit.controls import essential as module
    from pages.kit.record import Control, PageRecord

    now = PageRecord("p", essentials={"a-*-b": Essential("Plain", "help")}, shows_all=False)
    monkeypatch.setattr(module, "page_record", lambda: now)
    assert essential("a-1-b") and not essential("a-b") and labelled("a-1-b", "λ", "x") == ("Plain", "help")
    assert labelled("other", "λ", "x") == ("λ", "x") and name_of(Control("a-2-b", "λ", 1, 1, "1")) == "Plain"
    now.shows_all = True
    assert labelled("a-1-b", "λ", "x") == ("Plain (λ)", "x") and labelled("a-1-b", "λ") == ("Plain (λ)", "help")


def test_the_level_all_adds_what_the_field_calls_it() -> None:
    assert with_term("Which data", "Data") == "Which data"
    assert with_term("How many subjects", "n, subjects") == "How many subjects (n)"
    assert (
        with_term("How smooth the function is", "Lengthscale of k") == "How smooth the function is (lengthscale of k)"
    )
    assert with_term("How many examples", "Pairs (X, Y)") == "How many examples (pairs (X, Y))"


def test_the_style_sheet_hides_what_is_not_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    from pages.kit.record import PageRecord

    now = PageRecord("p", essentials={"a": Essential("A", ""), "b-*-c": Essential("B", "")}, shows_all=False)
    monkeypatch.setattr(level, "page_record", lambda: now)
    kept = level.style().partition(":not(")[2]
    assert ".st-key-a, " in kept and '[class*="st-key-b-"][class*="-c"]' in kept and ".st-key-level" in kept
    now.shows_all = True
    assert level.style() == "" and level.in_address() == {level.KEY: level.ALL}
    now.essentials = {}
    assert level.in_address() == {}
