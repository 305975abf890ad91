"""The slides on paper: PowerPoint with real text and tables, and a PDF of the same pages."""

import io
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from deconditioning.errors import Check, never
from deconditioning.figures.colours import VERDICTS
from deconditioning.slides.presented import Presented, Slide, is_address

if TYPE_CHECKING:
    from pptx.slide import Slide as Page

#: Width and height of a page in inches, 16:9, and the room for its picture (left, top, width, height).
PAGE = (13.333, 7.5)
_STAGE = (0.6, 1.25, 7.6, 5.5)
_ASIDE = (8.5, 1.6, 4.3, 4.8)
#: Of a slide without one: the room of its sentence, the letters of a line of that and of its facts, inches of names.
_ABOVE, WIDE, LONG, NAMES = (0.6, 1.3, 12.1, 1.0), 86, 112, 2.6
#: Letters of a sentence from which it is written smaller beside a picture.
_MUCH = 240
INK = "1e2a32"
#: Dots an inch of a page.
DPI = 220


def powerpoint(told: Presented, check: Check = never) -> bytes:
    """A PPTX file of the slides; text and tables stay text and tables."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    deck.slide_width, deck.slide_height = (Inches(size) for size in PAGE)
    for slide in told.slides:
        check()
        picture = told.picture(slide)
        page = deck.slides.add_slide(deck.slide_layouts[6])
        _write(page, slide["title"], (0.6, 0.4, 12.1, 0.8), 32, bold=True)
        size = 20 if picture is None or len(_sentence(slide)) < _MUCH else 14
        _write(page, _sentence(slide), _ABOVE if picture is None else _ASIDE, size)
        if picture is not None:
            _place(page, picture, slide["alt"])
        else:
            _words(page, slide)
        if told.badge is not None:
            colour = VERDICTS[told.badge["mark"]][0][1:]
            _write(page, told.badge["badge"], (8.5, 6.0, 4.3, 1.0), 14, bold=True, colour=colour)
        page.notes_slide.notes_text_frame.text = f"{slide['title']}. {_sentence(slide)}"
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
    colour: str = INK,
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


def _place(page: "Page", picture: bytes, alt: str) -> None:
    """The picture as large as its room allows, with its words for those who cannot see it."""
    from pptx.util import Emu, Inches

    left, top, width, height = (Inches(side) for side in _STAGE)
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
        place = Inches(left), Inches(top), Inches(width), Inches(0.4 * len(rows))
        table = page.shapes.add_table(len(rows), len(rows[0]), *place).table
        for at, cells in enumerate(rows):
            for column, text in enumerate(cells):
                table.cell(at, column).text = text
                table.cell(at, column).text_frame.paragraphs[0].font.size = Pt(14)
        top += 0.4 * len(rows) + 0.4
    facts, size = _facts(slide), 14 * _shrunk(slide, top)
    for text, link in facts:
        _write(page, text, (left, top, width, 0.6), size, link=link)
        top += _height(text) * size / 14


def _below(slide: Slide) -> float:
    """Where a slide of words goes on below its sentence, in inches from the top."""
    return _ABOVE[1] + 0.4 * (1 + len(_sentence(slide)) // WIDE) + 0.35


def _height(text: str) -> float:
    """Of a fact in 14 points, with the gap below it, in inches."""
    return 0.29 * (1 + len(text) // LONG) + 0.2


def _shrunk(slide: Slide, top: float) -> float:
    """By how much a slide's facts are smaller, so that all of them stand on its page."""
    return min(1.0, (PAGE[1] - 0.3 - top) / max(sum(_height(text) for text, _ in _facts(slide)), 1e-9))


def _sentence(slide: Slide) -> str:
    """What a slide says where nothing moves."""
    return str(slide.get("printed") or slide["sentence"])


def _facts(slide: Slide) -> list[tuple[str, str]]:
    """Lines of a slide, each with the address that it leads to, or ""."""
    held = [f"{promised} % intervals contain {share} %" for promised, share in slide.get("levels", [])]
    facts = [(f"{name}: {text}", text if is_address(text) else "") for name, text in slide.get("lines", [])]
    return [*([("; ".join(held), "")] if held else []), *facts]


def report(told: Presented, check: Check = never) -> bytes:
    """A PDF of the same pages."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with PdfPages(stream, metadata={"Title": told.title}) as pages:
        for slide in told.slides:
            check()
            picture, figure = told.picture(slide), Figure(figsize=PAGE)
            _page(partial(_text, figure), slide, told, pictured=picture is not None)
            if picture is not None:
                _image(figure, picture)
            pages.savefig(figure, dpi=DPI)
    return stream.getvalue()


def _page(write: Callable[..., None], slide: Slide, told: Presented, *, pictured: bool) -> None:
    """Title, sentence, facts and verdict of a page."""
    write(0.6, 0.5, slide["title"], 28, 60, weight="bold")
    write(12.75, 0.62, told.title, 11, 90, ha="right")
    if pictured:
        write(_ASIDE[0], _ASIDE[1], _sentence(slide), *((19, 32) if len(_sentence(slide)) < _MUCH else (14, 44)))
    else:
        write(_ABOVE[0], _ABOVE[1], _sentence(slide), 19, WIDE)
    if told.badge is not None:
        write(_ASIDE[0], 6.0, told.badge["badge"], 13, 42, weight="bold", color=VERDICTS[told.badge["mark"]][0])
    top = _table(write, slide.get("rows") or [], _below(slide))
    size = 14 * _shrunk(slide, top)
    for text, link in _facts(slide):
        write(_ABOVE[0], top, text, size, int(LONG * 14 / size), url=link or None)
        top += _height(text) * size / 14


def _table(write: Callable[..., None], rows: list[list[str]], top: float) -> float:
    """A table from so many inches below the upper edge on; returns where it ends."""
    step = min(1.9, (_ABOVE[2] - NAMES) / max(len(rows[0]) - 1, 1)) if rows else 1.0
    letters = int(9 * step)
    for cells in rows:
        for column, text in enumerate(cells):
            x = _ABOVE[0] + (NAMES + step * column if column else 0)
            write(x, top, text, 12, letters if column else 40, ha="right" if column else "left")
        top += 0.18 + 0.23 * max(len(_wrapped(text, letters)) for text in ("", *cells[1:]))
    return top + 0.2


def _wrapped(text: str, width: int) -> list[str]:
    """The lines of a text; a per cent sign stays with its number."""
    import textwrap

    return textwrap.wrap(text.replace(" %", "\u00a0%"), width) or [""]


def _text(figure: Any, x: float, y: float, text: str, size: float, width: int, **more: Any) -> None:
    """Text from a place in inches, from the upper left."""
    look = {"va": "top", "color": f"#{INK}", "linespacing": 1.35, "parse_math": False} | more
    figure.text(x / PAGE[0], 1 - y / PAGE[1], "\n".join(_wrapped(text, width)), fontsize=size, **look)


def _image(figure: Any, picture: bytes) -> None:
    from matplotlib.image import imread

    left, top, width, height = _STAGE
    axes = figure.add_axes((left / PAGE[0], 1 - (top + height) / PAGE[1], width / PAGE[0], height / PAGE[1]))
    axes.set_axis_off()
    axes.imshow(imread(io.BytesIO(picture)), interpolation="antialiased")
