"""What pages share about a run of theirs: which one it is, its progress with Cancel, its trace as charts."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import streamlit as st

from deconditioning.engine.compare import run_sentences
from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import InputError
from deconditioning.figures.trace_lines import best_objective, fit_names, trace_series
from deconditioning.figures.traces import hyperparameter_trace, objective_trace
from deconditioning.versions import difference
from deconditioning.wording import about, duration, signed
from pages.kit.chart.background import redraw
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import refusal, warnings
from pages.kit.layout.theme import is_dark
from pages.kit.session import Key
from pages.kit.state import get_engine

#: Seconds from one look at a run that goes on to the next, and how long one that is cancelled is waited for in between.
_EVERY_S, _SOON_S = 0.8, 0.6
#: A run that has waited longer for its turn, in seconds, did so because of others.
_LONG_WAIT_S = 30.0


def begin_run(spec: RunSpec) -> None:
    """Submit a run, put it into the address and redraw; a refusal is a sentence."""
    try:
        run_id = get_engine().submit(spec)
    except InputError as error:
        refusal(error)
        return
    st.session_state[Key.RUN.of(spec.task)] = run_id
    st.query_params["run"] = run_id
    st.rerun()


def show_duration(doing: str, seconds: float) -> None:
    """Say, beside the button that begins it, about how long something takes now: "Learning takes about 40 s"."""
    slower = _slowdown(1)
    now = f"{doing} takes {about(slower * seconds)}"
    st.caption(f"{now} at the present load of this computer." if slower > 1.25 else f"{now}.")


def _slowdown(more: int = 0) -> float:
    """How many times as long a process takes as it would alone, where the processors are shared with ``more`` than
    now."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1.0, (load + more) / (os.cpu_count() or 1))


def run_of(task: str) -> Run | None:
    """The run of this task named in the address, or the session's last one; None when there is none."""
    for requested in (st.query_params.get("run"), st.session_state.get(Key.RUN.of(task))):
        if not requested:
            continue
        try:
            run = get_engine().get(requested)
        except InputError:
            continue
        if run.spec.task == task:
            st.session_state[Key.RUN.of(task)] = requested
            return _checked(run)
    return None


def is_busy(run: Run | None) -> bool:
    """Whether a run of this visitor goes on, so that they begin no other one of the same kind."""
    return run is not None and run.active and get_engine().is_mine(run)


def show_owner(run: Run) -> None:
    """A sentence above a run that is somebody else's, and one where its version gave other numbers."""
    if not get_engine().is_mine(run):
        st.info(
            "This run was started by somebody else, and you opened it with its link. You can view it but not change "
            "it. Press Learn to start your own run."
        )
    show_version(run)


def show_version(run: Run) -> None:
    """A sentence above a run whose version gave other numbers."""
    if problem := difference(run.version):
        st.info(
            sentence_of(f"{problem} What this page computes from the settings of the run may differ from its results.")
        )


def _checked(run: Run) -> Run | None:
    """The run with a content that pages can rely on; None, and a sentence, where its settings are damaged."""
    from deconditioning.studies.run_content import readable

    try:
        return readable(run)
    except InputError as error:
        refusal(error)
        return None


def take_once(run: Run, values: Callable[[Any], Mapping[str, Any] | None]) -> None:
    """What an ended run learned goes to the controls, the first time that this session sees it.

    ``values(learned)`` are the controls' values by their keys; None where the page no longer fits them.
    """
    taken_runs = st.session_state.setdefault(Key.TAKEN_RUNS, set())
    learned = (run.result or {}).get("learned")
    if not learned or run.id in taken_runs:
        return
    requested = values(learned)
    if requested is not None:
        set_on_next_run(requested)
    taken_runs.add(run.id)
    if requested is not None:
        st.rerun()


@contextmanager
def next_to_picture() -> Iterator[None]:
    """The place of a run that learns: at the foot of the sidebar, in view however far that is scrolled.

    The pictures keep their place on the page while it comes and goes (``lab-learning`` in page_layout.css).
    """
    with st.sidebar, st.container(key="lab-learning"):
        yield


def follow(
    run: Run, draw: Callable[[list[dict[str, Any]]], None], *, doing: str = "Learning", expected_s: float | None = None
) -> None:
    """Progress, time left and Cancel of an active run, with ``draw(trace)`` below; a full redraw when it ends.

    ``expected_s``: how long it should take alone; it counts until the run itself tells how fast it goes.
    """

    @st.fragment(run_every=_EVERY_S)
    def live() -> None:
        engine, stopping = get_engine(), is_stopping(run.id)
        now = engine.get(run.id)
        if not now.active:
            redraw()
        with st.container(border=True):
            words = status_words(now, expected_s)
            text = words if stopping or now.status == "queued" else f"{doing}: {words}"
            st.progress(share_done(now, expected_s), text=text)
            if engine.is_mine(now):
                st.button("Cancel", key=f"cancel-{run.id}", on_click=stop, args=(run.id,), disabled=stopping)
            draw(engine.trace(run.id))
        if stopping and not engine.wait(run.id, _SOON_S).active:
            redraw()

    show_owner(run)
    live()


def status_words(run: Run, expected_s: float | None = None) -> str:
    """What an active run does, for how long it has gone on, and how long it will."""
    if is_stopping(run.id):
        return "Stopping…"
    seconds = max(0, round(time.time() - _begun(run)))
    since = duration(seconds) if seconds > 9 else f"{seconds} s"
    queued = run.status == "queued"
    message = sentence_of(run.message or ("waiting for a free process" if queued else "starting")).removesuffix(".")
    if queued:
        return f"{message} ({since})"
    left = _seconds_left(run, expected_s)
    rest = "" if left is None else f", {about(left)} left"
    return f"{message} · {since} so far{rest}"


def share_done(run: Run, expected_s: float | None = None) -> float:
    """The share of a run's time that has passed; what the run itself tells where its time is not known."""
    left = _seconds_left(run, expected_s)
    if left is None:
        return run.progress or 0.0
    passed = max(0.0, time.time() - _begun(run))
    return passed / (passed + left) if passed + left > 0 else 0.0


def _seconds_left(run: Run, expected_s: float | None) -> float | None:
    """As the run's own pace has it; before that is known by the time expected at the present load. Never less than a
    tenth of the time it has taken, or two fifths where only expected, so that what takes longer is said to."""
    if run.started is None:
        return None
    passed = max(0.0, time.time() - run.started)
    if run.eta_s is not None:
        return max(run.eta_s, 0.1 * passed)
    return None if expected_s is None else max(expected_s * _slowdown() - passed, 0.4 * passed)


def _begun(run: Run) -> float:
    """From when its time counts: from the press of the button, unless the run had to wait for others."""
    if run.started is None:
        return run.created
    return run.started if run.started - run.created > _LONG_WAIT_S else min(run.created, run.started)


def is_stopping(run_id: str) -> bool:
    """Whether this session has asked the run to stop."""
    return run_id in st.session_state.setdefault(Key.STOPPING_RUNS, set())


def stop(run_id: str) -> None:
    """Ask the run to stop; one that has ended since the button was drawn is shown as it ended."""
    with suppress(InputError):  # the run has ended
        get_engine().cancel(run_id)
        st.session_state.setdefault(Key.STOPPING_RUNS, set()).add(run_id)


def watch(
    task: str,
    take: Callable[[Run, Any], Mapping[str, Any] | None],
    *,
    draw: Callable[[Run, list[dict[str, Any]]], None] | None = None,
    cancelled: str = "the sliders show the best values so far",
) -> None:
    """The panel of this task's run, in the sidebar: ``draw(run, trace)`` (its charts) while it goes on, then its
    outcome and charts.

    ``take(run, learned)`` gets what it learned, once, and gives what to put on the sliders if the page still fits it.
    """
    run = run_of(task)
    if run is None:
        return
    if run.active:
        with next_to_picture():
            follow(run, trace_charts if draw is None else lambda rows: draw(run, rows))
        return
    take_once(run, lambda values: take(run, values))
    show_learned(run, cancelled)


def show_learned(run: Run, cancelled: str = "the sliders show the best values so far", more: str = "") -> None:
    """How a run that learned ended; folded, so that controls stay in view, its warnings and its trace."""
    with next_to_picture():
        _ending(run, "Learned", cancelled, more)
        sentences = run_sentences(run, "warnings")
        count = f" and {len(sentences)} warning{'s' if len(sentences) > 1 else ''}" if sentences else ""
        with st.expander(f"Progress{count}"):
            warnings(sentences)
            st.caption(f"Run {run.id}.")
            rows = get_engine().trace(run.id)
            if not said_of_one_step(run, rows):
                trace_charts(rows)


def outcome(run: Run, done: str, cancelled: str, more: str = "") -> None:
    """How a run ended, and its warnings."""
    _ending(run, done, cancelled, more)
    warnings(run_sentences(run, "warnings"))


def _ending(run: Run, done: str, cancelled: str, more: str = "") -> None:
    """One sentence on how a run ended and how long it took.

    ``done`` begins that of a run that came to its end, ``cancelled`` says what is shown of one that did not; ``more``
    follows.
    """
    show_owner(run)
    took = duration(run.ended - _begun(run)) if run.ended and run.started else ""
    if run.status == "done":
        sentence = f"{done} in {took}" if took else done
    elif run.status == "cancelled":
        shown = cancelled if run.result else "there is no result yet"
        sentence = f"Cancelled after {took}; {shown}" if took else "Cancelled before it started"
    else:
        sentence = f"{run.status.capitalize()}{f' after {took}' if took else ''}: {sentence_of(run.message)}"
    (st.error if run.status in ("failed", "interrupted") else st.info)(f"{sentence}{more}".rstrip(".") + ".")


def said_of_one_step(run: Run, rows: list[dict[str, Any]]) -> bool:
    """Whether learning took a single step, of which a chart would show one dot: then a sentence says its value."""
    objectives, (steps, _) = trace_series(rows)
    if run.active or len({at for stage, _ in objectives.values() for at in stage} | set(steps)) != 1:
        return False
    best = best_objective(rows)
    value = f": {best[0]} {signed(best[1], 2)}" if best else ""
    st.markdown(
        f"Learning found nothing better than its start{value}."
        if run.status == "done"
        else f"Learning took one step{value}."
    )
    return True


def trace_charts(rows: list[dict[str, Any]]) -> None:
    """The objective of each stage and every hyperparameter against the evaluation."""
    objectives, (steps, values) = trace_series(rows)
    if not objectives:
        return
    dark, fits = is_dark(), fit_names(rows)
    for stage, (at, lines) in objectives.items():
        plotly_live(objective_trace(stage, at, lines, height=170, fits=fits, dark=dark), f"run-objective-{stage}")
        _, bracket, inside = next(iter(lines)).partition(" (")
        if bracket:
            st.caption(f"Approximated while learning: {inside.removesuffix(')')}.")
    if values:
        plotly_live(hyperparameter_trace(steps, values, fits=fits, dark=dark), "run-hyperparameters")
