"""What has been learned of the data, as it is kept and as a run goes on."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.datasets.sparse_toy import Toy, ToySpec, make_toy
from deconditioning.engine.records import Run, RunSpec
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.models.learning.learning_time import expected_seconds
from deconditioning.models.sparse.sparse_representation import SparseRepresentation
from deconditioning.studies.run_content import locations, readable_runs
from deconditioning.studies.sparse_representation.settings import PlacedSettings
from deconditioning.studies.sparse_representation.study import VERSIONS, SparseSettings, spec_from_dict
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark
from pages.kit.runs import run_panel
from pages.kit.runs.run_panel import begin_run, is_busy, run_of, show_duration, trace_charts
from pages.kit.runs.stored_results import stored
from pages.kit.state import get_engine, on_sliders
from pages.kit.visitor import visitor_mark
from pages.sparse_representation.controls import LEARN, LEARNABLE

TASK = "sparse-representation"
STORED = "sparse_representation.json"
#: Data drawn at most.
_MOST_SHOWN = 2000


@st.cache_resource(show_spinner=False, max_entries=8)
def toy_of(spec: ToySpec) -> Toy:
    """The drawn data, kept."""
    return make_toy(spec)


def learn_button(toy: ToySpec, settings: SparseSettings) -> None:
    """Learn as a run."""
    run = run_of(TASK)
    if st.button(LEARN, type="primary", width="stretch", disabled=is_busy(run)):
        run_settings = {"toy": toy.to_dict(), "settings": vars(settings), "model": settings.version}
        begin_run(RunSpec(TASK, run_settings, toy.seed, f"{VERSIONS[settings.version]}: {settings.points} points"))
    targets = len(toy_of(toy).targets)
    show_duration(
        "Learning", expected_seconds(targets, targets, settings.starts, settings.steps, inducing=settings.points)
    )


def learned_specs(toy: ToySpec, count: int) -> dict[str, SparseRepresentation]:
    """What has been learned of this problem: kept with the app, or by runs on this page."""
    result: dict[str, SparseRepresentation] = {}
    document = stored(STORED)
    defaults = ToySpec(document["settings"]["data"], noise=document["settings"]["noise"])
    if replace(toy, seed=0) == defaults and count == document["settings"]["points"]:
        rows = [row for row in document["results"] if row["seed"] == toy.seed and row.get("learned")]
        result = {row["model"]: spec_from_dict(row["learned"]) for row in rows if row["model"] in LEARNABLE}
    run, folder = run_of(TASK), get_engine().root
    changed = folder.stat().st_mtime_ns if folder.is_dir() else 0
    return result | _learned_by_runs(toy, count, changed, (run.id, run.status) if run else None, visitor_mark())


@st.cache_data(show_spinner=False, max_entries=16, ttl=5)
def _learned_by_runs(
    toy: ToySpec, count: int, changed: int, of_page: tuple[str, str] | None, mark: str
) -> dict[str, SparseRepresentation]:
    """Learned by ended runs of exactly this problem, the latest of each version.

    The folder is scanned again when it or the page's run has changed, and every few seconds; every visitor (``mark``)
    has runs of their own.
    """

    def fits(run: Run) -> bool:
        return (
            not run.active
            and bool((run.result or {}).get("learned"))
            and run.spec.settings["toy"] == toy.to_dict()
            and run.spec.settings["settings"]["points"] == count
        )

    ended = [run for run in readable_runs(reversed(get_engine().runs()), TASK) if fits(run)]
    return {run.spec.settings["settings"]["version"]: spec_from_dict((run.result or {})["learned"]) for run in ended}


def watch(toy: ToySpec, count: int) -> None:
    """The run's panel with the points as they move; when it has ended its values go to the sliders, once."""

    def take(run: Run, learned: dict[str, Any]) -> dict[str, Any] | None:
        if run.spec.settings["toy"] != toy.to_dict() or run.spec.settings["settings"]["points"] != count:
            return None
        spec = spec_from_dict(learned)
        term = spec.kernel.terms[0]
        scale, own = term.factors[0].lengthscales[0], PlacedSettings
        values = {own.k_scale.key: scale, own.k_size.key: term.scale, own.noise.key: spec.noise}
        return on_sliders(values) | own.on_controls(places="learned")

    run_panel.watch(TASK, take, draw=moving, cancelled="the best so far is shown")


def moving(run: Run, rows: list[dict[str, Any]]) -> None:
    """Where the run's points stand at this moment, and the evidence so far."""
    toy = toy_of(ToySpec(**run.spec.settings["toy"]))
    positions = locations(rows)
    if positions:
        last, truth = np.array(positions[-1]), toy.truth
        figure = function_plot(
            toy.grid[:, 0].numpy(), truth, None, {}, title="The points as they move", model="truth", name="truth",
            marks=last, points=shown_data(toy), labels=("x", "z"), height=260, dark=is_dark(),
        )  # fmt: skip
        plotly_live(figure, "s-moving")
    trace_charts(rows)


def shown_data(toy: Toy) -> tuple[np.ndarray, np.ndarray]:
    """The data that a picture draws."""
    x, z = toy.inputs[:_MOST_SHOWN, 0].numpy(), toy.targets[:_MOST_SHOWN].numpy()
    return x, z
