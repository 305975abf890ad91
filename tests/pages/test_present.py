"""Every page of a study presents what it shows: its slides hold the page's own pictures, scores and settings."""

import json
import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.slides.offline import offline_page
from pages.kit.pages import PAGES
from pages.kit.session import Key
from pages.kit.tools import present
from tests.pages.reading import as_shown, elements
from tests.pages.test_tools import WITH_TOOLS

STUDIES = [name for name in WITH_TOOLS if name != "downscaling"]
FILES = ["One page, HTML", "Slides, PPTX", "Report, PDF"]


def sent(page: AppTest, component: str) -> list[dict[str, Any]]:
    """What the browser gets for every component of that name."""
    protos = [proto for proto in elements(page._tree) if getattr(proto, "component_name", "") == component]
    return [json.loads(proto.json) for proto in protos if proto.json]


def charts(page: AppTest) -> dict[str, dict[str, Any]]:
    """The pictures of the page, by what they are called, without those of tools."""
    return {one["key"]: one for one in sent(page, "lab_plotly_live") if not one["key"].startswith(("lab-", "sweep"))}


def tables(page: AppTest) -> list[list[str]]:
    """Cells of the page's tables of scores, as a reader sees them, headings and names first."""
    bodies = [proto.body for proto in elements(page._tree) if "lab-table" in getattr(proto, "body", "")]
    rows = [
        re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row) for body in bodies for row in re.findall("<tr>.*?</tr>", body)
    ]
    return [[unescape(re.sub("<[^>]+>", "", cell)) for cell in row] for row in rows]


def on_a_slide(chart: dict[str, Any]) -> str:
    """A picture of the page as a slide has it: with the legend that the picture beside it has on the page."""
    figure = json.loads(chart["figure"])
    figure["layout"]["showlegend"] |= figure["layout"]["meta"].get("legend") == "alone"
    return json.dumps(figure, separators=(",", ":"))


def deck_of(page: AppTest) -> dict[str, Any]:
    [shown] = sent(page.button(key="lab-present").click().run(), "lab_slides")
    return json.loads(shown["deck"])


def _listed(words: str | list[str]) -> list[str]:
    return [words] if isinstance(words, str) else words


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_taken_away_and_presented(
    name: str, open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three files are offered; the page that works offline is small; it and the slides hold the page's pictures."""
    offered, files = [], present.files
    monkeypatch.setattr(present, "files", lambda *told: (offered.append(told), files(*told)))
    page = open_page(name)
    assert sent(page, "lab_slides") == [] and not page.exception
    assert page.subheader[-1].value == "Download"
    assert [button.label for button in page.get("download_button")][-3:] == FILES
    told, address, settings = offered[-1]
    text = offline_page(told, settings)
    deck = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)[1])
    assert 1e6 < len(text) < 5e6 and address == settings["page"]
    assert sorted(map(str, deck["figures"].values())) == sorted(
        str(json.loads(on_a_slide(chart))) for chart in charts(page).values()
    )
    controls = page.session_state["_seen"].controls
    assert {key: one.read(_listed(settings["settings"][key])) for key, one in controls.items()} == {
        key: one.read(one.words) for key, one in controls.items()
    }
    deck = deck_of(page)
    slides, drawn = deck["slides"], charts(page)
    assert not page.exception and len(drawn) >= 2
    shown = [slide for slide in slides if slide["kind"] == "figure"]
    assert sorted(json.dumps(deck["figures"][slide["figure"]], separators=(",", ":")) for slide in shown) == sorted(
        on_a_slide(chart) for chart in drawn.values()
    )
    assert sorted(slide["alt"] for slide in shown) == sorted(chart["alt"] for chart in drawn.values())
    title = next(one.title for one in PAGES if one.folder == name)
    assert slides[0]["title"] == title == page.title[0].value
    assert slides[0]["sentence"] in [as_shown(text.value) for text in page.markdown]
    said = tables(page)
    rows = [row for slide in slides if slide["kind"] == "checks" for row in slide["rows"][1:]]
    assert all(row in said for row in rows) and all(len(row) > 1 for row in rows)
    assert [slide["key"] for slide in slides[-2:]] == ["method", "credits"] and slides[-2]["lines"][0][1]
    assert "settings" not in [slide["key"] for slide in slides], "all are the defaults: there is nothing to say"


def test_settings_that_differ_are_told(open_page: Callable[..., AppTest]) -> None:
    page = open_page("one_dimension")
    page.selectbox(key="o-k-family").set_value("matern32").run()
    slide = next(one for one in deck_of(page)["slides"] if one["key"] == "settings")
    [[label, text]] = slide["lines"]
    box = page.selectbox(key="o-k-family")
    assert text == box.format_func("matern32") and label in as_shown(box.label)


def test_slides_of_how_a_result_was_made_are_last_and_titles_tell_no_hand_what_to_do(
    open_page: Callable[..., AppTest],
) -> None:
    titles = [slide["title"] for slide in deck_of(open_page("likelihood_free"))["slides"] if slide["kind"] == "figure"]
    checks = [title.startswith("log q̄") or title.endswith(", θ") for title in titles]
    assert True in checks and checks == sorted(checks) and titles[0] == "Likelihood-free inference"
    titles = [slide["title"] for slide in deck_of(open_page("kernel_bayes"))["slides"]]
    assert "Examples and the observed y" in titles and "drag" not in " ".join(titles)


def test_slides_stay_with_their_page(open_page: Callable[..., AppTest]) -> None:
    page = open_page("sparse_representation")
    page.button(key="lab-present").click().run()
    assert sent(page, "lab_slides") and page.session_state[Key.PRESENTING][0] == "sparse"
    page.session_state[Key.PRESENTING] = ("roll", 1)
    assert not sent(page.run(), "lab_slides")


def test_downscaling_presents_its_own(open_page: Callable[..., AppTest], monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[Any] = []
    monkeypatch.setattr(present, "take_home", lambda: offered.append(present.page_record().presents_itself))
    page = open_page("downscaling", rows="18", columns="18")
    assert offered[-1] is True and [one.label for one in page.button if one.key == "lab-present"] == ["Present"]


def test_an_address_may_ask_for_the_slides_once(open_page: Callable[..., AppTest]) -> None:
    page = open_page("sparse_representation", present="1")
    [shown] = sent(page, "lab_slides")
    assert json.loads(shown["deck"])["slides"][0]["key"] == "question" and not page.exception
    assert present.ASKED not in page.query_params and page.info == []
