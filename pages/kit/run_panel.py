"""What pages share about a run of theirs: which one it is, its progress with Cancel, its trace as charts."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.engine import Run, RunSpec
from core.engine.compare import run_sentences
from core.engine.series import trace_series
from core.errors import InputError
from core.figures.traces import hyperparameter_trace, objective_trace
from core.wording import duration
from pages.kit.asked import ask
from pages.kit.layout import refusal
from pages.kit.plotly_live import plotly_live
from pages.kit.state import get_engine, recall, remember, remembered
from pages.kit.theme import is_dark
from pages.kit.words import sentence_of


def begin_run(spec: RunSpec) -> None:
    """Submit a run, put it into the address and redraw; a refusal is a sentence."""
    try:
        run_id = get_engine().submit(spec)
    except InputError as error:
        refusal(error)
        return
    remember(_slot(spec.task), run_id)
    st.query_params["run"] = run_id
    st.rerun()


def _slot(task: str) -> str:
    return f"run-of-{task}"


def run_of(task: str) -> Run | None:
    """The run of this task named in the address, or the session's last one; None when there is none."""
    for asked in (st.query_params.get("run"), recall(_slot(task))):
        if not asked:
            continue
        try:
            run = get_engine().get(asked)
        except InputError:
            continue
        if run.spec.task == task:
            remember(_slot(task), asked)
            return _checked(run)
    return None


def is_busy(run: Run | None) -> bool:
    """Whether a run of this visitor goes on, so that they begin no other one of the same kind."""
    return run is not None and run.active and get_engine().is_mine(run)


def tell_whose(run: Run) -> None:
    """A sentence above a run that is somebody else's."""
    if not get_engine().is_mine(run):
        st.info("Somebody else began this run and you have its link: look at it; what you learn is a run of your own.")


def _checked(run: Run) -> Run | None:
    """The run with a content that pages can rely on; None, and a sentence, where its settings are damaged."""
    from core.studies.run_content import readable

    try:
        return readable(run)
    except InputError as error:
        refusal(error)
        return None


def take_once(run: Run, values: Callable[[Any], Mapping[str, Any] | None]) -> None:
    """What an ended run learned goes to the controls, the first time that this session sees it.

    ``values(learned)`` are the controls' values by their keys; None where the page no longer fits them.
    """
    taken = remembered("_taken-runs", set())
    learned = (run.result or {}).get("learned")
    if not learned or run.id in taken:
        return
    asked = values(learned)
    if asked is not None:
        ask(asked)
    taken.add(run.id)
    if asked is not None:
        st.rerun()


def follow(run: Run, draw: Callable[[list[dict[str, Any]]], None], *, doing: str = "Learning") -> None:
    """Progress, time left and Cancel of an active run, with ``draw(trace)`` below; a full redraw when it ends."""

    @st.fragment(run_every=0.8)
    def live() -> None:
        engine = get_engine()
        now = engine.get(run.id)
        if not now.active:
            st.rerun(scope="app")
        with st.container(border=True):
            text, button = st.columns([5, 1], vertical_alignment="center")
            left = f" · about {duration(now.eta_s)} left" if now.eta_s is not None else ""
            said = sentence_of(now.message or "waiting for the engine")
            text.progress(now.progress or 0.0, text=f"{doing}: {said}{left}")
            if engine.is_mine(now) and button.button("Cancel", key=f"cancel-{run.id}", width="stretch"):
                _cancel(run)
            draw(engine.trace(run.id))

    tell_whose(run)
    live()


def _cancel(run: Run) -> None:
    """Ask the run to stop; one that ended since the button was drawn is shown as it ended."""
    try:
        get_engine().cancel(run.id)
    except InputError:
        st.rerun(scope="app")


def watch(
    task: str,
    take: Callable[[Run, Any], Mapping[str, Any] | None],
    *,
    draw: Callable[[Run, list[dict[str, Any]]], None] | None = None,
    cancelled: str = "Cancelled, the best so far is on the sliders",
) -> None:
    """The panel of this task's run: ``draw(run, trace)`` (its charts) while it goes on, then its outcome and charts.

    ``take(run, learned)`` gets what it learned, once, and gives what to put on the sliders if the page still fits it.
    """
    run = run_of(task)
    if run is None:
        return
    if run.active:
        follow(run, trace_charts if draw is None else lambda rows: draw(run, rows))
        return
    take_once(run, lambda learned: take(run, learned))
    outcome(run, "Learned", cancelled)
    with st.expander("How it went"):
        trace_charts(get_engine().trace(run.id))


def outcome(run: Run, done: str, cancelled: str, more: str = "") -> None:
    """One sentence on how an ended run ended (``done`` or ``cancelled``, then its time and ``more``), and warnings."""
    tell_whose(run)
    words = {"done": done, "cancelled": cancelled}
    took = f" in {duration(run.ended - run.started)}" if run.ended and run.started else ""
    title = words.get(run.status, f"{run.status.capitalize()}: {sentence_of(run.message)}")
    (st.error if run.status in ("failed", "interrupted") else st.info)(f"{title}{took}{more} (run {run.id})")
    for warning in run_sentences(run, "warnings"):
        st.warning(sentence_of(warning))


def trace_charts(rows: list[dict[str, Any]]) -> None:
    """The objective of each stage and every hyperparameter against the evaluation."""
    objectives, (steps, values) = trace_series(rows)
    if not objectives:
        st.caption("The first evaluation is on its way …")
        return
    dark = is_dark()
    for stage, (at, lines) in objectives.items():
        plotly_live(objective_trace(stage, at, lines, height=210, dark=dark), f"run-objective-{stage}")
    if values:
        plotly_live(hyperparameter_trace(steps, values, dark=dark), "run-hyperparameters")
