"""Absurd addresses: every page, every control that stands in the address, every kind of value that is none."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from pages.kit.controls.address import LONGEST
from pages.kit.pages import PAGES, with_current_keys
from pages.likelihood_free.controls import SLIDERS
from tests.pages.reading import as_shown, elements

Opens = Callable[..., AppTest]
ROOT = Path(__file__).resolve().parents[2]
ABSURD = ("inf", "-inf", "nan", "1e400", str(2**70), "", "abc", "9" * (LONGEST + 1), ["30", "20"])
#: Values that no control takes, and none is silent about; the others.
REFUSED = ("inf", "nan", "9" * (LONGEST + 1))
CLIPPED = tuple(value for value in ABSURD if value not in REFUSED)
#: Page → view → keys of its controls in the versions 0.1.0 and 0.2.0, without those that come with an exact picture.
EARLIER = json.loads(Path(__file__).with_name("addresses.json").read_text())
#: These follow what was learned, and leave an address aside without a word.
FOLLOWING = set(SLIDERS)


def controls(page: AppTest) -> dict[str, Any]:
    """The page's controls that stand in the address, by key, with what Streamlit sends for them."""
    return {proto.query_param_key: proto for proto in elements(page._tree) if getattr(proto, "query_param_key", "")}


def values(page: AppTest, keys: Any) -> dict[str, Any]:
    return {key: page.session_state[key] for key in keys}


def complaints(page: AppTest) -> list[str]:
    return [box.value for box in (*page.exception, *page.error)]


def broken(page: AppTest) -> list[str]:
    """What no sentence of ours says; clipped numbers, such as cells of 200 × 200 pixels, may be refused in one."""
    return [text for text in complaints(page) if "This app has encountered" in text] + [e.value for e in page.exception]


def said(page: AppTest) -> str:
    return as_shown(" ".join(box.value for box in page.info if "The address contains" in box.value))


def views(page: AppTest) -> list[dict[str, str]]:
    """Addresses of what a page shows besides its first view: one for every other choice of its buttons."""
    buttons = {key: one for key, one in controls(page).items() if one.DESCRIPTOR.name == "ButtonGroup"}
    return [{key: option.content} for key, one in buttons.items() for option in one.options if option.content]


def earlier(name: str, **view: str) -> set[str]:
    """Keys that the page had in earlier versions, as it calls them now."""
    (page,) = (page.url_path for page in PAGES if page.folder == name)
    kept = EARLIER.get(page, {}).get("&".join(f"{key}={value}" for key, value in view.items()), [])
    return set(with_current_keys(page, dict.fromkeys(kept)))


def test_every_page_of_earlier_versions_is_at_its_address() -> None:
    assert EARLIER.keys() <= {page.url_path for page in PAGES}


def spread(keys: Any, values: tuple[Any, ...], first: int = 0) -> dict[str, Any]:
    """One of the values for each key, in turn: the many controls of a kind on all pages get every one of them."""
    return {key: values[(first + place) % len(values)] for place, key in enumerate(keys)}


@pytest.mark.parametrize("name", [page.folder for page in PAGES])
def test_no_value_breaks_a_page(name: str, open_page: Opens) -> None:
    usual = open_page(name)
    keys = controls(usual)
    assert earlier(name) <= keys.keys()
    refused = spread(keys, REFUSED)
    page = open_page(name, **refused)
    assert broken(page) == [] and values(page, keys) == values(usual, keys)
    told = {key: value for key, value in refused.items() if key not in FOLLOWING}
    assert all(f"{key}={value[:40]}" in said(page) for key, value in told.items()), said(page)
    absurd = spread(keys, CLIPPED, first=len(name))
    assert broken(open_page(name, **absurd)) == [], absurd
    tried = set(keys)
    for address in views(usual):
        view = open_page(name, **address)
        assert earlier(name, **address) <= controls(view).keys()
        if not controls(view).keys() <= tried:  # controls of this view alone
            tried |= controls(view).keys()
            absurd = spread((key for key in controls(view) if key not in address), ABSURD)
            assert broken(open_page(name, **absurd, **address)) == [], absurd


def test_what_is_not_used_is_said_until_it_is_changed(open_page: Opens) -> None:
    page = open_page("swiss_roll", **{"r-seed": "inf", "r-points": "1e9", "r-noise": "nan", "r-bags": "30"})
    assert said(page) == (
        "The address contains r-seed=inf, which is not a whole number. The page uses 0. The address contains "
        "r-points=1e9, which is outside the limits. The page uses 5000. The address contains r-noise=nan, which is not "
        "a finite number. The page uses 0.05."
    )
    assert page.session_state["r-bags"] == 30
    page.run()
    assert "r-points=1e9" in said(page)
    page.slider(key="r-points").set_value(500).run()
    assert "r-points" not in said(page) and "r-seed=inf" in said(page)
    page.slider(key="r-noise").set_value(0.5)
    page.number_input(key="r-seed").set_value(7).run()
    assert said(page) == ""


def test_a_good_address_is_taken_without_a_word(open_page: Opens) -> None:
    page = open_page("swiss_roll", **{"r-seed": "7", "r-noise": "0.05", "r-match": "indirect"})
    assert said(page) == "" and page.session_state["r-seed"] == 7 and page.session_state["r-match"] == "indirect"


def test_keys_of_earlier_versions_are_redirected_with_a_sentence(
    open_page: Opens, monkeypatch: pytest.MonkeyPatch
) -> None:
    renamed = {"r-old": "r-seed", "r-older": "r-noise", "r-way": "r-match"}
    listed = tuple(replace(one, renamed=renamed) if one.folder == "swiss_roll" else one for one in PAGES)
    monkeypatch.setattr("pages.kit.pages.PAGES", listed)
    page = open_page("swiss_roll", **{"r-old": "7", "r-older": "1e9", "r-way": "indirect", "r-bags": "30"})
    told = as_shown(" ".join(box.value for box in page.info))
    assert values(page, ("r-seed", "r-match", "r-bags")) == {"r-seed": 7, "r-match": "indirect", "r-bags": 30}
    assert "`r-old` of the address is now called `r-seed`" in told and "r-bags" not in told
    assert "called `r-noise`. The address contains r-noise=1e9, which is outside the limits" in told
    assert {"r-old", "r-older", "r-way"}.isdisjoint(page.query_params) and page.query_params["r-seed"] == "7"
    page.number_input(key="r-seed").set_value(8).run()
    told = as_shown(" ".join(box.value for box in page.info))
    assert "`r-old`" not in told and "`r-way`" in told
    both = open_page("swiss_roll", **{"r-old": "7", "r-seed": "9"})
    assert both.session_state["r-seed"] == 9
    history = with_current_keys("roll", {"r-old": ["7"], "r-bags": ["30"]})
    assert history == {"r-seed": ["7"], "r-bags": ["30"]} and with_current_keys("line", {"r-old": 1}) == {"r-old": 1}


def test_a_bare_page_survives_too(open_page: Opens) -> None:
    page = AppTest.from_file(str(ROOT / "pages" / "swiss_roll" / "page.py"), default_timeout=60)
    page.query_params["r-seed"] = "inf"
    page.run()
    assert not page.exception and page.number_input(key="r-seed").value == 0


def test_words_of_earlier_addresses_still_choose_their_options(open_page: Opens) -> None:
    """What the options of page Downscaling were called before their lists began with the value of the default."""
    asked = {
        "local": ("as the kernel has it", "plain"), "slopes": ("vary from place to place", "vary"),
        "hold": ("σ² and ς² are learned", "none"), "every_pixel": ("over the points above", "few"),
        "place": ("Matérn 3/2", "matern32"), "optimiser": ("adam", "adam"),
        "warp": ("The one that is best one scale up", "auto"),
    }  # fmt: skip
    page = open_page("downscaling", level="All", **{key: word for key, (word, _) in asked.items()})
    assert not complaints(page) and not said(page)
    assert values(page, asked) == {key: value for key, (_, value) in asked.items()}
    options = {box.key: box.options[0] for box in page.selectbox}
    assert [options[key] for key in ("local", "slopes", "place")] == [
        "varies in space", "the same everywhere", "Powered exponential",
    ]  # fmt: skip
    assert all(len(box.options) == len(set(box.options)) for box in page.selectbox)
    again = {"local": "varies from place to place (default)", "slopes": "the same everywhere (default)",
             "hold": "σ² and ς² are fixed (default)", "place": "Powered exponential (default)"}  # fmt: skip
    page = open_page("downscaling", level="All", **again)
    assert not complaints(page) and not said(page) and values(page, again) == dict.fromkeys(again, "own")
    few = {box.key: max(map(len, box.options)) for box in page.selectbox}
    assert {key: few[key] for key in ("local", "slopes", "hold", "every_pixel")} == {
        "local": 20, "slopes": 19, "hold": 21, "every_pixel": 21,
    }, "a box shows 23 letters"  # fmt: skip
    labels = {box.label for box in page.selectbox}
    assert {"Standard deviation of the map", "Location is summed", "Noise variances"} <= labels
    for prefix, name in (("o-opt", "one_dimension"), ("r-opt", "swiss_roll")):
        assert open_page(name, level="All", **{prefix: "adam"}).session_state[prefix] == "adam"
