"""A flip book of fields: played, stopped and leafed through in the browser, without asking Python."""

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st

from pages.kit.controls.play_words import BACK, NEXT, PAUSE, PLAY

_HERE = Path(__file__).parent
_HTML = f"""<div class="flip">
<canvas role="img" tabindex="0"></canvas>
<div class="flip-scale"><i></i><div></div><span></span></div>
<div class="flip-bar">
<button type="button" class="flip-play" data-play="{PLAY}" data-pause="{PAUSE}"></button>
<button type="button" class="flip-back">{BACK}</button>
<input type="range" min="0" step="1">
<button type="button" class="flip-next">{NEXT}</button>
<output aria-live="polite"></output>
<label>Speed <input class="flip-speed" type="range" min="0.5" max="6" step="0.5" value="2"></label>
</div></div>"""
_FLIP = st.components.v2.component(
    "lab_flip",
    html=_HTML,
    css=(_HERE / "flip_book.css").read_text(encoding="utf-8"),
    js=(_HERE / "flip_book.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def flip(
    book: Mapping[str, Any],
    key: str,
    *,
    alt: str,
    names: tuple[str, ...],
    frame: str = "Draw",
    follows: str = "",
    playing: bool = True,
    marks: Sequence[Sequence[float]] = (),
    on_click: Callable[[float, float], None] | None = None,
) -> None:
    """Show a flip book of `deconditioning.figures.flip_book`: ``names`` of its frames, each a ``frame``, ``alt`` as
    alternative text.

    Under the same key new frames take the place of the old ones while it goes on playing. ``marks`` are places (x, y),
    as shares of width and height from the upper left corner; ``on_click`` is called with that of a click before the
    script runs again. Only a book that is ``playing`` begins by itself; one that ``follows`` another, by its key, goes
    by that one's clock and has no player.
    """
    text = json.dumps(book, separators=(",", ":"))
    stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    data = {"book": text, "stamp": stamp, "alt": alt, "names": list(names), "marks": [list(mark) for mark in marks],
            "clickable": on_click is not None, "frame": frame, "name": key, "follows": follows,
            "playing": playing}  # fmt: skip
    _FLIP(key=key, data=data, on_click_change=_nothing if on_click is None else partial(_hear, key, on_click))


def _hear(key: str, on_click: Callable[[float, float], None]) -> None:
    """Pass on a click inside the picture; what no picture of this app sends is not."""
    try:
        x, y = (float(number) for number in st.session_state.get(key, {}).get("click"))
    except (TypeError, ValueError, OverflowError):
        return
    if all(math.isfinite(each) and 0 <= each < 1 for each in (x, y)):
        on_click(x, y)


def _nothing() -> None:
    """A book without ``on_click``."""
