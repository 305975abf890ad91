"""Curves, bands, dots and bars in a small picture, as SVG in the colours of the theme."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from urllib.parse import quote

import numpy as np

from deconditioning.figures.colours import HUES

#: Size of a drawing in its own units; lines keep this far from its edge.
WIDTH, HEIGHT, _EDGE = 160, 72, 4


@dataclass
class Drawing:
    """A picture of the plane ``low`` to ``high``, each (x, y); ``says`` is what it shows. Shapes are added one upon the
    other, with the names of colours in braces.

    ``colour`` is "teal" for what is estimated, "rust" for what is measured, "grey" for the rest.
    """

    says: str
    low: tuple[float, float]
    high: tuple[float, float]
    parts: list[str] = field(default_factory=list)

    def curve(
        self, x: np.ndarray, y: np.ndarray, colour: str = "teal", *, dashed: bool = False, width: float = 1.6
    ) -> None:
        """A line through points."""
        dash = ' stroke-dasharray="4 3"' if dashed else ""
        self._add(f'<path d="{self._path(x, y)}" fill="none" {_stroke(colour, width)}{dash}/>')

    def band(
        self, x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str = "teal", opacity: float = 0.22
    ) -> None:
        """The area between two curves."""
        path = self._path(np.concatenate([x, x[::-1]]), np.concatenate([high, low[::-1]]))
        self._add(f'<path d="{path}Z" fill="{{{colour}}}" opacity="{opacity}"/>')

    def dots(self, x: Iterable[float], y: Iterable[float], colour: str = "rust", radius: float = 2.4) -> None:
        """Points."""
        for at in zip(x, y, strict=True):
            across, down = self._at(*at)
            self._add(f'<circle cx="{across}" cy="{down}" r="{radius}" fill="{{{colour}}}"/>')

    def bars(
        self, left: np.ndarray, right: np.ndarray, top: np.ndarray, colour: str = "teal", opacity: float = 0.6
    ) -> None:
        """Bars from zero."""
        for a, b, height in zip(left, right, top, strict=True):
            (x0, y0), (x1, y1) = self._at(a, height), self._at(b, 0.0)
            box = f'x="{x0 + 0.5:.1f}" y="{y0}" width="{max(x1 - x0 - 1, 0.5):.1f}" height="{max(y1 - y0, 0):.1f}"'
            self._add(f'<rect {box} fill="{{{colour}}}" opacity="{opacity}"/>')

    def words(self, x: float, y: float, text: str) -> None:
        """A word, centred at a point."""
        across, down = self._at(x, y)
        self._add(
            f'<text x="{across}" y="{down}" fill="{{ink}}" text-anchor="middle" '
            f'font-family="serif" font-style="italic" font-size="13">{escape(text)}</text>'
        )

    def image(self, dark: bool) -> str:
        """The picture in HTML, for a light or a dark page."""
        inside = "".join(self.parts).format(**{name: pair[dark] for name, pair in HUES.items()})
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">{inside}</svg>'
        return f'<img class="lab-sketch" alt="{escape(self.says)}" src="data:image/svg+xml,{quote(svg)}">'

    def _add(self, part: str) -> None:
        self.parts.append(part)

    def _at(self, x: float, y: float) -> tuple[float, float]:
        (left, bottom), (right, top) = self.low, self.high
        across = _EDGE + (WIDTH - 2 * _EDGE) * (x - left) / (right - left)
        down = HEIGHT - _EDGE - (HEIGHT - 2 * _EDGE) * (y - bottom) / (top - bottom)
        return round(float(across), 1), round(float(down), 1)

    def _path(self, x: np.ndarray, y: np.ndarray) -> str:
        places = (self._at(float(a), float(b)) for a, b in zip(x, y, strict=True))
        return "M" + "L".join(f"{across} {down}" for across, down in places)


def _stroke(colour: str, width: float) -> str:
    return f'stroke="{{{colour}}}" stroke-width="{width}" stroke-linecap="round" stroke-linejoin="round"'
