"""One HTML file of a result that works without a network: slides, scores, settings, citation."""

import base64
import gzip
import json
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from deconditioning import __version__
from deconditioning.slides.presented import Presented, Slide, is_address

_HERE = Path(__file__).parent
#: What draws figures, asked for where a deck has some.
_PLOTLY = Path("package_data", "plotly.min.js")
_NO_SCORES = "<p>There is no truth to score against.</p>"


def script() -> str:
    """The code of the slides, the same in the app and in a file."""
    return _read("deck.js")


def style() -> str:
    """Their looks."""
    return _read("deck.css")


def offline_page(presentation: Presented, settings: Mapping[str, Any]) -> str:
    """The text of the file: nothing in it is fetched from anywhere; ``settings`` are what makes the result again."""
    deck = presentation.deck()
    return Template(_read("offline.html")).substitute(
        title=escape(presentation.title),
        style=style() + _read("page.css"),
        notes=_notes(deck),
        scores="".join(map(_table, presentation.slides)) or _NO_SCORES,
        facts="".join(
            f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in presentation.slides[-1]["lines"]
        ),
        references=escape(presentation.references),
        version=escape(__version__),
        settings=escape(json.dumps(settings, indent=2, ensure_ascii=False)),
        data=json.dumps(deck, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=script(),
        scheme="light" if deck.get("light") else "light dark",
        plotly=_packed_plotly() if deck.get("figures") else "",
    )


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _notes(deck: Mapping[str, Any]) -> str:
    """How the slides are used, and what of the maps is left out."""
    notes = "The arrow keys change the slide; F shows it full screen."
    if any(slide.get("left") for slide in deck["slides"]):
        notes += " Shift and an arrow key move the divider."
    every = deck.get("thinned", 1)
    return notes + (f" This file contains one of every {every} × {every} pixels." if every > 1 else "")


@lru_cache(maxsize=1)
def _packed_plotly() -> str:
    """The installed plotly.js as base64 of its gzip, which a browser unpacks by itself."""
    spec = find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("plotly is not installed: run `make run` or install requirements.txt.")
    source = Path(spec.submodule_search_locations[0]) / _PLOTLY
    return base64.b64encode(gzip.compress(source.read_bytes(), 9, mtime=0)).decode("ascii")


def _linked(text: str) -> str:
    shown = escape(text)
    return f'<a href="{shown}">{shown}</a>' if is_address(text) else shown


def _table(slide: Slide) -> str:
    """The table of a slide that has more than a heading, below its sentence."""
    rows = slide.get("rows") or []
    if len(rows) < 2:
        return ""
    head, *body = ("".join(f"<{cell}>{escape(text)}</{cell}>" for text, cell in _cells(row)) for row in rows)
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    sentence = f"<p>{escape(slide['sentence'])}</p>" if slide["sentence"] else ""
    return f"{sentence}<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"


def _cells(row: list[str]) -> list[tuple[str, str]]:
    return [(text, "td" if index else "th") for index, text in enumerate(row)]
