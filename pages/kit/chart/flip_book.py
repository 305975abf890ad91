"""A flip book of fields: played, stopped and leafed through in the browser, without asking Python."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import streamlit as st

_HERE = Path(__file__).parent
_HTML = """<div class="flip">
<canvas role="img" tabindex="0"></canvas>
<div class="flip-scale"><span></span><i></i><span></span></div>
<div class="flip-bar">
<button type="button" class="flip-play"></button>
<button type="button" class="flip-back" aria-label="Previous draw">‹</button>
<input type="range" min="0" step="1" aria-label="Draw">
<button type="button" class="flip-next" aria-label="Next draw">›</button>
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


def flip(book: Mapping[str, Any], key: str, *, alt: str, names: tuple[str, ...]) -> None:
    """Show a flip book of `deconditioning.figures.flip_book`: ``names`` of its frames, ``alt`` as alternative text.

    Under the same key new frames take the place of the old ones while it goes on playing.
    """
    text = json.dumps(book, separators=(",", ":"))
    stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    _FLIP(key=key, data={"book": text, "stamp": stamp, "alt": alt, "names": list(names)})
