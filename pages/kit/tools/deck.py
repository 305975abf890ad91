"""Slides over the whole window; Escape or Close brings the page back."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from deconditioning.slides.offline import script, style
from pages.kit.layout.theme import is_dark

_CSS = """
.lab-slides { width: 100vw; height: 100vh; max-width: none; max-height: none; margin: 0; padding: 0; border: 0; }
.lab-slides .deck { width: 100%; height: 100%; }
"""
_JS = """
export default function ({ parentElement, data, setTriggerValue }) {
  const window_ = parentElement.querySelector('dialog');
  const close = () => window_.close();
  const kept = JSON.parse(sessionStorage.getItem('lab-slides') || '{}');  // a reload goes on (frame.js)
  const turned = slide => sessionStorage.setItem('lab-slides', JSON.stringify({ path: location.pathname, slide }));
  const asked = data.asked, again = window_.open && window_.dataset.stamp === data.stamp;
  window_.onclose = () => {
    sessionStorage.removeItem('lab-slides');
    document.querySelector('.st-key-lab-present button')?.focus({ preventScroll: true }); // it opened them
    setTriggerValue('closed', asked);
  };
  if (again || (!window_.open && window_.dataset.asked === String(asked))) return;
  Object.assign(window_.dataset, { asked, stamp: data.stamp });
  const root = document.createElement('div'), first = window_.show_?.index ?? kept.slide ?? 0;
  window_.replaceChildren(root);
  root.dataset.dark = data.dark;
  if (!window_.open) window_.showModal();
  document.getElementById('lab-slides-soon')?.remove();  // address_bar.js
  window_.show_ = showDeck(root, JSON.parse(data.deck), { close, first, turned, plotly: () => window.__labPlotly });
}
"""
_DECK = st.components.v2.component(
    "lab_slides",
    html='<dialog class="lab-slides" aria-label="Slides"></dialog>',
    css=style() + _CSS,
    js=script() + _JS,
    isolate_styles=False,
)


def slides(deck: Mapping[str, Any], key: str, request: int) -> bool:
    """Show a deck of `slides` over the window, for the so many-th time; whether a person has closed it."""
    text = json.dumps(deck, separators=(",", ":"), allow_nan=False)
    stamp = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    data = {"deck": text, "stamp": stamp, "dark": is_dark(), "asked": request}
    return _DECK(key=key, data=data, on_closed_change=_nothing).get("closed") == request


def _nothing() -> None:
    """That it was closed is read from the return value."""
