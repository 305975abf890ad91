"""Learning on page Swiss roll as a run: begin, watch, take the values."""

from typing import Any

import streamlit as st

from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.engine.records import Run, RunSpec
from deconditioning.models.learning.learning_time import expected_seconds
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.swiss_roll.study import RollSettings
from pages.kit.runs import run_panel
from pages.kit.runs.run_panel import begin_run, is_busy, run_of, show_duration
from pages.swiss_roll import controls

TASK = "swiss-roll"


def learn_button(roll: RollSpec, settings: RollSettings) -> None:
    """Learn the hyperparameters as a run that starts from the sliders' values."""
    run = run_of(TASK)
    if st.button("Learn hyperparameters", type="primary", width="stretch", disabled=is_busy(run)):
        title = f"{settings.kind.title}: swiss roll, {roll.matching}"
        run_settings = {"roll": roll.to_dict(), "settings": vars(settings), "model": settings.model}
        begin_run(RunSpec(TASK, run_settings, roll.seed, title))
    inducing = settings.inducing if settings.kind.uses("inducing") else None
    looked_at = min(roll.points, settings.points * roll.bags)
    seconds = expected_seconds(looked_at, roll.bags, settings.restarts, settings.steps, inducing=inducing)
    show_duration("Learning", seconds)


def watch(roll: RollSpec, spec: ModelSpec) -> None:
    """The run's panel; learned values go to the sliders, once, if the page still shows their problem."""

    def take(run: Run, learned: dict[str, Any]) -> dict[str, float] | None:
        result = ModelSpec.from_dict(learned)
        fits = result.model == spec.model and run.spec.settings["roll"] == roll.to_dict()
        return controls.slider_values(result) if fits else None

    run_panel.watch(TASK, take)
