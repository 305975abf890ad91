"""A moved slider draws its picture at once; the rest of the page follows when the picture is painted.

The sliders and the picture are a fragment: Streamlit runs it alone, and the browser lays out a dozen elements instead
of sixty. The chart then asks for a run of the whole page, as soon as no key or pointer is moved any more and nothing
else runs.
"""

import itertools
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

import streamlit as st

from deconditioning.errors import InputError
from pages.kit.streamlit_private import overtaken_error

#: ``busy``, for scripts that ask for a run: whether one would take another one's place.
BUSY_JS = Path(__file__).with_name("busy.js").read_text(encoding="utf-8")
_JS = """
export default function ({ setTriggerValue }) {
  const follow = () => busy() ? setTimeout(() => window.__labFollow?.(), 50) : setTriggerValue('now', Date.now());
  window.__labFollow = follow;
  return () => { if (window.__labFollow === follow) window.__labFollow = undefined; };
}
"""
_FOLLOWER = st.components.v2.component("lab_follower", html="<span hidden></span>", js=BUSY_JS + _JS)
_NUMBERS = itertools.count(1)
_AHEAD: ContextVar[int] = ContextVar("ahead", default=0)
Drawn = TypeVar("Drawn")


def ahead_of_page() -> int:
    """In a picture that is drawn before its page: a number of this drawing, for the chart; otherwise 0."""
    return _AHEAD.get()


def picture_first(draw: Callable[[], Drawn]) -> Drawn:
    """Draw controls and a picture, here and, after every change of these controls, alone before the page.

    ``draw`` may put its controls into the sidebar. It must draw a `plotly_live` chart, and what it returns is returned
    to the page. Input that it refuses is refused to the page: raises ``InputError``.
    """
    _FOLLOWER(key="lab-follower", on_now_change=_nothing)
    return part_first(draw)


def part_first(draw: Callable[[], Drawn]) -> Drawn:
    """A part of what `picture_first` draws that is drawn alone after a change of its own controls; like that else."""
    result: list[Drawn] = []
    refused: list[InputError] = []
    begun: list[bool] = []

    @st.fragment
    def part() -> None:
        alone = bool(begun)
        begun.append(True)
        token = _AHEAD.set(next(_NUMBERS) if alone else _AHEAD.get())
        try:
            drawn = draw()
        except overtaken_error():
            # A newer run of the page, in a thread of its own, has taken this drawing's places outside back. Then the
            # line below ends this run; where the page was broken off before it came here, the page runs again.
            if not ahead_of_page():
                raise
            st.rerun()
        except InputError as error:
            if alone:
                st.rerun()
            refused.append(error)
        else:
            if not alone:  # nobody asks for it again, and it may be large
                result.append(drawn)
        finally:
            _AHEAD.reset(token)

    part()
    if refused:
        raise refused[0]
    return result[0]


def _nothing() -> None:
    """That the browser asks for it is enough: the page runs."""
