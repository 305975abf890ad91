"""A4 pages to be written on: words that wrap, lines to write on, pictures, QR codes.

Places are in points from the upper left.
"""

import io
from functools import lru_cache
from typing import Any

import numpy as np

from deconditioning.figures import style

#: Width and height of a page, and its margin, in points.
WIDTH, HEIGHT, MARGIN = 595.3, 841.9, 42.0
_INK, QUIET, _RULE = style.INK[False], style.QUIET, style.RULE
#: From one line of words to the next, in their size.
SPACING = 1.32


class Sheet:
    """Pages as they are drawn, one after the other."""

    def __init__(self, title: str, dpi: int = 300) -> None:
        self._title, self._dpi = title, dpi
        self._pages: list[Any] = []

    def page(self) -> None:
        """Begin a new page."""
        from matplotlib.figure import Figure

        self._pages.append(Figure(figsize=(WIDTH / 72, HEIGHT / 72)))

    @property
    def count(self) -> int:
        """How many pages there are."""
        return len(self._pages)

    def words(
        self, x: float, y: float, text: str, size: float, width: float, *, bold: bool = False, colour: str = _INK,
        link: str = "",
    ) -> float:  # fmt: skip
        """Words wrapped to a width, their upper edge at ``y``; returns where the next ones can begin."""
        lines = wrapped(text, size, width, bold)
        for line in lines:
            self._pages[-1].text(
                x / WIDTH, 1 - (y + size) / HEIGHT, line, fontsize=size, color=colour, parse_math=False,
                weight="bold" if bold else "normal", url=link or None,
            )  # fmt: skip
            y += SPACING * size
        return y

    def line(self, x: float, y: float, width: float, colour: str = _RULE) -> None:
        """A thin line across, such as one to write on."""
        from matplotlib.lines import Line2D

        ends = [x / WIDTH, (x + width) / WIDTH], [1 - y / HEIGHT] * 2
        self._pages[-1].add_artist(Line2D(*ends, color=colour, linewidth=0.6))

    def qr(self, x: float, y: float, side: float, text: str) -> None:
        """A QR code; nothing for a text that none holds."""
        import segno

        try:
            code = np.array(list(segno.make(text, error="l", micro=False).matrix_iter(border=0)))
        except segno.DataOverflowError:
            return
        sharp = np.kron(1 - (code > 0), np.ones((8, 8)))  # some readers of PDF blur small pictures
        axes = self._room(x, y, side, side)
        axes.imshow(sharp, cmap="gray", vmin=0, vmax=1, interpolation="none", aspect="auto")

    def picture(self, x: float, y: float, width: float, height: float, png: bytes) -> None:
        """A PNG, its upper left corner there."""
        from matplotlib.image import imread

        axes = self._room(x, y, width, height)
        axes.imshow(imread(io.BytesIO(png)), interpolation="antialiased", aspect="auto")

    def _room(self, x: float, y: float, width: float, height: float) -> Any:
        axes = self._pages[-1].add_axes((x / WIDTH, 1 - (y + height) / HEIGHT, width / WIDTH, height / HEIGHT))
        axes.set_axis_off()
        return axes

    def pdf(self) -> bytes:
        """All pages as a PDF, numbered."""
        from matplotlib.backends.backend_pdf import PdfPages

        stream = io.BytesIO()
        with PdfPages(stream, metadata={"Title": self._title}) as pages:
            for number, figure in enumerate(self._pages, 1):
                figure.text(
                    1 - MARGIN / WIDTH, 22 / HEIGHT, f"{number} of {self.count}", fontsize=8, color=QUIET, ha="right"
                )
                pages.savefig(figure, dpi=self._dpi)
        return stream.getvalue()


def wrapped(text: str, size: float, width: float, bold: bool = False) -> list[str]:
    """The text in lines that are at most so wide; numbers stay with their per cent."""
    lines = [""]
    for word in text.replace(" %", "\u00a0%").split(" "):
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and measured(longer, bold) * size > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


@lru_cache(maxsize=4096)
def measured(text: str, bold: bool) -> float:
    """The width of a line of words, in their size."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=100, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) / 100
