"""What a page shows in this run: its controls, pictures and scores, for undo, pinning and links."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import streamlit as st

from deconditioning.wording import number
from pages.kit.chart.prepared import Prepared
from pages.kit.session import Key

#: Letters of a caption by which a table is known again: what follows may tell numbers of the moment.
_SAME_TABLE = 20
#: Keys of a tool's own controls begin so: they are no settings of the page.
_OF_TOOLS = "sweep"
Scores = Mapping[str, Mapping[str, float | None]]
#: The value of a control from its words in an address; ``ValueError`` where they are none of its values.
Reader = Callable[[Sequence[str]], Any]


def unreadable(words: Sequence[str]) -> Any:
    """The reader of a control that reads nothing."""
    raise ValueError(words)


def _plainly(value: Any) -> str:
    """A value as it is, a number to four digits."""
    return number(value, 4) if isinstance(value, float) else str(value)


def same(first: Any, second: Any) -> bool:
    """Whether two values of a control read the same."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (first, second))
    if numbers and not (isinstance(first, int) and isinstance(second, int)):
        return math.isclose(first, second, rel_tol=5e-4, abs_tol=1e-12)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


@dataclass(frozen=True)
class Control:
    """A control in the address: what it is called, holds, would hold by itself, and how that reads on the page.

    ``words`` are what it holds as an address says it, and ``read`` makes a value of such words. One that is
    ``in_picture`` is moved there and shown beside it. ``shows`` says how another value would read.
    """

    key: str
    label: str
    value: Any
    default: Any
    text: str
    words: tuple[str, ...] = ()
    read: Reader = unreadable
    in_picture: bool = False
    shows: Callable[[Any], str] = _plainly

    def from_words(self, words: Sequence[str] | None) -> Any:
        """What an address with these words makes it hold: its default where it has none, or none that it knows."""
        try:
            return self.default if words is None else self.read(words)
        except ValueError:
            return self.default

    @property
    def differs(self) -> bool:
        """Whether it holds something else than it would by itself."""
        return not same(self.value, self.default)


@dataclass(frozen=True)
class Table:
    """A table of scores: what stands above it, its rows by model, their names, the field's units, and how it is
    ``written``, its heading first."""

    caption: str
    rows: Scores
    names: Mapping[str, str]
    units: str
    written: tuple[tuple[str, ...], ...] = ()


class Tool(Protocol):
    """A tool that a page offers: its switch in the line of tools, and below it what that opens."""

    def switch(self) -> None:
        """Draw the switch."""

    def panel(self) -> None:
        """Draw what it opens, where it is on."""


@dataclass
class PageRecord:
    """One page at one state of its controls; a fragment that runs alone renews its part.

    ``reachable`` are keys of controls that can be set at the level Essential although that hides them, in a dialog;
    ``dialog``: one is open.
    """

    page: str = ""
    controls: dict[str, Control] = field(default_factory=dict)
    figures: dict[str, Prepared] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    presets: tuple[Any, ...] = ()
    places: dict[str, Any] = field(default_factory=dict)
    sweep: "Tool | None" = None
    essentials: Mapping[str, Any] = field(default_factory=dict)
    shows_all: bool = True
    reachable: set[str] = field(default_factory=set)
    presents_itself: bool = False
    dialog: bool = False
    title: str = ""
    question: str = ""
    lead: str = ""
    method: tuple[str, str] = ("", "")

    def values(self) -> dict[str, Any]:
        """The controls' values by their keys."""
        return {key: control.value for key, control in self.controls.items()}

    def words(self) -> dict[str, tuple[str, ...]]:
        """What the controls hold, by their keys, as an address says it."""
        return {key: control.words for key, control in self.controls.items()}

    def all_numbers(self) -> dict[str, float]:
        """Every number that the page shows: those of its tables as "model.score", and those by names."""
        rows = [(name, row) for table in self.tables.values() for name, row in table.rows.items()]
        scores = {f"{name}.{score}": value for name, row in rows for score, value in row.items() if value is not None}
        return scores | self.numbers


def begin(page: str) -> None:
    """A run of the whole page begins."""
    st.session_state[Key.PAGE] = PageRecord(page)


def page_record() -> PageRecord:
    """What this run has shown so far; empty where no page is run by the router."""
    page_record: PageRecord = st.session_state.setdefault(Key.PAGE, PageRecord())
    return page_record


def record_control(
    key: str, label: str, value: Any, default: Any, text: str, words: Sequence[str], read: Reader, **more: Any
) -> None:
    """A control has been drawn; the arguments are those of `Control`."""
    if key.startswith(_OF_TOOLS):
        return
    page_record().controls[key] = Control(key, label, value, default, text, tuple(words), read, **more)


def record_figure(key: str, figure: Prepared) -> None:
    """A picture has been drawn."""
    page_record().figures[key] = figure


def record_title(title: str, question: str) -> None:
    """The page's title and the question that it answers."""
    page_record().title, page_record().question = title, question


def record_lead(sentence: str) -> None:
    """What the page shows, in a sentence of Markdown."""
    page_record().lead = sentence


def record_method(sentence: str, source: str) -> None:
    """A sentence on the method and its source, both Markdown; the first of a page stands for it."""
    if not page_record().method[0]:
        page_record().method = (sentence, source)


def record_scores(
    caption: str, rows: Scores, names: Mapping[str, str], units: str, written: Sequence[Sequence[str]] = ()
) -> None:
    """A table of scores has been drawn."""
    table = Table(caption, rows, names, units, tuple(map(tuple, written)))
    page_record().tables[re.sub(r"[\W\d_]+", " ", caption)[:_SAME_TABLE]] = table


def record_numbers(**numbers: float) -> None:
    """Numbers that the page says in a sentence or picture, for exercises to be checked against."""
    page_record().numbers.update(numbers)


def pin() -> None:
    """What the page shows now is A, until another state is pinned."""
    now = page_record()
    st.session_state[Key.PINNED] = PageRecord(now.page, dict(now.controls), dict(now.figures), dict(now.tables))


def unpin() -> None:
    """There is no A any more."""
    st.session_state.pop(Key.PINNED, None)


def pinned() -> PageRecord | None:
    """A, where this page is the one that was pinned."""
    result: PageRecord | None = st.session_state.get(Key.PINNED)
    return result if result is not None and result.page == page_record().page else None


def pinned_figure(key: str) -> Prepared | None:
    """A's picture under the key of one of B's."""
    page_record = pinned()
    return page_record.figures.get(key) if page_record is not None else None
