"""From a file to a map in five moving pictures."""

from html import escape
from pathlib import Path

CSS = Path(__file__).with_name("walk.css")
FILE = """netcdf ukv {
  air_potential_temperature (time, level, lat, lon)
  surface_altitude (lat, lon)
  rotated_pole
}"""
#: The same as HTML: a long name breaks behind its underscores only.
_BREAKABLE = escape(FILE).replace("_", "_<wbr>")
STEPS = (
    ("File", "A NetCDF file from a satellite, a model or your own disk.", None, "Header of a NetCDF file"),
    ("Fields", "Known at high resolution: here the altitude of the ground.", "covariate", "Map of altitude"),
    ("Bags", "Coarse cells: each has one temperature and contains 81 pixels.", "coarse", "Map of coarse temperatures"),
    ("Posterior", "A Gaussian process on the pixels, conditioned on the cell means: its uncertainty, 2 sd.", "sd",
     "Map of twice the posterior standard deviation"),
    ("Map", "The posterior mean: the best estimate of the fine field.", "mean", "Map of the posterior mean"),
)  # fmt: skip


def walk() -> str:
    """The five steps as figures; each lifts in turn, unless the reader prefers no motion."""
    figures = []
    for index, (title, words, picture, alt) in enumerate(STEPS):
        inside = f'<img src="app/static/walk/{picture}.png" alt="{alt}">' if picture else f"<pre>{_BREAKABLE}</pre>"
        caption = f"<figcaption><b>{title}</b>{escape(words)}</figcaption>"
        figures.append(f'<figure style="--i:{index}"><div>{inside}</div>{caption}</figure>')
    return f'<div class="walk" role="group" aria-label="From a file to a map">{"".join(figures)}</div>'
