"""Controls of page Swiss roll: how the roll is cut, which model, and its hyperparameters on sliders."""

from dataclasses import replace
from typing import Any

import streamlit as st

from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.swiss_roll.settings import LearningSettings, ProblemSettings, SwissRollSettings
from deconditioning.studies.swiss_roll.study import RollSettings, model_spec
from pages.kit.controls.essential import group
from pages.kit.controls.settings import controls
from pages.kit.session import Key
from pages.kit.state import on_sliders

ROLL = SwissRollSettings


def choose_problem() -> ProblemSettings:
    """Points, slices, noise, seed, matching and the model."""
    chosen = controls(ProblemSettings)
    _start_anew(chosen.matching)
    return chosen


def hyperparameters(problem: ProblemSettings) -> ModelSpec:
    """The model at the sliders' values."""
    return model_spec(controls(ROLL, **problem.to_dict()))


def _start_anew(matching: str) -> None:
    """Another matching starts from its own values; a link that is being opened keeps what it asks for."""
    before = st.session_state.get(Key.ROLL_MATCHING)
    if before is not None and before != matching:
        now = ROLL(matching=matching).to_dict()
        values = {each.key: now[name] for name, each in ROLL.declared().items() if each.otherwise}
        st.session_state.update(on_sliders(values))
    st.session_state[Key.ROLL_MATCHING] = matching


def slider_values(spec: ModelSpec) -> dict[str, float]:
    """What the sliders must hold to stand for ``spec``; give it to ``set_values``."""
    term = spec.kernel.terms[0]
    values = {"noise": spec.noise, "k_size": term.scale}
    values |= dict(zip(("k_x", "k_width", "k_height"), term.factors[0].lengthscales, strict=True))
    ell = None if spec.mediator_kernel is None else spec.mediator_kernel.terms[0]
    if spec.model.uses("mediator_kernel") and ell is not None:
        values |= {"regularisation": spec.regularisation, "l_scale": ell.factors[0].lengthscales[0]}
    if spec.model.uses("mediator_variance") and ell is not None:
        values["l_size"] = ell.scale
    return on_sliders({ROLL.declaration(name).key: value for name, value in values.items()})


def learning(roll: RollSpec, spec: ModelSpec) -> RollSettings:
    """How to learn, starting from the sliders' values: controls in an expander."""
    with group("How to learn"):
        without: dict[str, Any] = {} if spec.model.uses("inducing") else {"bound": LearningSettings.bound.default}
        chosen = controls(LearningSettings, **without)
    start: dict[str, Any] = {
        "kernel": spec.kernel.to_dict(),
        "mediator_kernel": spec.mediator_kernel.to_dict() if spec.mediator_kernel else None,
    }
    return replace(
        RollSettings(model=spec.model.name, seed=roll.seed, **start),
        regularisation=spec.regularisation, noise=spec.noise, inducing=spec.inducing.count, **chosen.to_dict(),
    )  # fmt: skip
