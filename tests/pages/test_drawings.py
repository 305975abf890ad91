"""Drawings of words: for whom they stand, and what they show."""

import re
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest

from deconditioning.figures.colours import HUES
from deconditioning.teaching.tasks import EXERCISES
from pages.kit.layout.drawings.svg import HEIGHT, WIDTH
from pages.kit.layout.drawings.words import DRAWN
from pages.kit.layout.glossary import words
from tests.pages.conftest import ROOT


def shapes(image: str) -> list[ElementTree.Element]:
    """The shapes of the SVG in an image's address."""
    return list(ElementTree.fromstring(unquote(re.search(r'src="data:image/svg\+xml,([^"]+)"', image)[1])))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("word", DRAWN)
def test_a_drawing_is_valid_has_the_page_s_colours_and_says_what_it_shows(word: str, dark: bool) -> None:
    image = DRAWN[word]().image(dark)
    assert len(re.search(r'alt="([^"]*)"', image)[1]) > 10
    found = {each.get(name) for each in shapes(image) for name in ("fill", "stroke")} - {None, "none"}
    assert found <= {pair[dark] for pair in HUES.values()}
    numbers = [float(part) for each in shapes(image) for part in re.findall(r"-?[\d.]+", each.get("d") or "")]
    assert all(-1 <= value <= max(WIDTH, HEIGHT) + 1 for value in numbers)


def test_all_but_the_roll_are_words_of_the_glossary_and_every_exercise_has_one() -> None:
    assert set(DRAWN) - {word.name for word in words()} == {"Swiss roll"}
    page = (ROOT / "pages" / "exercises" / "page.py").read_text(encoding="utf-8")
    drawn = dict(re.findall(r'"([a-z]+)": "([^"]+)"', page[page.index("_DRAWINGS =") : page.index("def main")]))
    assert list(drawn) == [exercise.key for exercise in EXERCISES] and set(drawn.values()) <= set(DRAWN)


def test_one_of_twenty_intervals_misses_the_truth() -> None:
    truth, *intervals = shapes(DRAWN["coverage"]().image(False))
    level = float(truth.get("d").split()[1].split("L")[0])
    ends = [[float(part) for part in re.findall(r"[\d.]+", each.get("d"))][1::2] for each in intervals]
    missed = [not min(pair) < level < max(pair) for pair in ends]
    assert len(missed) == 20 and sum(missed) == 1
    assert [each.get("stroke") == HUES["rust"][0] for each in intervals] == missed
