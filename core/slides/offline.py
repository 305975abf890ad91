"""One HTML file of a result that works without a network: slides, scores, settings, citation."""

import json
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from core import __version__
from core.slides.deck import REFERENCES, Shown, credits, downscaling_deck, is_address, score_rows

_HERE = Path(__file__).parent


def script() -> str:
    """The code of the slides, the same in the app and in a file."""
    return _read("deck.js")


def style() -> str:
    """Their looks."""
    return _read("deck.css")


def offline_page(shown: Shown, settings: Mapping[str, Any]) -> str:
    """The text of the file: nothing in it is fetched from anywhere; ``settings`` are what makes the result again."""
    deck = downscaling_deck(shown)
    return Template(_read("offline.html")).substitute(
        title=escape(shown.title),
        style=style() + _read("page.css"),
        thinned=f" One pixel of {deck['thinned']} × {deck['thinned']} is in this file." if deck["thinned"] > 1 else "",
        scores=_table(score_rows(shown)),
        facts="".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in credits(shown)),
        references=escape(REFERENCES),
        version=escape(__version__),
        settings=escape(json.dumps(settings, indent=2, ensure_ascii=False)),
        data=json.dumps(deck, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"),
        script=script(),
    )


def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


def _linked(text: str) -> str:
    shown = escape(text)
    return f'<a href="{shown}">{shown}</a>' if is_address(text) else shown


def _table(rows: list[list[str]]) -> str:
    if len(rows) < 2:
        return "<p>No truth at high resolution is known.</p>"
    head, *body = ("".join(f"<{cell}>{escape(text)}</{cell}>" for text, cell in _cells(row)) for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"


def _cells(row: list[str]) -> list[tuple[str, str]]:
    return [(text, "td" if index else "th") for index, text in enumerate(row)]
