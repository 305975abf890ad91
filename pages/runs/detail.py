"""One run, or two beside each other: trace, scores, settings, files."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from deconditioning.engine.archive import zip_runs
from deconditioning.engine.compare import compare_settings, run_model, run_scores, run_sentences
from deconditioning.engine.records import Run
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from deconditioning.figures.trace_lines import fit_names, hyperparameters_of_fits, trace_series
from deconditioning.studies.run_content import scored_stations
from deconditioning.wording import duration
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.program_values import set_values
from pages.kit.layout.escaping import MISSING, cells, plain, sentence_of
from pages.kit.layout.page_layout import notes, warnings
from pages.kit.layout.score_table import MAIN_SCORES, score_table
from pages.kit.layout.theme import is_dark
from pages.kit.layout.unfold import unfold
from pages.kit.pages import SNAPSHOT, page_in, page_link
from pages.kit.runs.run_panel import said_of_one_step, show_owner
from pages.kit.runs.station_scores import station_scores
from pages.kit.tools.link import address_of, show_link
from pages.runs.label import delete, label_form
from pages.runs.names import STATES, averaged, described, is_given, name_of, setting_name, setting_text, units_of
from pages.runs.overview import going_on
from pages.runs.pictures import maps, tests, verdict
from pages.runs.sweeps import open_sweep, sweeps
from pages.snapshot.run_address import page_of_run

#: Runs beside each other.
A_ROW = 3
_SNAPSHOT = "Anybody with this link can view the run and its settings but cannot change them."


def detail(engine: Visitor, ids: Sequence[str], visitor_runs: Sequence[Run]) -> None:
    """Everything about a run, beside others where asked."""
    try:
        runs = [engine.get(result) for result in ids]
    except InputError as error:
        st.warning(sentence_of(error))
        return
    _side_by_side(runs, partial(heading, engine))
    content(engine, runs, visitor_runs)
    for run in runs:
        files(engine, run, alone=len(runs) == 1)


def content(engine: Visitor, runs: Sequence[Run], visitor_runs: Sequence[Run] = ()) -> None:
    """What came out of runs: maps, what they are worth, how learning went, scores and settings."""
    maps(engine, runs)
    sweeps(runs)
    if len(runs) > 1:
        tests(runs, visitor_runs)
        _settings_table(runs)
    else:
        verdict(runs[0])
    _side_by_side(runs, partial(_how_it_went, engine))
    if len(runs) == 1:
        _settings_table(runs)


def _side_by_side(runs: Sequence[Run], draw: Callable[[Run], None]) -> None:
    """Something of every run, `A_ROW` of them beside each other."""
    for first in range(0, len(runs), A_ROW):
        row = runs[first : first + A_ROW]
        for run, column in zip(row, st.columns(min(len(runs), A_ROW), gap="medium"), strict=False):
            with column:
                draw(run)


def _how_it_went(engine: Visitor, run: Run) -> None:
    """The scores of what came of the fit, and its trace."""
    scores(run)
    trace_plots(engine, run)


def heading(engine: Visitor, run: Run) -> None:
    """Title, state and what can be done with the run."""
    word, colour = STATES[run.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(plain(name_of(run)), anchor=False, width="content")
        st.badge(word, color=colour)  # type: ignore[arg-type]
    begun = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(run.created))
    took = f" · took {duration(run.ended - run.started)}" if run.ended and run.started else ""
    st.caption(
        f"Started {begun}{took} · seed {run.spec.seed} · version {plain(run.version)}", help=f"Run `{run.id}`",
    )  # fmt: skip
    show_owner(run)
    if run.active:
        if not engine.is_mine(run):  # one's own stands above the list
            going_on(engine, run, "detail")
        return
    if run.message:
        (st.error if run.status == "failed" else st.markdown)(sentence_of(run.message))
    with st.container(horizontal=True, vertical_alignment="center"):
        if result := page_of_run(run):
            page, query = page_in(result[0]), result[1]
            page_link(page.folder, f"Open on page {page.title}", query=query, icon=page.icon)
        open_sweep(run)
        if st.button("Run again", key=f"again-{run.id}", help="Start a new run with the same settings and seed"):
            _run_again(engine, run)
        link = address_of(SNAPSHOT.url_path, {"run": run.id})
        unfold("Snapshot link", lambda: show_link(link, _SNAPSHOT), key=f"snapshot-{run.id}", icon=":material/link:",
               help="The address of a page that shows this run, read-only")  # fmt: skip
        if not engine.is_mine(run):
            return
        label_form(engine, run)
        if st.button("Delete", key=f"delete-{run.id}", help="You can restore it within a day"):
            delete(engine, run)


def trace_plots(engine: Visitor, run: Run) -> None:
    """How the fit went: each stage's objective and every hyperparameter against the step."""
    from deconditioning.figures.traces import hyperparameter_trace, objective_trace

    dark, rows = is_dark(), engine.trace(run.id)
    if said_of_one_step(run, rows):
        return
    objectives, (steps, parameters) = trace_series(rows)
    fits = fit_names(rows)
    for stage, (at, values) in objectives.items():
        plotly_live(objective_trace(stage, at, values, fits=fits, dark=dark), f"objective-{stage}-{run.id}")
        if any(all(each is None for each in row) for row in zip(*values.values(), strict=True)):
            st.caption(_parted(parameters, fits))
    if parameters:
        plotly_live(hyperparameter_trace(steps, parameters, fits=fits, dark=dark), f"parameters-{run.id}")


def _parted(parameters: Mapping[str, Sequence[float | None]], names: Sequence[str]) -> str:
    """Why the curves begin anew: which fits have hyperparameters of their own, and that a best value is one fit's."""
    _, fits = hyperparameters_of_fits(parameters)
    own = [[name for name in fit if any(name not in other for other in fits)] for fit in fits]
    more = [f"only {name} has {plain(' and '.join(of))}" for name, of in zip(names, own, strict=False) if of]
    models = "Several models are learned in turn" if more else "Another fit begins at each dotted line"
    return (
        f"{'; '.join([models, *more])}. *Best so far* is the best of its own fit: values of different models are not "
        "comparable, because each has its own prior. A flat curve began at values that were learned before."
    )


def scores(run: Run) -> None:
    """The scores of a run's models and of its coarse cells, where it has any, and what it warned of."""
    warnings(run_sentences(run, "warnings"))
    if result := run_scores(run):
        parts = averaged(run)
        names = {run_model(run): "Average of models"} if parts else None
        score_table(result, units=units_of(run), main=MAIN_SCORES, names=names, caption=parts)
    if stations := scored_stations(run):
        station_scores(run_model(run), stations, units_of(run))
    if cells := run_scores(run, "coarse_scores"):
        names = {"withheld": "Withheld cells", "seen": "Cells the model saw"}
        caption = "The fine field averaged over each cell, compared with the coarse values."
        score_table(cells, units=units_of(run), main=MAIN_SCORES, names=names, caption=caption, of="coarse cells")
    notes(run_sentences(run, "notes"))


def _settings_table(runs: Sequence[Run]) -> None:
    """Settings, those that differ first."""
    rows = compare_settings(runs)
    differ = len(compare_settings(runs, only_differences=True))
    label = f"Settings ({differ} differ, listed first)" if len(runs) > 1 else "Settings"
    with st.expander(label, expanded=len(runs) > 1):
        heads = [name_of(run) if len(runs) == 1 else described(run) for run in runs]
        table = [
            {
                "Setting": setting_name(name),
                **dict(zip(heads, [setting_text(value, name) for value in values], strict=True)),
            }
            for name, values in rows
            if any(map(is_given, values))
        ]
        st.dataframe(cells(table), hide_index=True, width="stretch", placeholder=MISSING)


def files(engine: Visitor, run: Run, *, alone: bool = True) -> None:
    """Everything of a run that can be taken home."""
    st.markdown("**Files**" if alone else f"**Files of {plain(name_of(run))}**")
    with st.container(horizontal=True):
        for name in run.files:
            st.download_button(
                plain(name), partial(engine.file, run.id, name), name, key=f"file-{run.id}-{name}", on_click="ignore"
            )
        spec = json.dumps(run.spec.to_dict(), indent=1)
        st.download_button("settings.json", spec, f"{run.id}.json", key=f"spec-{run.id}", on_click="ignore")
        st.download_button(
            "all files (zip)",
            lambda: zip_runs(engine, [run.id]),
            f"{run.id}.zip",
            key=f"zip-{run.id}",
            on_click="ignore",
        )


def _run_again(engine: Visitor, run: Run) -> None:
    """Submit the run's settings again and open the new run."""
    try:
        again = engine.rerun(run.id)
    except InputError as error:
        st.toast(sentence_of(error))
        return
    set_values({"box-run": again})


def take_home(engine: Visitor, runs: Sequence[Run]) -> None:
    """All runs in one file."""
    st.divider()
    ids = [run.id for run in runs]
    if len(ids) > 1:
        st.download_button(
            f"Download all {len(ids)} runs (zip)", lambda: zip_runs(engine, ids), "runs.zip", key="all",
            on_click="ignore",
        )  # fmt: skip
    if engine.everything:
        st.caption("Runs are stored on the disk, one folder per run.", help=str(plain(engine.root)))
