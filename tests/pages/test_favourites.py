"""Favourites in AppTest: kept, taken again, opened from Runs, named anew, deleted; hostile names; other visitors."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.engine.visitors.favourites import Favourite, Favourites
from pages.kit.record import same
from tests.pages.reading import as_shown
from tests.pages.sliders import log_slider, moved

HOSTILE = "![x](http://evil.example/x.png) <b>*bold*</b> :red[x] $x$"
MATERN = "Matérn 3/2"


def unfolded(page: AppTest, key: str = "lab-star") -> AppTest:
    page.session_state[key] = True
    return page.run()


def kept(page: AppTest, name: str = "") -> AppTest:
    """The page's settings, kept."""
    unfolded(page)
    (box,) = (found for found in page.text_input if found.label == "Save these settings as")
    if name:
        box.set_value(name)
    (button,) = (found for found in page.button if found.label == "Save")
    button.click().run()
    assert wrong(page) == []
    return page


def wrong(page: AppTest) -> list[str]:
    return [box.value for box in (*page.exception, *page.error)]


def labelled(page: AppTest, label: str) -> object:
    (button,) = (found for found in page.button if found.label == label)
    return button


def told(page: AppTest) -> str:
    return as_shown("\n".join(str(box.value) for box in (*page.markdown, *page.caption, *page.info, *page.warning)))


def store_of(folder: Path) -> Favourites:
    return Favourites(folder)


def test_settings_are_kept_under_their_own_words_and_taken_again_with_undo(open_page, runs_folder: Path) -> None:
    page = open_page("one_dimension", level="All")
    page.selectbox(key="o-k-family").set_value("matern32").run()
    scale = log_slider(moved(page, "o-k-scale", 3), "o-k-scale").value
    kept(page)
    (found,), damaged = store_of(runs_folder).all()
    assert not damaged and found.page == "line" and dict(found.query)["o-k-family"] == MATERN
    assert (
        found.told[0][1] == MATERN
        and f"Kernel k on x {MATERN}, How smooth the function is (lengthscale of k) " in found.name
    )
    assert found.picture.startswith(b"\x89PNG") and labelled(page, "Take").disabled
    page.button(key="lab-reset").click().run()
    assert page.selectbox(key="o-k-family").value == "rbf"
    labelled(unfolded(page), "Take").click().run()
    assert wrong(page) == [] and page.selectbox(key="o-k-family").value == "matern32"
    assert log_slider(page, "o-k-scale").value == scale
    page.button(key="lab-undo").click().run()
    assert page.selectbox(key="o-k-family").value == "rbf"


def test_what_a_later_version_no_longer_has_is_a_sentence(open_page, runs_folder: Path) -> None:
    query = (("o-k-family", "gone"), ("o-k-scale", "1e9"), ("o-nothing", "3"), ("o-lam", "0.01"))
    store_of(runs_folder).keep(Favourite("line", query, "old"))
    page = unfolded(open_page("one_dimension"))
    labelled(page, "Take").click().run()
    assert wrong(page) == []
    words = told(page)
    assert "o-k-family=gone, which is not one of the choices here. The page uses Gaussian" in words
    assert "o-k-scale=1e9, which is outside the limits" in words
    assert log_slider(page, "o-k-scale").value == 20.0
    assert same(page.session_state["o-lam"], 0.01)


def test_page_runs_opens_renames_deletes_and_brings_back(open_page, runs_folder: Path) -> None:
    one = store_of(runs_folder).keep(Favourite("line", (("o-k-family", MATERN),), "mine", (("Kernel", MATERN),)))
    page = open_page("runs")
    assert wrong(page) == [] and page.dataframe[0].value["Name"].tolist() == ["mine"]
    unfolded(page, "favourite-rename")
    (box,) = (found for found in page.text_input if found.label == "Name")
    box.set_value(HOSTILE)
    labelled(page, "Save").click().run()
    assert wrong(page) == [] and page.dataframe[0].value["Name"].tolist() == [HOSTILE]
    page.button(key="favourite-delete").click().run()
    assert HOSTILE in told(page) and not page.selectbox and store_of(runs_folder).all() == ((), ())
    page.button(key="favourite-back").click().run()
    assert page.selectbox(key="favourite").value == one
    page.button(key="favourite-open").click().run()
    assert wrong(page) == [] and page.selectbox(key="o-k-family").value == "matern32"


def test_damaged_files_are_named_and_can_be_deleted(open_page, runs_folder: Path) -> None:
    store = store_of(runs_folder)
    good, bad = store.keep(Favourite("line", (), "good")), store.keep(Favourite("line", (), "bad"))
    store.keep(Favourite("no-page", (), "of another version"))
    (store.folder / f"{bad}.json").write_text("{")
    page = open_page("runs")
    assert wrong(page) == [] and f"{bad}.json" in told(page)
    assert page.button(key="favourite-open").disabled and "no page no-page" in told(page)
    page.selectbox(key="favourite").set_value(good).run()
    assert not page.button(key="favourite-open").disabled
    page.button(key="favourite-damaged").click().run()
    assert wrong(page) == [] and store.all()[1] == ()


def test_hostile_names_are_shown_as_they_are(open_page, runs_folder: Path) -> None:
    store_of(runs_folder).keep(Favourite("line", (), HOSTILE, ((HOSTILE, HOSTILE),)))
    page = unfolded(open_page("one_dimension"))
    raw = "\n".join(box.value for box in page.markdown)
    assert HOSTILE in told(page) and HOSTILE not in raw and "![x](" not in raw


def test_nobody_sees_anothers(open_page, runs_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "yes")
    alice, bob = open_page("sparse_representation"), open_page("sparse_representation")
    kept(alice, "of alice")
    assert "of alice" in told(alice) and "of alice" not in told(unfolded(bob))
    bob.switch_page("pages/runs/page.py").run()
    assert "of alice" not in told(bob) and "No runs yet" in told(bob)
