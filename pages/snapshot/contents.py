"""What a snapshot shows of a run: pictures, scores, what it warned of, settings, how it was made, one way on."""

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from deconditioning.downscaling.saved_map import FILE
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.figures.style import Figure
from deconditioning.studies.run_description import (
    data_sentence,
    learned_compared_with_start,
    made_sentence,
    settings_compared_with_usual,
)
from deconditioning.studies.run_picture import run_figures
from deconditioning.studies.sweep_content import TASKS
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.theme import is_dark
from pages.kit.pages import page_link
from pages.kit.runs.run_panel import show_version
from pages.runs.detail import scores, trace_plots
from pages.runs.names import STATES, is_given, setting_name, setting_text
from pages.runs.pictures import maps
from pages.runs.sweeps import open_sweep, sweeps
from pages.snapshot.run_address import page_of_run

_A_ROW = 3


def show(engine: Visitor, run: Run) -> None:
    """All of it."""
    if run.active:
        share = f", {100 * run.progress:.0f} % done" if run.progress else ""
        st.info(f"The run has not finished yet ({STATES[run.status][0].lower()}{share}): open this page again later.")
    elif run.status == "failed" and run.message:
        st.warning(sentence_of(run.message))
    show_version(run)
    _way_on(engine, run)
    maps(engine, [run])
    sweeps([run])
    if not _pictures(run):
        trace_plots(engine, run)
    scores(run)
    _settings(run)
    st.caption(sentence_of(made_sentence(run)))
    if result := data_sentence(run):
        st.caption(sentence_of(result))


def _way_on(engine: Visitor, run: Run) -> None:
    """Where the run is one's own, it is opened in the library; else its settings are on its page."""
    if engine.is_mine(run):
        page_link("runs", "Open on page Runs", query={"run": run.id}, icon=":material/monitoring:")
    elif result := page_of_run(run):
        folder, query = result
        page_link(folder, "Open its page with these settings", query=query, icon=":material/tune:")
    else:
        open_sweep(run)


@st.cache_data(show_spinner="Drawing …", max_entries=24)
def _figures(run_id: str, ended: float, dark: bool, _run: Run) -> list[Figure]:
    return run_figures(_run.spec.task, _run.spec.settings, _run.result, dark=dark)


def _pictures(run: Run) -> bool:
    """The pictures of the run's task; whether it has any, its maps and sweeps among them."""
    try:
        figures = _figures(run.id, run.ended or 0.0, is_dark(), run)
    except InputError as error:
        st.caption(sentence_of(error))
        return False
    for first in range(0, len(figures), _A_ROW):
        row = figures[first : first + _A_ROW]
        for index, (figure, column) in enumerate(zip(row, st.columns(len(row)), strict=True)):
            with column:
                plotly_live(figure, f"snapshot-{run.id}-{first + index}", later=True)
    return bool(figures) or run.spec.task in TASKS or FILE in run.files


def _settings(run: Run) -> None:
    """What was learned; settings that are not the defaults; behind a fold the others that hold something."""
    learned = learned_compared_with_start(run)
    if learned:
        st.subheader("Learned hyperparameters", anchor=False)
        starts = [(name, value, "the model's default" if start is None else start) for name, value, start in learned]
        _table(starts, "Learned hyperparameters", ("Learned", "Start"))
    starting = {f"settings.{name}" for name, _, _ in learned}
    rows = [row for row in settings_compared_with_usual(run) if is_given(row[1]) or is_given(row[2])]
    rows = [row for row in rows if row[0] not in starting]
    rows = list({(setting_name(row[0]), setting_text(row[1])): row for row in reversed(rows)}.values())[::-1]
    chosen = [row for row in rows if row[1] != row[2]]
    st.subheader("Settings", anchor=False)
    if chosen:
        _table(chosen, "Settings")
    else:
        st.markdown("All settings are the defaults.")
    if others := [row for row in rows if row not in chosen]:
        many = "1 setting is its default" if len(others) == 1 else f"{len(others)} settings are the defaults"
        with st.expander(many):
            _table(others, "Settings that are the defaults")


def _table(rows: Sequence[tuple[str, Any, Any]], name: str, heads: tuple[str, str] = ("Value", "Default")) -> None:
    body = "".join(
        f'<tr><th scope="row">{escape(setting_name(setting))}</th><td>{escape(setting_text(value, setting))}</td>'
        f"<td>{escape(setting_text(usual, setting))}</td></tr>"
        for setting, value, usual in rows
    )
    first, second = heads
    table = f"<table><thead><tr><th></th><th>{first}</th><th>{second}</th></tr></thead><tbody>{body}</tbody></table>"
    scroll = f'<div class="lab-scroll" data-name="{name}" tabindex="0">{table}</div>'
    st.html(f'<div class="lab-table lab-words">{scroll}</div>')
