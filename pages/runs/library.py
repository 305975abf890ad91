"""The list of runs with their small pictures: filtered, sorted, grouped; rows that are chosen are opened."""

import base64
import time
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.engine.compare import run_model, run_scores
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.figures.printed.thumbnail import curve_thumbnail
from deconditioning.figures.trace_lines import trace_series
from deconditioning.studies.run_picture import sweep_sketch
from deconditioning.studies.sweep_content import TASKS
from deconditioning.wording import duration, rounded
from pages.kit.controls import widgets
from pages.kit.layout.escaping import MISSING, cells, plain
from pages.kit.session import Key
from pages.runs.names import STATES, cells_of, data_of, data_title, name_of, short_name, units_of

#: Runs that are compared at once.
MOST = 6
_ORDERS = {"created": "Newest first", "name": "Name", "rmse": "RMSE", "crps": "CRPS"}
#: Rows that are shown without scrolling, and the heights of the head, with its border, and of a row in pixels.
_ROWS, _HEAD, _ROW = 7, 37, 62
#: Widths with which all of them stand beside each other in a window of 1280 pixels.
_COLUMNS: dict[str, Any] = {
    "Title": st.column_config.TextColumn(width=240),
    "State": st.column_config.TextColumn(width=80),
    "Star": st.column_config.TextColumn(width=36),
    "Units": st.column_config.TextColumn(width=48),
    "Data": st.column_config.TextColumn(width=140),
    "Cells": st.column_config.TextColumn(width=80),
    "Started (UTC)": st.column_config.TextColumn(width=96),
    "Took": st.column_config.TextColumn(width=78),
    "RMSE": st.column_config.TextColumn(width=56, alignment="right"),
    "CRPS": st.column_config.TextColumn(width=56, alignment="right"),
    "Coverage of 95 %": st.column_config.NumberColumn(format="%.0f %%", width=112),
    "Picture": st.column_config.ImageColumn(width="small"),
    "Tags": st.column_config.ListColumn(width=70),
}


def library(engine: Visitor, runs: Sequence[Run]) -> None:
    """Filter, order, and the list; what is chosen in it goes to the controls below."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = widgets.text_input("Find", key="find", max_chars=80, placeholder="name, tag, data set, model")
        order = widgets.selectbox("Sort by", list(_ORDERS), key="sort", format_func=_ORDERS.__getitem__, width=170)
        stars = widgets.toggle("Starred only", key="stars")
        grouped = widgets.toggle("Group by data set", key="group")
    result = [run for run in runs if (run.label.star or not stars) and matches(run, words)]
    if not result:
        st.caption("No run matches: change the search.")
    groups: dict[str, list[Run]] = {}
    for run in ordered(result, order):
        groups.setdefault(data_of(run) or "without data" if grouped else "", []).append(run)
    for name, members in groups.items():
        if name:
            st.markdown(f"**{plain(name)}**, {len(members)} run{'s' if len(members) > 1 else ''}")
        _table(engine, members, f"library-{name}")


def matches(run: Run, words: str) -> bool:
    """Whether every word stands in the run's name, title, tags, data set, model or state."""
    parts = [name_of(run), run.spec.title, *run.label.tags, data_of(run), run_model(run), run.status]
    text = " ".join(parts).lower()
    return all(word in text for word in words.lower().split())


def ordered(runs: Sequence[Run], order: str) -> list[Run]:
    """The runs, the newest first or the smallest score; those without a score come last."""
    if order == "name":
        return sorted(runs, key=lambda run: name_of(run).lower())
    if order in ("rmse", "crps"):
        scores = {run.id: _score_of(run, order) for run in runs}
        return sorted(runs, key=lambda run: (scores[run.id] is None, scores[run.id] or 0.0))
    return sorted(runs, key=lambda run: run.created, reverse=True)


def _score_of(run: Run, name: str) -> float | None:
    """A score of the run's own model."""
    return run_scores(run).get(run_model(run), {}).get(name)


def _score_text(run: Run, name: str) -> str | None:
    return None if (score := _score_of(run, name)) is None else rounded(score)


def _row_of(engine: Visitor, run: Run) -> dict[str, Any]:
    """One run as a row of the list."""
    return {
        "Title": short_name(run),
        "Star": "★" if run.label.star else "",
        "Picture": _picture(run, engine),
        "RMSE": _score_text(run, "rmse"),
        "CRPS": _score_text(run, "crps"),
        "Units": units_of(run),
        "Coverage of 95 %": None if (share := _score_of(run, "coverage95")) is None else 100 * share,
        "Data": data_title(run),
        "Cells": cells_of(run),
        "State": STATES[run.status][0],
        "Tags": list(run.label.tags),
        "Started (UTC)": time.strftime("%d %b %H:%M", time.gmtime(run.created)),
        "Took": duration(run.ended - run.started) if run.ended and run.started else "",
    }


def _with_something(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows without columns that are empty in all of them."""
    filled = [name for name in rows[0] if any(row[name] not in (None, "", []) for row in rows)]
    return [{name: row[name] for name in filled} for row in rows]


def _table(engine: Visitor, runs: Sequence[Run], key: str) -> None:
    rows = _with_something([_row_of(engine, run) for run in runs])
    st.session_state[Key.LISTED.of(key)] = [run.id for run in runs]
    st.dataframe(
        cells(rows), hide_index=True, width="stretch", height=_HEAD + _ROW * min(len(rows), _ROWS), row_height=_ROW,
        key=key, column_config=_COLUMNS, placeholder=MISSING, on_select=lambda: _open(key), selection_mode="multi-row",
    )  # fmt: skip


def _open(key: str) -> None:
    """The first chosen row is the run, the others are compared with it."""
    chosen: Mapping[str, Any] = st.session_state.get(key, {})
    listed = st.session_state.get(Key.LISTED.of(key), [])
    ids = [listed[row] for row in chosen.get("selection", {}).get("rows", ()) if row < len(listed)][:MOST]
    if ids:
        st.session_state.update({"box-run": ids[0], "box-with": ids[1:]})


def _picture(run: Run, engine: Visitor) -> str | None:
    """The run's small picture as a data address: its map or curve, else the way its objective went."""
    if run.active:
        return None
    return _picture_of_run(run.id, run.ended or 0.0, engine, run)


@st.cache_data(show_spinner=False, max_entries=512)
def _picture_of_run(run_id: str, ended: float, _engine: Visitor, _run: Run) -> str | None:
    try:
        if THUMBNAIL in _run.files:
            picture = _engine.file(run_id, THUMBNAIL)
        elif _run.spec.task in TASKS:
            picture = sweep_sketch(_run)
        else:
            picture = _curve(_engine.trace(run_id))
    except InputError:
        return None
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


def _curve(rows: Sequence[Mapping[str, Any]]) -> bytes:
    objectives, _ = trace_series(rows)
    lines = [values for _, named in objectives.values() for values in named.values()]
    return curve_thumbnail(lines[0] if lines else ())
