"""Draws the slides of a PPTX file as pictures from what python-pptx reads of it: texts, tables and pictures."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from pptx import Presentation

from deconditioning.figures.printed.sheet import wrapped

#: Pixels per inch of the pictures; English metric units in an inch; points in an inch.
DPI, EMU, POINTS = 60, 914_400, 72
#: Width of Calibri, in which offices show these files, as a share of that of the typeface that is measured here;
#: inset of a text box in inches; distance of lines in sizes.
NARROWER, INSET, SPACING = 0.88, 0.1, 1.2
Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Piece:
    """What stands on a slide: its kind ("text", "table" or "picture"), and left, top, right, bottom of its ink in
    inches."""

    kind: str
    box: Box
    words: str


def drawn(data: bytes) -> Iterator[tuple[Image.Image, list[Piece]]]:
    """A picture of every slide, and what stands on it."""
    file = Presentation(io.BytesIO(data))
    size = round(DPI * file.slide_width / EMU), round(DPI * file.slide_height / EMU)
    for page in file.slides:
        picture = Image.new("RGB", size, "white")
        yield picture, [_piece(shape, picture) for shape in page.shapes]


def _piece(shape: Any, picture: Image.Image) -> Piece:
    left, top, width, height = (side / EMU for side in (shape.left, shape.top, shape.width, shape.height))
    pen = ImageDraw.Draw(picture)
    if shape.shape_type == 13:
        with Image.open(io.BytesIO(shape.image.blob)) as image:
            small = image.convert("RGB").resize((round(DPI * width), round(DPI * height)))
        picture.paste(small, (round(DPI * left), round(DPI * top)))
        return Piece("picture", (left, top, left + width, top + height), "")
    if shape.has_table:
        return Piece("table", (left, top, left + width, top + _table(pen, shape.table, left, top)), "")
    run = shape.text_frame.paragraphs[0].runs[0]
    tall = _text(pen, run, left, top, width)
    return Piece("text", (left, top, left + width, top + tall), run.text)


def _text(pen: ImageDraw.ImageDraw, run: Any, left: float, top: float, width: float) -> float:
    """Write the lines of a text box; the height that they take."""
    size = run.font.size.pt
    lines = wrapped(run.text, NARROWER * size, (width - 2 * INSET) * POINTS, bool(run.font.bold))
    font = ImageFont.load_default(size * DPI / POINTS * NARROWER)
    for number, line in enumerate(lines):
        at = DPI * (left + INSET), DPI * (top + INSET / 2 + number * SPACING * size / POINTS)
        pen.text(at, line, fill=f"#{run.font.color.rgb}", font=font)
    return INSET + len(lines) * SPACING * size / POINTS


def _table(pen: ImageDraw.ImageDraw, table: Any, left: float, top: float) -> float:
    """Write a table, its rows as tall as their longest cell; the height that it takes."""
    y = top
    for row in table.rows:
        x, tall = left, row.height / EMU
        for cell, column in zip(row.cells, table.columns, strict=True):
            runs, width = cell.text_frame.paragraphs[0].runs, column.width / EMU
            tall = max([tall, *(_cell(pen, run, x, y, width) for run in runs)])
            x += width
        y += tall
        pen.line([DPI * left, DPI * y, DPI * x, DPI * y], fill="grey")
    return y - top


def _cell(pen: ImageDraw.ImageDraw, run: Any, x: float, y: float, width: float) -> float:
    size = 14.0
    lines = wrapped(run.text, NARROWER * size, (width - 2 * INSET) * POINTS)
    font = ImageFont.load_default(size * DPI / POINTS * NARROWER)
    pen.text((DPI * (x + INSET), DPI * (y + INSET / 2)), "\n".join(lines), fill="black", font=font)
    return INSET + len(lines) * SPACING * size / POINTS


def overlapping(pieces: list[Piece]) -> list[tuple[Piece, Piece]]:
    """Pairs of pieces of which one lies over the other, by more than a fiftieth of an inch."""
    pairs = [(one, other) for index, one in enumerate(pieces) for other in pieces[index + 1 :]]
    return [(one, other) for one, other in pairs if _overlap(one.box, other.box)]


def _overlap(one: Box, other: Box) -> bool:
    across = min(one[2], other[2]) - max(one[0], other[0])
    return across > 0.02 and min(one[3], other[3]) - max(one[1], other[1]) > 0.02
