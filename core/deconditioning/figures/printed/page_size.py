"""How printed panels share a page: as large as they need, on a slide, or on a sheet of paper."""

from dataclasses import dataclass
from typing import Literal

from deconditioning.errors import InputError

Page = Literal["fit", "slide", "sheet"]
#: Width and height in inches that a page may have; "fit" follows the panels. A sheet is A4, upright or lying.
SIZES: dict[str, tuple[tuple[float, float], ...]] = {
    "fit": (),
    "slide": ((13.333, 7.5),),
    "sheet": ((8.268, 11.693), (11.693, 8.268)),
}
PAGES: tuple[Page, ...] = ("fit", "slide", "sheet")
#: Inches: a panel that fits its map, what stands around the map in it, a line of the caption, a heading.
_PANEL, BESIDE, AROUND, LINE, HEADING = 3.4, 0.4, 1.05, 0.15, 0.32
MARGIN = 0.2
#: Characters of the caption in an inch.
_LETTERS = 17.5


@dataclass(frozen=True)
class PageLayout:
    """A page of ``width`` × ``height`` inches with ``rows`` × ``columns`` places, maps ``map_width`` inches wide."""

    width: float
    height: float
    rows: int
    columns: int
    map_width: float

    @property
    def letters(self) -> int:
        """Characters of a line of the caption."""
        return int(self.width * _LETTERS)


def page_layout(
    places: int, aspect: float, page: str = "fit", *, columns: int | None = None, caption: int = 0,
    heading: bool = False,
) -> PageLayout:  # fmt: skip
    """Rows and columns for so many panels whose maps are ``aspect`` times as high as wide.

    On a page of given size they are those that make the maps largest. ``columns``: so many, where given; ``caption``:
    its characters. Raises ``InputError`` for an unknown page.
    """
    if page not in SIZES:
        raise InputError(f"The page '{page}' is unknown: choose one of {', '.join(PAGES)}.")
    if page == "fit":
        wide = min(places, columns or 3)
        width, rows = _PANEL * wide + MARGIN, -(-places // wide)
        text_height = LINE * -(-caption // int(width * _LETTERS)) + HEADING * heading
        map_width = _PANEL - BESIDE
        return PageLayout(width, rows * (map_width * aspect + AROUND) + text_height + MARGIN, rows, wide, map_width)
    result = []
    for width, height in SIZES[page]:
        room = height - MARGIN - HEADING * heading - LINE * (1 + -(-caption // int(width * _LETTERS)))
        for wide in [columns] if columns else range(1, places + 1):
            rows = -(-places // wide)
            map_width = min((width - MARGIN) / wide - BESIDE, (room / rows - AROUND) / aspect)
            result.append(PageLayout(width, height, rows, wide, map_width))
    return max(result, key=lambda each: each.map_width)
