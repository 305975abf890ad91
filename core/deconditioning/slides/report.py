"""A result as a report to print: A4 upright, one figure after the other with its caption, scores as a table."""

import io
from collections.abc import Sequence

from deconditioning.errors import Check, never
from deconditioning.figures.colours import VERDICTS
from deconditioning.figures.printed.sheet import HEIGHT, MARGIN, QUIET, SPACING, WIDTH, Sheet, measured, wrapped
from deconditioning.slides.presented import Presented, Slide, caption_of, facts_of, sentence_of

#: Dots an inch of a page.
DPI = 220
#: Width that is written on; where a page ends; height of a picture, at most: two of them share a page.
_ROOM, _FOOT, _TALLEST = WIDTH - 2 * MARGIN, HEIGHT - MARGIN - 8, 0.42 * HEIGHT
_TITLE, _HEADING, _BODY, _CAPTION = 20.0, 13.0, 10.0, 9.0
#: A picture is made smaller, down to this share, to fill a page.
_SMALLEST = 0.6
#: Width of the first column of a table, which holds names.
_NAMES = 150.0


def report(presentation: Presented, check: Check = never) -> bytes:
    """A PDF of the slides' figures, sentences, scores and settings, in their order."""
    page = _Page(Sheet(presentation.title, DPI))
    page.words(presentation.title, _TITLE, bold=True)
    if presentation.badge is not None:
        page.words(presentation.badge["badge"], _BODY, bold=True, colour=VERDICTS[presentation.badge["mark"]][0])
    figures = 0
    for slide in presentation.slides:
        check()
        picture = presentation.picture(slide)
        if picture is None:
            _section(page, slide, presentation.title)
            continue
        figures += 1
        if slide["key"] == "question":
            page.words(sentence_of(slide), _BODY)
        page.picture(picture, f"Figure {figures}. {caption_of(slide)}")
    return page.sheet.pdf()


def _section(page: "_Page", slide: Slide, title: str) -> None:
    """Heading, sentence, table and facts of a slide without a picture."""
    rows = slide.get("rows") or []
    page.keep_together(4 * _HEADING + 3 * _BODY + (2 * _BODY if rows else 0))
    page.y += 8
    if slide["title"] != title:
        page.words(slide["title"], _HEADING, bold=True)
    page.words(sentence_of(slide), _BODY)
    if len(rows) > 1:
        page.table(rows)
    for text, link in facts_of(slide):
        page.words(text, _CAPTION, link=link)


class _Page:
    """Where the next words go on a sheet; a new page begins where they have no room."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        sheet.page()
        self.y = MARGIN

    def keep_together(self, height: float) -> None:
        """Go to a new page unless this one has so much room left."""
        if self.y + height > _FOOT and self.y > MARGIN:
            self.sheet.page()
            self.y = MARGIN

    def words(self, text: str, size: float, *, bold: bool = False, colour: str = "", link: str = "") -> None:
        """A paragraph, line by line where it does not fit on the page."""
        more = {"colour": colour} if colour else {}
        for line in wrapped(_breakable(text, size), size, _ROOM, bold):
            self.keep_together(SPACING * size)
            self.y = self.sheet.words(MARGIN, self.y, line, size, 2 * _ROOM, bold=bold, link=link, **more)
        self.y += 0.4 * size

    def picture(self, png: bytes, caption: str) -> None:
        """A picture with its caption, on one page."""
        from PIL import Image

        with Image.open(io.BytesIO(png)) as image:
            scale = min(_ROOM / image.width, _TALLEST / image.height)
            width, height = scale * image.width, scale * image.height
        below = SPACING * _CAPTION * len(wrapped(_breakable(caption, _CAPTION), _CAPTION, _ROOM)) + 24
        share = min(1.0, (_FOOT - self.y - below) / height)
        if share >= _SMALLEST:
            width, height = share * width, share * height
        self.keep_together(height + below)
        self.y += 8
        self.sheet.picture(MARGIN + (_ROOM - width) / 2, self.y, width, height, png)
        self.y = self.sheet.words(MARGIN, self.y + height + 6, caption, _CAPTION, _ROOM, colour=QUIET) + 8

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table with its heading above a line; cells wrap."""
        step = (_ROOM - _NAMES) / max(len(rows[0]) - 1, 1)
        size = min(_CAPTION, max(5.5, step / 6))
        for index, cells in enumerate(rows):
            widths = [_NAMES, *[step] * (len(cells) - 1)]
            tall = max(len(wrapped(cell, size, width - 6)) for cell, width in zip(cells, widths, strict=True))
            self.keep_together(SPACING * size * tall + 4)
            for column, (cell, width) in enumerate(zip(cells, widths, strict=True)):
                x = MARGIN + (_NAMES + step * (column - 1) if column else 0)
                self.sheet.words(x, self.y, cell, size, width - 6, bold=not index)
            self.y += SPACING * size * tall + 2
            if not index:
                self.sheet.line(MARGIN, self.y, _ROOM)
                self.y += 3
        self.y += 8


def _breakable(text: str, size: float) -> str:
    """The text with spaces in words that are wider than a line, such as addresses."""
    words = []
    for word in text.split(" "):
        width = measured(word, False) * size
        letters = max(1, int(len(word) * 0.95 * _ROOM / width)) if width > _ROOM else len(word) or 1
        words += [word[at : at + letters] for at in range(0, len(word), letters)] or [""]
    return " ".join(words)
