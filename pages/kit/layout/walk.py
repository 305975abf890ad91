"""From a file to a map in five pictures, and the three that come out."""

import json
from collections.abc import Sequence
from html import escape
from pathlib import Path

from pages.kit.pages import FOLDER

_CSS = Path(__file__).with_name("walk.css")
_SCALES = FOLDER.parent / "static" / "walk" / "scales.json"
_FILE = """netcdf ukv_20091119 {
dimensions:
  time = 3
  level_height = 7
  grid_latitude = 204
  grid_longitude = 187
variables:
  air_potential_temperature
    units = "K"
  surface_altitude
    units = "m"
}"""
#: The same as HTML: a long name breaks behind its underscores only.
_BREAKABLE = escape(_FILE).replace("_", "_<wbr>")
_STEPS = (
    ("File", "A NetCDF file from a satellite, a model or your own disk.", None, "Header of a NetCDF file"),
    ("Covariate", "Known at high resolution: here the altitude of the ground.", "covariate", "Map of altitude"),
    ("Coarse cells", "Each has one temperature, the mean of 81 pixels.", "coarse", "Map of coarse temperatures"),
    ("Estimate", "The posterior mean of a Gaussian process on the pixels, given the cell means.", "mean",
     "Map of the posterior mean"),
    ("Uncertainty", "Twice the posterior standard deviation of every pixel.", "sd",
     "Map of twice the posterior standard deviation"),
)  # fmt: skip


def walk() -> str:
    """The five steps as figures, as HTML; the frame of each is marked in turn, unless the reader prefers no motion."""
    return _figures(_STEPS, "walk", "From a file to a map")


def result() -> str:
    """What comes out of the worked example, as HTML: coarse cells, estimate and uncertainty."""
    return _figures(_STEPS[2:], "walk still", "Maps of the worked example")


def _figures(steps: Sequence[tuple[str, str, str | None, str]], kind: str, label: str) -> str:
    figures, scales = [], json.loads(_SCALES.read_text(encoding="utf-8"))
    for index, (title, words, picture, alt) in enumerate(steps):
        inside = f'<img src="app/static/walk/{picture}.png" alt="{alt}">' if picture else f"<pre>{_BREAKABLE}</pre>"
        if picture:
            low, high = scales[picture]
            bar = f'<img src="app/static/walk/{picture}-scale.png" alt="">'
            scale = f'<p class="scale"><span>{low}</span>{bar}<span>{high}</span></p>'
        else:
            scale = '<p class="scale"></p>'
        caption = f"<figcaption><b>{title}</b>{escape(words)}</figcaption>"
        figures.append(f'<figure style="--i:{index}"><div>{inside}</div>{scale}{caption}</figure>')
    style = f"<style>{_CSS.read_text(encoding='utf-8')}</style>"
    return f'{style}<div class="{kind}" role="group" aria-label="{label}">{"".join(figures)}</div>'
