"""Page Runs: every fit, its state and what came of it; compare two, take all of it home."""

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from core.engine import Run, Visitor
from core.engine.archive import zip_runs
from core.engine.compare import compare_settings, run_model, run_scores, run_sentences
from core.engine.series import trace_series
from core.errors import InputError
from core.wording import duration
from pages.kit.layout import notes, page_header, score_table
from pages.kit.pages import page_link
from pages.kit.plotly_live import plotly_live
from pages.kit.run_panel import tell_whose
from pages.kit.state import apply_values, forget, get_engine, is_known, recall, set_values
from pages.kit.theme import is_dark
from pages.kit.visitor import become_administrator, cookie, is_shared, sees_everything
from pages.kit.words import plain, sentence_of

STATES = {
    "queued": ("Waiting", "gray"),
    "running": ("Running", "blue"),
    "done": ("Done", "green"),
    "cancelled": ("Cancelled", "orange"),
    "failed": ("Failed", "red"),
    "interrupted": ("Interrupted", "orange"),
}


def main() -> None:
    """Draw the page."""
    page_header("Runs", "Every fit, its state and what came of it. A run goes on when this page is left or closed.")
    apply_values()
    engine = get_engine()
    rights()
    own = engine.runs()
    runs = [*own, *linked(engine, own)]
    if not runs:
        empty()
    active = any(run.active for run in runs)
    st.fragment(overview, run_every=1.0 if active else 5.0)(engine, states(own))
    if not runs:
        return
    left, right = st.columns(2)
    run = chosen(left, "Run", "run", runs)
    other = chosen(right, "Compare with", "with", [found for found in runs if found is not run], optional=True)
    if run is None:
        return
    st.fragment(detail, run_every=1.0 if run.active else None)(engine, run.id, other.id if other else None)
    if own:
        take_home(engine, own)


def rights() -> None:
    """On a shared server: whose runs these are, and the way in for who looks after all of them."""
    if not is_shared():
        return
    if sees_everything():
        st.info("You see everybody's runs and uploads, until this page is reloaded.")
        return
    kept = "" if cookie() else " Your browser keeps no cookies: they are yours only until you reload this page."
    st.caption(f"These are the runs of your browser; whoever has a link to one can look at it, not change it.{kept}")
    if "DECONDITIONING_ADMIN" in os.environ:
        with st.expander("Administrator"):
            secret = st.text_input("Secret", type="password", key="administrator")
            if secret and become_administrator(secret):
                st.rerun()
            elif secret:
                st.error("That is not the secret of DECONDITIONING_ADMIN.")


def linked(engine: Visitor, own: Sequence[Run]) -> list[Run]:
    """Runs that the address names and that are somebody else's."""
    known, found = {run.id for run in own}, []
    for asked in dict.fromkeys(st.query_params.get(query) for query in ("run", "with")):
        if asked and asked not in known:
            with suppress(InputError):  # `chosen` says so
                found.append(engine.get(asked))
    return found


def states(runs: Sequence[Run]) -> list[tuple[str, str]]:
    """What must not change without a full redraw of the page."""
    return [(run.id, run.status) for run in runs]


def empty() -> None:
    """What to do when there is nothing to see."""
    st.info("There are no runs yet. Open page Downscaling and press Learn: the fit appears here, live.")
    page_link("downscaling", "Go to page Downscaling")


def overview(engine: Visitor, seen: list[tuple[str, str]]) -> None:
    """The list of runs and the progress of those that go on; redraws the page when a run begins or ends."""
    runs = engine.runs()
    if states(runs) != seen:
        st.rerun(scope="app")
    for run in runs:
        if run.active:
            with st.container(border=True):
                going_on(engine, run, "list")
    if runs:
        rows = [overview_row(run) for run in runs]
        progress = st.column_config.ProgressColumn("Progress", min_value=0.0, max_value=1.0, format="percent")
        st.dataframe(
            rows,
            hide_index=True,
            width="stretch",
            height=min(38 + 35 * len(rows), 318),
            column_config={"Progress": progress},
        )


def overview_row(run: Run) -> dict[str, Any]:
    """One run as a row of the list."""
    rmse = run_scores(run).get(run_model(run), {}).get("rmse")
    units = units_of(run)
    return {
        "State": STATES[run.status][0],
        "Title": name_of(run),
        "Begun (UTC)": time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.created)),
        "Took": duration(run.ended - run.started) if run.ended and run.started else "",
        "Progress": run.progress,
        "Seed": run.spec.seed,
        "RMSE": "" if rmse is None else f"{rmse:.3g} {units}".strip(),
        "Message": run.message,
    }


def going_on(engine: Visitor, run: Run, where: str) -> None:
    """State, progress, time left and Cancel of a run that has not ended."""
    text, button = st.columns([5, 1], vertical_alignment="center")
    with text:
        words = [f"**{plain(name_of(run))}**", sentence_of(run.message or STATES[run.status][0])]
        if run.eta_s is not None:
            words.append(f"{duration(run.eta_s)} left")
        silent = time.time() - run.heard if run.heard else 0.0
        if silent > 15:
            words.append(f"not heard of for {duration(silent)}")
        st.progress(run.progress or 0.0, text=" · ".join(words))
    if engine.is_mine(run) and button.button("Cancel", key=f"cancel-{where}-{run.id}", width="stretch"):
        attempt(engine.cancel, run.id, f"{name_of(run)} is asked to stop; its best so far is kept.")


def chosen(place: Any, label: str, query: str, runs: Sequence[Run], *, optional: bool = False) -> Run | None:
    """A run chosen in a list, kept in the address as ``?query=ID``."""
    by_id = {run.id: run for run in runs}
    ids: list[str | None] = [None, *by_id] if optional else list(by_id)
    asked = st.query_params.get(query)
    if asked and asked not in by_id and not is_known(f"box-{query}"):
        place.warning(f"There is no run {plain(asked[:40])} here: it was deleted, or belongs to another runs folder.")
    if recall(f"box-{query}", asked) not in ids:
        forget(f"box-{query}")
    index = ids.index(asked) if asked in ids else 0
    pick = place.selectbox(
        label, ids, index, lambda i: described(by_id[i]) if i else "no other run", key=f"box-{query}"
    )
    if pick is None:
        st.query_params.pop(query, None)
        return None
    st.query_params[query] = pick
    return by_id[pick]


def detail(engine: Visitor, run_id: str, other_id: str | None) -> None:
    """Everything about a run, beside another one where asked."""
    try:
        runs = [engine.get(found) for found in (run_id, other_id) if found]
    except InputError as error:
        st.warning(sentence_of(error))
        return
    for run, column in zip(runs, st.columns(len(runs), gap="medium"), strict=True):
        with column:
            heading(engine, run)
            trace_plots(engine, run)
            scores(run)
    settings_table(runs)
    for run in runs:
        files(engine, run)


def heading(engine: Visitor, run: Run) -> None:
    """Title, state and what can be done with the run."""
    word, colour = STATES[run.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(name_of(run)), anchor=False, width="content")
        st.badge(word, color=colour)  # type: ignore[arg-type]
    begun = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(run.created))
    took = f" · took {duration(run.ended - run.started)}" if run.ended and run.started else ""
    st.caption(f"{run.id} · begun {begun}{took} · seed {run.spec.seed}")
    tell_whose(run)
    if run.active:
        going_on(engine, run, "detail")
        return
    if run.message:
        (st.error if run.status == "failed" else st.markdown)(sentence_of(run.message))
    with st.container(horizontal=True, vertical_alignment="center"):
        if run.spec.task == "downscale":
            page_link("downscaling", "Open on page Downscaling", query={"run": run.id}, icon=":material/grid_on:")
        elif run.spec.task.startswith("swiss-roll"):
            page_link("swiss_roll", "Open on page Swiss roll", query={"run": run.id}, icon=":material/cyclone:")
        if st.button("Run again", key=f"again-{run.id}", help="A new run with the same settings and seed"):
            run_again(engine, run)
        if not engine.is_mine(run):
            return
        with st.popover("Delete"):
            st.markdown("Delete this run and its files for good?")
            if st.button("Delete for good", key=f"delete-{run.id}", type="primary"):
                attempt(engine.delete, run.id, f"{name_of(run)} was deleted.")


def trace_plots(engine: Visitor, run: Run) -> None:
    """How the fit went: each stage's objective and every hyperparameter against the step."""
    from core.figures.traces import hyperparameter_trace, objective_trace

    dark = is_dark()
    objectives, (steps, parameters) = trace_series(engine.trace(run.id))
    for stage, (at, values) in objectives.items():
        plotly_live(objective_trace(stage, at, values, dark=dark), f"objective-{stage}-{run.id}")
    if parameters:
        plotly_live(hyperparameter_trace(steps, parameters, dark=dark), f"parameters-{run.id}")


def scores(run: Run) -> None:
    """The scores of a run's models and of its coarse cells, where it has any, and what it warned of."""
    for warning in run_sentences(run, "warnings"):
        st.warning(sentence_of(warning))
    if found := run_scores(run):
        score_table(found, units=units_of(run))
    if cells := run_scores(run, "coarse_scores"):
        names = {"withheld": "Withheld cells", "seen": "Cells the model saw"}
        score_table(
            cells, units=units_of(run), names=names, caption="Cell means of the fine field against coarse values"
        )
    notes(run_sentences(run, "notes"))


def units_of(run: Run) -> str:
    """The units of a run's field."""
    units = (run.result or {}).get("units")
    return units if isinstance(units, str) else ""


def settings_table(runs: Sequence[Run]) -> None:
    """Settings, those that differ first."""
    rows = compare_settings(runs)
    differ = len(compare_settings(runs, only_differences=True))
    label = f"Settings ({differ} differ, listed first)" if len(runs) > 1 else "Settings"
    with st.expander(label, expanded=len(runs) > 1):
        heads = [name_of(run) if len(runs) == 1 else described(run) for run in runs]
        table = [{"Setting": name, **dict(zip(heads, map(said, values), strict=True))} for name, values in rows]
        st.dataframe(table, hide_index=True, width="stretch")


def files(engine: Visitor, run: Run) -> None:
    """Everything of a run that can be taken home."""
    st.markdown(f"**Files of {plain(name_of(run))}**")
    with st.container(horizontal=True):
        for name in run.files:
            st.download_button(
                plain(name), partial(engine.file, run.id, name), name, key=f"file-{run.id}-{name}", on_click="ignore"
            )
        spec = json.dumps(run.spec.to_dict(), indent=1)
        st.download_button("settings.json", spec, f"{run.id}.json", key=f"spec-{run.id}", on_click="ignore")
        st.download_button(
            "all of it (zip)",
            lambda: zip_runs(engine, [run.id]),
            f"{run.id}.zip",
            key=f"zip-{run.id}",
            on_click="ignore",
        )


def take_home(engine: Visitor, runs: Sequence[Run]) -> None:
    """All runs in one file."""
    st.divider()
    ids = [run.id for run in runs]
    which = f"all {len(ids)} runs" if len(ids) > 1 else "the run"
    st.download_button(
        f"Download {which} (zip)", lambda: zip_runs(engine, ids), "runs.zip", key="all", on_click="ignore"
    )
    if engine.everything:
        st.caption(f"Runs lie in {plain(engine.root)}, one folder each.")


def attempt(action: Any, run_id: str, done: str) -> None:
    """Do something with a run, say so, and redraw; a refusal is a sentence."""
    try:
        action(run_id)
    except InputError as error:
        st.toast(sentence_of(error))
        return
    st.toast(plain(done))
    st.rerun(scope="app")


def run_again(engine: Visitor, run: Run) -> None:
    """Submit the run's settings again and open the new run."""
    try:
        again = engine.rerun(run.id)
    except InputError as error:
        st.toast(sentence_of(error))
        return
    set_values({"box-run": again})


def name_of(run: Run) -> str:
    """A run's title."""
    return run.spec.title or run.spec.task


def described(run: Run) -> str:
    """A run in a list."""
    begun = time.strftime("%m-%d %H:%M:%S", time.gmtime(run.created))
    return f"{name_of(run)}, seed {run.spec.seed}, {begun}, {STATES[run.status][0].lower()} ({run.id[-8:]})"


def said(value: Any) -> str:
    """A setting's value as text."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


main()
