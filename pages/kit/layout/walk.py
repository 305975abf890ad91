"""From a file to a map in five pictures, and the three that come out."""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from deconditioning.wording import number
from pages.kit.pages import FOLDER

_CSS = Path(__file__).with_name("walk.css")
_KNOWN = FOLDER.parent / "static" / "walk" / "known.json"
_FILE = """ukv_20091119.nc

air_potential_temperature
  in K, at 645 m
  means of 440 cells

surface_altitude
  in m
  at 35,640 pixels"""
#: The same as HTML: a long name breaks behind its underscores only.
_BREAKABLE = escape(_FILE).replace("_", "_<wbr>")
_STEPS = (
    ("File", "A NetCDF file from a satellite, a model or your own disk.", None, "Two variables of a NetCDF file"),
    ("Covariate", "Known at high resolution: here the altitude of the ground.", "covariate", "Map of altitude"),
    ("Coarse cells", "Each has one temperature, the mean of 81 pixels.", "coarse", "Map of coarse temperatures"),
    ("Estimate", "The posterior mean of a Gaussian process on the pixels, given the cell means.", "mean",
     "Map of the posterior mean"),
    ("Uncertainty", "Twice the posterior standard deviation: the truth is rarely farther from the estimate.", "sd",
     "Map of twice the posterior standard deviation"),
)  # fmt: skip


def walk() -> str:
    """The five steps as figures, as HTML; the frame of each is marked in turn, unless the reader prefers no motion."""
    return _figures(_STEPS, "walk", "From a file to a map")


def result() -> str:
    """What comes out of the worked example, as HTML: coarse cells, estimate and uncertainty."""
    return _figures(_STEPS[2:], "walk still", "Maps of the worked example")


@cache
def _known() -> dict[str, Any]:
    """Ends of the maps' scales, and how good the map is."""
    return json.loads(_KNOWN.read_text(encoding="utf-8"))


def scores() -> str:
    """How good the worked example's map is, in a sentence."""
    found = _known()["scores"]
    ours, bilinear = number(found["rmse"], 2), number(found["bilinear"], 2)
    return (
        f"Compared with the true field, which the model never saw, the RMSE of the estimate is **{ours} K**; that of "
        f"bilinear interpolation is {bilinear} K. The 95 % intervals contain the truth on "
        f"**{100 * found['inside']:.0f} %** of the area."
    )


def _figures(steps: Sequence[tuple[str, str, str | None, str]], kind: str, label: str) -> str:
    figures, scales = [], _known()["scales"]
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
