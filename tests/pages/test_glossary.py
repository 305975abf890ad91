"""Page Glossary and the words that it explains."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages.kit.layout.glossary import Word, words
from pages.kit.pages import PAGES

ASKED = """bag mediator covariate conditional·mean·embedding deconditional·mean·operator DMO evidence λ σ² ς²
lengthscale kernel coverage CRPS PIT κ RKHS posterior prior inducing·point kernel·Bayes'·rule filter herding
leave-one-out one·scale·up re-aggregation explained·share area-to-point shrinkage S-CMP CMP bag·GP ABC
effective·sample·size"""


def found(text: str) -> set[str]:
    """Names of the words whose form is the whole text."""
    return {word.name for word in words() if re.fullmatch(word.pattern, text)}


def test_a_letter_of_several_meanings_is_found_and_not_marked() -> None:
    """κ is the local scale on page Downscaling and a parameter of the unscented filter on page Filtering."""
    (word,) = (word for word in words() if word.name == "κ (local scale)")
    assert not re.fullmatch(word.marked, "κ") and re.fullmatch(word.marked, "local scale")
    assert all(each.marked == each.pattern for each in words() if each is not word)


def entries(page: AppTest) -> list[str]:
    """The names that the page lists."""
    return [text.value.split("**")[1] for text in page.markdown if text.value.startswith("**")]


@pytest.mark.parametrize("asked", [text.replace("·", " ") for text in ASKED.split()])
def test_what_a_student_may_not_know_is_one_word_of_it(asked: str) -> None:
    assert len(found(asked)) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [("Evidence", "evidence"), ("covariates", "covariate"), ("GPs", "Gaussian process"), ("nλ", "λ"),
     ("Left-out", "leave-one-out"), ("Kernel Bayes' rule", "kernel Bayes' rule"), ("left out", "leave-one-out")],
)  # fmt: skip
def test_a_capital_letter_and_a_plural_are_the_same_word(text: str, name: str) -> None:
    assert found(text) == {name}


@pytest.mark.parametrize("text", ["pit", "abc", "evidenced", "crps", "Λ", "bagpipe", "Σ²"])
def test_other_words_are_not(text: str) -> None:
    assert found(text) == set()


def test_no_form_belongs_to_two_words_and_every_word_leads_to_a_page() -> None:
    counted = Counter(form.lower() for word in words() for form in word.forms or (word.name,))
    assert max(counted.values()) == 1
    assert {word.page for word in words()} <= {page.folder for page in PAGES}
    assert all(word.says.endswith(".") and len(word.says) < 260 for word in words())
    assert not [word.name for word in words() if word.says.count("$")], "what is said holds no symbols of TeX"
    assert isinstance(words()[0], Word)


def test_the_component_holds_every_word_once() -> None:
    text = (Path(__file__).resolve().parents[2] / "pages" / "kit" / "layout" / "glossary.js").read_text(
        encoding="utf-8"
    )
    assert text.count("[/* words */]") == 1


def test_the_page_lists_all_words_and_finds_one(open_page: Callable[..., AppTest]) -> None:
    page = open_page("glossary")
    assert not page.exception and entries(page) == [word.name for word in words()]
    assert entries(open_page("glossary", **{"g-word": "marginal likelihood"}))[0] == "evidence"
    assert set(entries(open_page("glossary", **{"g-page": "Filtering"}))) == {
        word.name for word in words() if word.page == "filtering"
    }
    page = page.text_input(key="g-word").set_value("zebra").run()
    assert not entries(page) and page.info[0].value == "The glossary has no such word."
    page.button[0].click().run()
    assert entries(page) == [word.name for word in words()]


def test_a_word_leads_to_the_words_of_its_meaning_and_to_where_it_is_tried(open_page: Callable[..., AppTest]) -> None:
    page = open_page("glossary", **{"g-word": "bag GP"})
    word = next(word for word in words() if word.name == "bag GP")
    assert [other.name for other in word.mentions()] == ["bag", "Gaussian process", "mediator"]
    assert f"*Try it:* {word.see}" in [text.value for text in page.markdown]
    page.button(key="lab-see-bag GP-mediator").click().run()
    assert entries(page)[0] == "mediator" and page.text_input(key="g-word").value == "mediator"
    link = page.get("page_link")[0].proto
    assert link.label == "Open page Downscaling" and link.query_string == "data=atmosphere-small"


def test_every_word_says_what_to_try() -> None:
    for word in words():
        assert word.see.endswith(".") and len(word.see) < 140 and "$" not in word.see, word.name
        assert set(word.query) <= {"data", "withhold"}, word.name
