"""The slides on paper: PowerPoint with real text and tables, and a PDF of the same pages."""

import io
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from core.errors import Check, never
from core.figures.colours import VERDICTS
from core.figures.panel import Panel
from core.figures.publication import publication_figure
from core.slides.deck import Shown, downscaling_slides, fields_of, is_address, trust_badge

if TYPE_CHECKING:
    from pptx.slide import Slide

#: Width and height of a page in inches, 16:9, and the room for its picture (left, top, width, height).
PAGE = (13.333, 7.5)
STAGE = (0.6, 1.25, 7.6, 5.5)
ASIDE = (8.5, 1.6, 4.3, 4.8)
INK = "1e2a32"
DPI = 220


def pictures(shown: Shown, check: Check = never) -> list[tuple[dict[str, Any], bytes | None]]:
    """Every slide with the PNG of its maps: those of a divider side by side; None for slides of words."""
    found = []
    for slide in downscaling_slides(shown):
        check()
        panels = [shown.panel(key) for key in fields_of(slide)]
        found.append((slide, _maps([panel for panel in panels if panel is not None], shown) if panels else None))
    return found


def _maps(panels: list[Panel], shown: Shown) -> bytes:
    return publication_figure(panels, shown.problem.grid, dpi=DPI)


def powerpoint(shown: Shown, check: Check = never) -> bytes:
    """A PPTX file of the slides; text and tables stay text and tables."""
    from pptx import Presentation
    from pptx.util import Inches

    deck = Presentation()
    deck.slide_width, deck.slide_height = (Inches(size) for size in PAGE)
    for slide, picture in pictures(shown, check):
        page = deck.slides.add_slide(deck.slide_layouts[6])
        _write(page, slide["title"], (0.6, 0.4, 12.1, 0.8), 32, bold=True)
        _write(page, _sentence(slide), ASIDE, 20)
        if picture is not None:
            _place(page, picture, slide["alt"])
        else:
            _words(page, slide)
        badge = trust_badge(shown)
        _write(page, badge["badge"], (8.5, 6.0, 4.3, 1.0), 14, bold=True, colour=VERDICTS[badge["mark"]][0][1:])
        page.notes_slide.notes_text_frame.text = f"{slide['title']}. {_sentence(slide)}"
    stream = io.BytesIO()
    deck.save(stream)
    return stream.getvalue()


def _write(
    page: "Slide",
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


def _place(page: "Slide", picture: bytes, alt: str) -> None:
    """The picture as large as its room allows, with its words for those who cannot see it."""
    from pptx.util import Emu, Inches

    left, top, width, height = (Inches(side) for side in STAGE)
    shape = page.shapes.add_picture(io.BytesIO(picture), left, top)
    scale = min(width / shape.width, height / shape.height)
    wide, high = Emu(int(scale * shape.width)), Emu(int(scale * shape.height))
    shape.width, shape.height = wide, high
    shape.left, shape.top = Emu(left + (width - wide) // 2), Emu(top + (height - high) // 2)
    shape._element._nvXxPr.cNvPr.set("descr", alt)


def _words(page: "Slide", slide: dict[str, Any]) -> None:
    """Shares that intervals held, scores as a table, and facts."""
    from pptx.util import Inches, Pt

    left, top, width, _ = STAGE
    rows = slide.get("rows") or []
    if len(rows) > 1:
        size = Inches(left), Inches(top), Inches(width), Inches(0.4 * len(rows))
        table = page.shapes.add_table(len(rows), len(rows[0]), *size).table
        for at, cells in enumerate(rows):
            for column, text in enumerate(cells):
                table.cell(at, column).text = text
                table.cell(at, column).text_frame.paragraphs[0].font.size = Pt(14)
        top += 0.4 * len(rows) + 0.4
    for text, link in _facts(slide):
        _write(page, text, (left, top, width, 0.6), 14, link=link)
        top += 0.28 * (1 + len(text) // 80) + 0.15


def _sentence(slide: dict[str, Any]) -> str:
    """What a slide says where nothing moves."""
    return str(slide.get("printed") or slide["sentence"])


def _facts(slide: dict[str, Any]) -> list[tuple[str, str]]:
    """Lines of a slide, each with the address that it leads to, or ""."""
    held = [f"{promised} % intervals hold {share} %" for promised, share in slide.get("levels", [])]
    facts = [(f"{name}: {text}", text if is_address(text) else "") for name, text in slide.get("lines", [])]
    return [*([("; ".join(held), "")] if held else []), *facts]


def report(shown: Shown, check: Check = never) -> bytes:
    """A PDF of the same pages."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    stream = io.BytesIO()
    with PdfPages(stream, metadata={"Title": shown.title}) as pages:
        for slide, picture in pictures(shown, check):
            figure = Figure(figsize=PAGE)
            _page(partial(_text, figure), slide, shown)
            if picture is not None:
                _image(figure, picture)
            pages.savefig(figure, dpi=DPI)
    return stream.getvalue()


def _page(write: Callable[..., None], slide: dict[str, Any], shown: Shown) -> None:
    """Title, sentence, facts and verdict of a page."""
    write(0.6, 0.5, slide["title"], 28, 60, weight="bold")
    write(12.75, 0.62, shown.title, 11, 90, ha="right")
    write(ASIDE[0], ASIDE[1], _sentence(slide), 19, 34)
    badge = trust_badge(shown)
    write(ASIDE[0], 6.0, badge["badge"], 13, 42, weight="bold", color=VERDICTS[badge["mark"]][0])
    top = STAGE[1] + 0.2
    for cells in slide.get("rows") or []:
        for column, text in enumerate(cells):
            x = STAGE[0] if not column else STAGE[0] + 2.2 + 1.75 * column
            write(x, top, text, 14, 40, ha="left" if not column else "right")
        top += 0.42
    for text, link in _facts(slide):
        write(STAGE[0], top + 0.2, text, 14, 68, url=link or None)
        top += 0.29 * (1 + len(text) // 68) + 0.25


def _text(figure: Any, x: float, y: float, text: str, size: float, width: int, **more: Any) -> None:
    """Text from a place in inches, from the upper left."""
    import textwrap

    wrapped = "\n".join(textwrap.wrap(text.replace(" %", "\u00a0%"), width))
    look = {"va": "top", "color": f"#{INK}", "linespacing": 1.35, "parse_math": False} | more
    figure.text(x / PAGE[0], 1 - y / PAGE[1], wrapped, fontsize=size, **look)


def _image(figure: Any, picture: bytes) -> None:
    from matplotlib.image import imread

    left, top, width, height = STAGE
    axes = figure.add_axes((left / PAGE[0], 1 - (top + height) / PAGE[1], width / PAGE[0], height / PAGE[1]))
    axes.set_axis_off()
    axes.imshow(imread(io.BytesIO(picture)), interpolation="antialiased")
