"""Maps along a slider, sent to the browser before its hand moves there (frames.js): once, not with every picture."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import streamlit as st

from pages.kit.chart.picture_first import BUSY_JS

#: Milliseconds until the browser asks for what is still being computed; it does not while a control is held.
_BEAT_MS = 800
_JS = """
let keyed = -ANSWERED_MS; // a key on a slider has its own run first
addEventListener('keydown', () => { keyed = performance.now(); }, true);

export default function ({ data, setTriggerValue }) {
  const kept = (window.__labFrames ??= new Map()), old = new Map(kept);
  kept.clear();
  for (const { key, context, stamp, text } of data.frames) {
    const before = old.get(key);
    kept.set(key, before?.stamp === stamp && before.context === context ? before : { context, stamp, text });
  }
  document.documentElement.dataset.labFrames = [...kept.keys()].join(' ');
  // A popover has the role of a dialog, too, but takes nothing from the page: only a modal one is waited for.
  const held = () => document.querySelector('[data-dragging=true], [data-dragged=true], [data-testid=stDialog]');
  const rests = () => !held() && !busy() && performance.now() - keyed > ANSWERED_MS;
  // Again and again: an answer that brings nothing new does not come to this function.
  const ask = () => { if (rests()) setTriggerValue('look', Date.now()); };
  clearInterval(window.__labFramesTimer); // what is returned is called at the end, not before the next call
  const timer = window.__labFramesTimer = data.more ? setInterval(ask, BEAT) : 0;
  return () => clearInterval(timer);
}
""".replace("BEAT", str(_BEAT_MS))
_SENDER = st.components.v2.component("lab_frames", html="<span hidden></span>", js=BUSY_JS + _JS, isolate_styles=False)


@dataclass(frozen=True)
class Frames:
    """Maps along the slider of that ``key``, as `frames_text` has them.

    ``context`` names everything else that they depend on: a chart of another context does not use them.
    """

    key: str
    context: str
    text: str


def frames_text(frames: Mapping[str, Any]) -> str:
    """What `deconditioning.figures.map_frames` made, written out."""
    return json.dumps(frames, separators=(",", ":"), allow_nan=False)


def send_frames(frames: Sequence[Frames], *, more: bool) -> None:
    """Let the browser have these and no others; where ``more`` are to come it has the fragment run again soon."""
    sent = [
        {"key": each.key, "context": each.context, "text": each.text,
         "stamp": hashlib.blake2b(each.text.encode(), digest_size=8).hexdigest()}
        for each in frames
    ]  # fmt: skip
    _SENDER(key="lab-frames", data={"frames": sent, "more": more}, on_look_change=_nothing)


def _nothing() -> None:
    """That the browser asks is enough: the fragment runs."""
