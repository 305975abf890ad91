"""Stored results that a person extends by further runs, measured in the background, drawn as they come."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from deconditioning.errors import Cancelled, InputError
from pages.kit.chart.background import get_background
from pages.kit.layout.escaping import sentence_of
from pages.kit.session import Key

Row = dict[str, Any]
#: Seconds between the pictures of a growing result.
BEAT = 1.0


@dataclass
class Extension:
    """Rows measured in this session for one setting, and the run that is under way."""

    lane: str
    rows: list[Row] = field(default_factory=list)
    runs: int = 0
    job: "Future[None] | None" = None
    trouble: str = ""

    def begin(self, work: Callable[[int], Iterator[Row]], seed: int) -> None:
        """Measure a run with this seed; its rows join as they come."""
        self.trouble, self.runs = "", self.runs + 1

        def measure(check: Callable[[], None]) -> None:
            for row in work(seed):
                check()
                self.rows.append(row)

        self.job = get_background().request(f"{self.lane}-{self.runs}-{time.time_ns()}", self.lane, measure)

    def settle(self) -> bool:
        """Whether the run has just ended; what it refused is kept as a sentence."""
        if self.job is None or not self.job.done():
            return False
        error = self.job.exception()
        if isinstance(error, InputError):
            self.trouble = str(error)
        elif error is not None and not isinstance(error, Cancelled):
            self.trouble = "This run failed with an unexpected error: try other settings."
        self.job = None
        return True


def extension(key: str, setting: str) -> Extension:
    """The session's own for this setting."""
    extensions = st.session_state.setdefault(Key.EXTENSIONS.of(key), {})
    if setting not in extensions:
        extensions[setting] = Extension(f"{key}-{time.time_ns()}")
    return extensions[setting]


def extendable(
    key: str, setting: str, stored: list[Row], work: Callable[[int], Iterator[Row]],
    draw: Callable[[list[Row]], None], *, seed: int, sentence: str,
) -> None:  # fmt: skip
    """Draw stored rows with those measured here; a button measures one more run with the next seed.

    ``work(seed)`` yields rows; ``seed`` is the first that is not stored; ``sentence`` says where stored rows come from.
    """
    mine = extension(key, setting)

    @st.fragment(run_every=BEAT if mine.job is not None else None)
    def panel() -> None:
        if mine.settle():
            st.rerun()
        rows = [*stored, *mine.rows]
        if rows:
            draw(rows)
        line = st.columns([1, 3], vertical_alignment="center")
        label = "Measuring …" if mine.job is not None else "One more run" if rows else "Measure a run"
        if line[0].button(label, key=f"{key}-extend", width="stretch", disabled=mine.job is not None):
            mine.begin(work, seed + mine.runs)
            st.rerun()
        more = f" Measured here: {mine.runs} run{'s' if mine.runs > 1 else ''}." if mine.runs else ""
        line[1].caption(f"{sentence}{more}")
        if mine.trouble:
            st.warning(sentence_of(mine.trouble))

    panel()
