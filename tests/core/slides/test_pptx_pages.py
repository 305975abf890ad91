"""The slides of a PPTX file, drawn as pictures: nothing leaves its slide, nothing lies over something else."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from deconditioning.slides.deck import Shown
from deconditioning.slides.deck import presented as of_maps
from deconditioning.slides.exhibit import presented as of_figures
from deconditioning.slides.presented import Presented
from deconditioning.slides.printed import PAGE, powerpoint
from tests.core.slides.pptx_pages import Piece, drawn, overlapping
from tests.core.slides.test_deck import shown as shown
from tests.core.slides.test_exhibit import exhibit

pytestmark = pytest.mark.usefixtures("coarse_print")

LONG = "Surface air temperature at two metres above the ground, averaged over the hour before, on a rotated grid"


def pages_of(told: Presented) -> list[tuple[Image.Image, list[Piece]]]:
    result = list(drawn(powerpoint(told)))
    assert len(result) == len(told.slides)
    for picture, pieces in result:
        assert np.asarray(picture).std() > 3, "something is drawn"
        assert {"text"} <= {piece.kind for piece in pieces}
    return result


def complaints(told: Presented, pages: list[tuple[Image.Image, list[Piece]]] | None = None) -> list[str]:
    """What leaves its slide, and what lies over something else."""
    found = []
    for slide, (_, pieces) in zip(told.slides, pages or pages_of(told), strict=True):
        for piece in pieces:
            left, top, right, bottom = piece.box
            if min(left, top) < 0 or right > PAGE[0] or bottom > PAGE[1]:
                found.append(f"{slide['key']}: {piece} leaves the slide")
        found += [f"{slide['key']}: {one} lies over {other}" for one, other in overlapping(pieces)]
    return found


def test_the_slides_of_maps(shown: Shown) -> None:
    told = of_maps(replace(shown, address="http://localhost:8501/downscale?l0=0.5"))
    pages = pages_of(told)
    assert complaints(told, pages) == []
    maps = [slide["key"] for slide in told.slides if slide["kind"] == "map"]
    pictures = [slide["key"] for slide, (_, pieces) in zip(told.slides, pages, strict=True)
                if any(piece.kind == "picture" for piece in pieces)]  # fmt: skip
    assert pictures == maps and len(maps) == 6


def test_the_slides_of_maps_with_long_names_and_sentences(shown: Shown) -> None:
    problem = replace(shown.problem, long_name=LONG, source=3 * LONG, units="kg m-2 s-1")
    told = of_maps(replace(shown, problem=problem, held=None, unchecked=f"{LONG}: nothing could be checked.",
                           checked=2 * LONG))  # fmt: skip
    assert complaints(told) == []


def test_the_slides_of_figures() -> None:
    assert complaints(of_figures(exhibit(), take_away=True)) == []


def test_the_pictures_would_show_what_lies_over_something() -> None:
    one, other = Piece("text", (0, 0, 2, 1), "a"), Piece("text", (1, 0.5, 3, 2), "b")
    beside = Piece("text", (2, 0, 3, 0.5), "c")
    assert overlapping([one, other, beside]) == [(one, other)]
