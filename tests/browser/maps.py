"""What tests look at on a map on its canvas: where a place lies, which colour it has, what values are drawn."""

from itertools import pairwise
from typing import Any

from playwright.sync_api import Page

#: Where a place in the figure's coordinates lies in the window.
WHERE = """([key, x, y]) => {
  const { plot, frame } = document.querySelector(`[data-key="${key}"]`).chart, box = plot.getBoundingClientRect();
  const scale = box.width / plot.clientWidth;
  return [box.left + scale * frame.toX(x), box.top + scale * frame.toY(y)];
}"""
#: The colour that the pixels' canvas has there now.
COLOUR = """([key, x, y]) => {
  const { heat, frame } = document.querySelector(`[data-key="${key}"]`).chart, ratio = heat.width / heat.clientWidth;
  return [...heat.getContext('2d').getImageData(ratio * frame.toX(x), ratio * frame.toY(y), 1, 1).data];
}"""
FIELD = """key => {
  const { heat, pinned, home, bar, notes, shapes, title } = document.querySelector(`[data-key="${key}"]`).chart.map;
  const plain = ({ z, rows, columns, x, y, low, high, scale }) => ({
    z: Array.from(z, value => value === value ? value : null), rows, columns,
    low, high, scale, x: [x.from, x.to], y: [y.from, y.to] });
  return { ...plain(heat), pinned: pinned && plain(pinned), home, ticks: bar?.ticktext, arrows: shapes.length,
    label: notes[0]?.text, title };
}"""
VIEW = 'key => document.querySelector(`[data-key="${key}"]`).chart.frame'
PAINTED = """key => new Promise(done => {
  const node = document.querySelector(`[data-key="${key}"]`);
  requestAnimationFrame(() => requestAnimationFrame(() => done(Number(node.dataset.painted))));
})"""


def field(page: Page, key: str) -> dict[str, Any]:
    """What a map draws: values ``z`` (rows from the first y, None where missing), limits, colours, extent, words."""
    return page.evaluate(FIELD, key)


def view(page: Page, key: str) -> dict[str, list[float]]:
    """The visible ranges "x" and "y", once what was asked for is painted."""
    page.evaluate(PAINTED, key)
    shown = page.evaluate(VIEW, key)
    return {"x": shown["x"], "y": shown["y"]}


def where(page: Page, key: str, x: float, y: float) -> tuple[float, float]:
    """Where a place lies in the window, in CSS pixels."""
    page.evaluate(PAINTED, key)
    left, top = page.evaluate(WHERE, [key, x, y])
    return left, top


def colour(page: Page, key: str, x: float, y: float) -> list[int]:
    """Red, green, blue and alpha of the map's pixels there."""
    page.evaluate(PAINTED, key)
    return page.evaluate(COLOUR, [key, x, y])


def centre(shown: dict[str, Any], row: int, column: int) -> tuple[float, float]:
    """The middle of a pixel of an evenly spaced `field`, as (x, y)."""
    (x0, x1), (y0, y1) = shown["x"], shown["y"]
    return x0 + (column + 0.5) / shown["columns"] * (x1 - x0), y0 + (row + 0.5) / shown["rows"] * (y1 - y0)


def shade(shown: dict[str, Any], value: float) -> list[float]:
    """The colour of a value by linear interpolation between the stops of the figure's own scale."""
    share = min(1.0, max(0.0, (value - shown["low"]) / (shown["high"] - shown["low"])))
    stops = [(at, [int(text[i : i + 2], 16) for i in (1, 3, 5)]) for at, text in shown["scale"]]
    for (low, first), (high, second) in pairwise(stops):
        if low <= share <= high:
            part = (share - low) / (high - low)
            return [a + part * (b - a) for a, b in zip(first, second, strict=True)]
    raise AssertionError(share)
