"""From a file to a map in five pictures."""

import json
from html import escape
from pathlib import Path

CSS = Path(__file__).with_name("walk.css")
FILE = """netcdf ukv_20091119 {
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
_BREAKABLE = escape(FILE).replace("_", "_<wbr>")
STEPS = (
    ("File", "A NetCDF file from a satellite, a model or your own disk.", None, "Header of a NetCDF file"),
    ("Covariate", "Known at high resolution: here the altitude of the ground.", "covariate", "Map of altitude"),
    ("Coarse cells", "Each has one temperature, the mean of 81 pixels.", "coarse", "Map of coarse temperatures"),
    ("Estimate", "The posterior mean of a Gaussian process on the pixels, given the cell means.", "mean",
     "Map of the posterior mean"),
    ("Uncertainty", "Twice the posterior standard deviation of every pixel.", "sd",
     "Map of twice the posterior standard deviation"),
)  # fmt: skip


SCALES = Path(__file__).resolve().parents[2] / "static" / "walk" / "scales.json"


def walk() -> str:
    """The five steps as figures; the frame of each is marked in turn, unless the reader prefers no motion."""
    figures, scales = [], json.loads(SCALES.read_text(encoding="utf-8"))
    for index, (title, words, picture, alt) in enumerate(STEPS):
        inside = f'<img src="app/static/walk/{picture}.png" alt="{alt}">' if picture else f"<pre>{_BREAKABLE}</pre>"
        if picture:
            low, high = scales[picture]
            bar = f'<img src="app/static/walk/{picture}-scale.png" alt="">'
            scale = f'<p class="scale"><span>{low}</span>{bar}<span>{high}</span></p>'
        else:
            scale = '<p class="scale"></p>'
        caption = f"<figcaption><b>{title}</b>{escape(words)}</figcaption>"
        figures.append(f'<figure style="--i:{index}"><div>{inside}</div>{scale}{caption}</figure>')
    return f'<div class="walk" role="group" aria-label="From a file to a map">{"".join(figures)}</div>'
