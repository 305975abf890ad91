"""What a page shows in this run: its controls, pictures and scores, for undo, pinning and links."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from pages.kit.plotly_live import Prepared

_SEEN, _PINNED = "_seen", "_pinned"
#: Letters of a caption by which a table is known again: what follows may tell numbers of the moment.
_SAME_TABLE = 20
Scores = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True)
class Control:
    """A control in the address: what it is called, holds, would hold by itself, and how its value reads."""

    key: str
    label: str
    value: Any
    default: Any
    text: str


@dataclass(frozen=True)
class Table:
    """A table of scores: what stands above it, its rows by model, their names, the field's units."""

    caption: str
    rows: Scores
    names: Mapping[str, str]
    units: str


@dataclass
class Seen:
    """One page at one state of its controls; a fragment that runs alone renews its part."""

    page: str = ""
    controls: dict[str, Control] = field(default_factory=dict)
    figures: "dict[str, Prepared]" = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    presets: tuple[Any, ...] = ()
    places: dict[str, Any] = field(default_factory=dict)

    def values(self) -> dict[str, Any]:
        """The controls' values by their keys."""
        return {key: control.value for key, control in self.controls.items()}


def begin(page: str) -> None:
    """A run of the whole page begins."""
    st.session_state[_SEEN] = Seen(page)


def seen() -> Seen:
    """What this run has shown so far; empty where no page is run by the router."""
    found: Seen = st.session_state.setdefault(_SEEN, Seen())
    return found


def saw_control(key: str, label: str, value: Any, default: Any, text: str) -> None:
    """A control has been drawn."""
    seen().controls[key] = Control(key, label, value, default, text)


def saw_figure(key: str, figure: "Prepared") -> None:
    """A picture has been drawn."""
    seen().figures[key] = figure


def saw_scores(caption: str, rows: Scores, names: Mapping[str, str], units: str) -> None:
    """A table of scores has been drawn."""
    table = Table(caption, rows, names, units)
    seen().tables[re.sub(r"[\W\d_]+", " ", caption)[:_SAME_TABLE]] = table


def pin() -> None:
    """What the page shows now is A, until another state is pinned."""
    now = seen()
    st.session_state[_PINNED] = Seen(now.page, dict(now.controls), dict(now.figures), dict(now.tables))


def unpin() -> None:
    """There is no A any more."""
    st.session_state.pop(_PINNED, None)


def pinned() -> Seen | None:
    """A, where this page is the one that was pinned."""
    found: Seen | None = st.session_state.get(_PINNED)
    return found if found is not None and found.page == seen().page else None


def pinned_figure(key: str) -> "Prepared | None":
    """A's picture under the key of one of B's."""
    found = pinned()
    return found.figures.get(key) if found is not None else None
