"""All times of the period in one file: a run with its progress, which goes on after a reload and can be resumed."""

from dataclasses import replace

import streamlit as st

from deconditioning.engine.records import Run, RunSpec, jsonable
from deconditioning.period.tasks.write import FILE, PeriodTask
from pages.kit.layout.escaping import plain
from pages.kit.runs.run_panel import begin_run, follow, is_busy, outcome, run_of
from pages.kit.state import get_engine
from pages.period.result import Choice, all_members, series_title

_TASK = "write-period"


def show(choice: Choice, expected_s: float | None) -> None:
    """The button, the progress of a run that takes about so long, with Cancel, and the file once it is there."""
    st.subheader("All times in one file", anchor=False)
    count, spec, run = choice.count, _spec(choice), run_of(_TASK)
    together = bool(choice.pair or all_members(choice))
    same = run is not None and run.spec.settings == jsonable(spec.settings)
    if run is not None and run.active:
        doing = "Writing" if same else f"Writing {plain(run.spec.title)}"
        follow(run, lambda rows: None, doing=doing, expected_s=expected_s if same else None)
    elif run is not None and same:
        kept = run.status != "done" and not together
        more = ". What is done is kept for a week: Resume continues there" if kept else ""
        outcome(run, "Written", "", more)
        _file(run, spec.title)
    if is_busy(run) or (run is not None and same and run.status == "done"):
        return
    resumed = not together and run is not None and same and run.status in ("cancelled", "interrupted")
    left, right = st.columns([1, 2], vertical_alignment="center")
    with left:
        if st.button("Resume" if resumed else f"Write {count:,} times", key="p-write", width="stretch"):
            begin_run(spec)
    with right:
        st.caption(
            "Mean, sd, coarse values and, if it is known, the truth of every time, as CF NetCDF in single "
            f"precision{_of(choice)}. The run goes on if you leave the page."
        )


def _of(choice: Choice) -> str:
    """What else than one variable of one member the file has."""
    if choice.pair:
        return f", of {plain(choice.pair[0])} and, as `upper_…`, of {plain(choice.pair[1])}"
    return ", of all members, and mean, sd and spread of a further one" if all_members(choice) else ""


def _spec(choice: Choice) -> RunSpec:
    target, upper = choice.pair or (choice.target, "")
    task = PeriodTask(
        choice.source, replace(choice.problem, target=target), choice.times, choice.training_times, choice.predictors,
        upper, choice.link, choice.settings, get_engine().mark,
    )  # fmt: skip
    title = ", ".join(filter(None, (series_title(choice), target, upper, f"{choice.count:,} times")))
    return RunSpec(_TASK, task.to_dict(), title=title)


def _file(run: Run, title: str) -> None:
    """The file of a run that is done."""
    if FILE not in run.files:
        return
    st.download_button(
        "NetCDF of all times", get_engine().file(run.id, FILE), f"{title.replace(', ', '-').replace(' ', '_')}.nc",
        "application/x-netcdf", key="p-written", on_click="ignore",
    )  # fmt: skip
