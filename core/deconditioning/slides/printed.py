"""The slides as a PowerPoint file with real text and tables."""

import io
from typing import TYPE_CHECKING

from deconditioning.errors import Check, never
from deconditioning.figures.colours import VERDICTS
from deconditioning.slides.presented import Presented, Slide, caption_of, facts_of, sentence_of

if TYPE_CHECKING:
    from pptx.slide import Slide as Page

#: Width and height of a page in inches, 16:9, and the room for its picture (left, top, width, height), beside words or
#: alone.
PAGE = (13.333, 7.5)
_STAGE, _WHOLE = (0.6, 1.25, 7.6, 5.5), (0.6, 1.25, 12.1, 5.9)
_ASIDE = (8.5, 1.6, 4.3, 4.8)
#: Of a slide without one: the room of its sentence, the letters of a line of that and of its facts, inches of names.
_ABOVE, _WIDE, _LONG, _NAMES = (0.6, 1.3, 12.1, 1.0), 86, 112, 2.6
#: Letters of a sentence from which it is written smaller beside a picture.
_MUCH = 240
_INK = "1e2a32"


def powerpoint(presentation: Presented, check: Check = never) -> bytes:
    """A PPTX file of the slides; text and tables stay text and tables."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    deck.slide_width, deck.slide_height = (Inches(size) for size in PAGE)
    for slide in presentation.slides:
        check()
        picture = presentation.picture(slide)
        page = deck.slides.add_slide(deck.slide_layouts[6])
        _write(page, slide["title"], (0.6, 0.4, 12.1, 0.8), 32, bold=True)
        size = 20 if picture is None or len(sentence_of(slide)) < _MUCH else 14
        if sentence_of(slide):
            _write(page, sentence_of(slide), _ABOVE if picture is None else _ASIDE, size)
        if picture is not None:
            _place_picture(page, picture, slide["alt"], _STAGE if sentence_of(slide) else _WHOLE)
        else:
            _words(page, slide)
        if presentation.badge is not None and not slide.get("given") and slide["kind"] != "words":
            colour = VERDICTS[presentation.badge["mark"]][0][1:]
            _write(page, presentation.badge["badge"], (8.5, 6.0, 4.3, 1.0), 14, bold=True, colour=colour)
        page.notes_slide.notes_text_frame.text = caption_of(slide)
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def _write(
    page: "Page",
    text: str,
    box: tuple[float, ...],
    size: float,
    *,
    bold: bool = False,
    colour: str = _INK,
    link: str = "",
) -> None:
    from pptx.dml.color import RGBColor
    from pptx.util import Inches, Pt

    frame = page.shapes.add_textbox(*(Inches(side) for side in box)).text_frame
    frame.word_wrap = True
    run = frame.paragraphs[0].add_run()
    run.text, run.font.size, run.font.bold = text, Pt(size), bold
    run.font.color.rgb = RGBColor.from_string(colour.upper())
    if link:
        run.hyperlink.address = link


def _place_picture(page: "Page", picture: bytes, alt: str, stage: tuple[float, ...]) -> None:
    """The picture as large as its room allows, with its words for those who cannot see it."""
    from pptx.util import Emu, Inches

    left, top, width, height = (Inches(side) for side in stage)
    shape = page.shapes.add_picture(io.BytesIO(picture), left, top)
    scale = min(width / shape.width, height / shape.height)
    wide, high = Emu(int(scale * shape.width)), Emu(int(scale * shape.height))
    shape.width, shape.height = wide, high
    shape.left, shape.top = Emu(left + (width - wide) // 2), Emu(top + (height - high) // 2)
    shape._element._nvXxPr.cNvPr.set("descr", alt)


def _words(page: "Page", slide: Slide) -> None:
    """Shares that intervals held, scores as a table, and facts."""
    from pptx.util import Inches, Pt

    left, _, width, _ = _ABOVE
    top, rows = _below(slide), slide.get("rows") or []
    if len(rows) > 1:
        position = Inches(left), Inches(top), Inches(width), Inches(0.4 * len(rows))
        table = page.shapes.add_table(len(rows), len(rows[0]), *position).table
        for at, cells in enumerate(rows):
            for column, text in enumerate(cells):
                table.cell(at, column).text = text
                table.cell(at, column).text_frame.paragraphs[0].font.size = Pt(14)
        top += 0.4 * len(rows) + 0.4
    facts, size = facts_of(slide), 14 * _shrunk(slide, top)
    for text, link in facts:
        _write(page, text, (left, top, width, 0.6), size, link=link)
        top += _height(text) * size / 14


def _below(slide: Slide) -> float:
    """Where a slide of words goes on below its sentence, in inches from the top."""
    return _ABOVE[1] + 0.4 * (1 + len(sentence_of(slide)) // _WIDE) + 0.35


def _height(text: str) -> float:
    """Of a fact in 14 points, with the gap below it, in inches."""
    return 0.29 * (1 + len(text) // _LONG) + 0.2


def _shrunk(slide: Slide, top: float) -> float:
    """By how much a slide's facts are smaller, so that all of them stand on its page."""
    return min(1.0, (PAGE[1] - 0.3 - top) / max(sum(_height(text) for text, _ in facts_of(slide)), 1e-9))
