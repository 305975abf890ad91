"""A place is written in one way everywhere."""

import re
from pathlib import Path

import pytest

from deconditioning.fields.grids.place import latitude_words, longitude_words, place_words

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ((52.571, -5.03), "52.57° N, 5.03° W"),
        ((-33.9, 151.2), "33.90° S, 151.20° E"),
        ((0.0, 359.0), "0.00°, 1.00° W"),
        ((-0.004, 180.0), "0.00°, 180.00°"),
    ],
)
def test_places(place, said):
    assert place_words(*place) == said


def test_ticks_have_as_many_digits_as_they_need():
    assert [latitude_words(at, None) for at in (54.5, 0.0, -60.0)] == ["54.5° N", "0°", "60° S"]
    assert longitude_words(-180.0, None) == "180°"


def test_no_page_writes_places_itself():
    own = re.compile(r"""° ?[NSEW]\b[^"']*["']""")
    files = [*(ROOT / "pages").rglob("*.py"), *(ROOT / "core" / "deconditioning" / "figures").rglob("*.py")]
    assert [str(file) for file in files if own.search(file.read_text(encoding="utf-8"))] == []
