"""Words of others: what is escaped, what stays, what is left out. How it looks: tests/browser/test_words.py."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deconditioning.figures.style import literal
from pages.kit.layout.escaping import MOST_CHARACTERS, cells, plain, sentence_of
from tests.pages.reading import as_shown


@given(st.text(alphabet=st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
def test_a_reader_sees_the_text_itself(text: str) -> None:
    assert as_shown(plain(text)) == " ".join(text.split())


@pytest.mark.parametrize("text", ["", "Air temperature (K), 12:30", "there is no run 'x'; choose one!", "5 % of 3.2 m"])
def test_ordinary_words_stay_as_they_are(text: str) -> None:
    assert plain(text) == text


@pytest.mark.parametrize("mark", ["![", "<img", "$x$", ":red[", "://", ":material", "**", "__", "`", "&lt;", "~"])
def test_no_mark_is_left_without_its_escape(mark: str) -> None:
    assert not re.search(r"(?<!\\)" + re.escape(mark), plain(f"a {mark} b {mark}"))


def test_lines_controls_and_turned_text_go() -> None:
    assert plain("one\n\n# two\x00\u202ethree\t4") == "one # twothree 4"
    assert plain("\n- x") == "\\- x"


def test_long_text_is_cut() -> None:
    assert len(plain("a" * 10**6)) == MOST_CHARACTERS
    assert plain("a" * 10**6).endswith("…")


def test_plotly_gets_neither_tags_nor_templates() -> None:
    assert literal("<a href='x'>%{z} & co</a>") == "&lt;a href='x'&gt;%\u2060{z} &amp; co&lt;/a&gt;"


def test_names_in_a_sentence_stand_as_code() -> None:
    assert sentence_of("`a_b` has _7_ values; `c") == "`a_b` has \\_7\\_ values; \\`c"
    assert sentence_of("``x`` - `![p](u)`") == "\\``x`` - `!\\[p\\](u)\\`"


def test_tables_that_are_saved_as_csv_hold_no_formula() -> None:
    rows = [{"=1": "=cmd()", "Tags": ["@a", "b"], "RMSE": -0.5, "Units": "-", "None": None, "ok": "−1"}]
    assert cells(rows) == [
        {"'=1": "'=cmd()", "Tags": ["'@a", "b"], "RMSE": -0.5, "Units": "-", "None": None, "ok": "−1"}
    ]


def test_tables_with_words_of_others_go_through_cells() -> None:
    """Every data frame of pages on which names, tags, settings or units of others stand."""
    root = Path(__file__).resolve().parents[2] / "pages"
    for path in [*(root / "runs").glob("*.py"), root / "downscaling/numbers.py"]:
        for call in re.findall(r"st\.dataframe\(\s*(\w+)", path.read_text()):
            assert call == "cells", path
