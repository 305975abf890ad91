"""Page Swiss roll: positions along a rolled-up sheet, recovered from the means of slices."""

from typing import Any

import streamlit as st

from core.datasets.swiss_roll import RollSpec
from core.engine import Run, RunSpec
from core.models.catalogue import MODELS, named
from core.models.spec import ModelSpec
from core.studies.swiss_roll.study import RollSettings
from pages.kit import run_panel
from pages.kit.layout import explain, page_header, refusals
from pages.kit.run_panel import begin_run, is_busy, run_of
from pages.kit.state import apply_values, set_values
from pages.swiss_roll import compare, controls, picture

TASK = "swiss-roll"


def main() -> None:
    """Read the controls, ask core for the posterior, draw."""
    page_header("Swiss roll", "Where along the rolled-up sheet does each point lie, when only slice means are known?")
    apply_values()
    with refusals():
        body()
    st.subheader("The paper's Table 1, with our numbers", anchor=False)
    compare.benchmark()


def body() -> None:
    """Controls in the sidebar, two pictures, the table of models."""
    with st.sidebar:
        roll_spec = controls.choose_roll()
        model, inducing = controls.choose_model(roll_spec)
    roll = picture.roll_of(roll_spec)
    situation(roll_spec, model)
    above = st.container()
    spec, view = picture.draw(roll, model, inducing)
    with st.sidebar:
        settings = controls.learning(roll_spec, spec)
        learn_button(roll_spec, settings)
    with above:
        watch(roll_spec, spec)
    equation(roll_spec, spec, len(roll.data.targets), roll.data.bags.count)
    st.subheader("Models side by side", anchor=False)
    compare.at_these_values(roll_spec, spec, view)


def learn_button(roll: RollSpec, settings: RollSettings) -> None:
    """Learn the hyperparameters as a run that starts from the sliders' values."""
    run = run_of(TASK)
    if st.button("Learn hyperparameters", type="primary", width="stretch", disabled=is_busy(run)):
        title = f"{MODELS[settings.model].title}: swiss roll, {roll.matching}"
        given = {"roll": roll.to_dict(), "settings": vars(settings), "model": settings.model}
        begin_run(RunSpec(TASK, given, roll.seed, title))


def situation(roll: RollSpec, model: str) -> None:
    """What is given and what is asked, in one sentence."""
    how = (
        f"{roll.bags} slices, each with its points and the noisy mean of t over them"
        if roll.matching == "direct"
        else f"{roll.bags} slices, half of them with points and the other half with means, connected by height only"
    )
    st.markdown(f"{roll.points} points on a swiss roll; {how}. {MODELS[model].title}.")


def watch(roll: RollSpec, spec: ModelSpec) -> None:
    """The run's panel; learned values go to the sliders, once, if the page still shows their problem."""

    def take(run: Run, learned: dict[str, Any]) -> None:
        found = ModelSpec.from_dict(learned)
        if found.model == spec.model and run.spec.settings["roll"] == roll.to_dict():
            set_values(controls.slider_values(found))

    run_panel.watch(TASK, take)


def equation(roll: RollSpec, spec: ModelSpec, targets: int, bags: int) -> None:
    """The model with today's numbers."""
    model = named(spec.model)
    weights = model.formula + (rf",\quad \lambda = {spec.regularisation:.2g}" if model.ridge else "")
    sigma = r"\sigma^2 I"
    if model.correlated:
        sigma += r" + \tilde{\tilde L} - \tilde L^\top (L + B\lambda I)^{-1}\tilde L"
    lengths = ", ".join(f"{value:.2g}" for value in spec.kernel.terms[0].factors[0].lengthscales)
    explain(
        "A slice's mean is an average of f over points from several windings; the posterior undoes the averaging as "
        "far as the kernel's smoothness allows.",
        rf"""
$$\tilde z = W^\top \bar f + e,\quad e \sim N(0, \Sigma),\qquad {weights},\qquad
\Sigma = {sigma},\quad \sigma^2 = {spec.noise:.2g}$$

$$E[f(x)\mid \tilde z] = c(x)^\top W (W^\top \bar K W + \Sigma)^{{-1}} \tilde z$$

$B = {bags}$ slices with points, $M = {targets}$ means; $k$ Gaussian with variance {spec.kernel.variance:.2g} and
lengthscales {lengths} for x, width and height; $\bar K$ its mean over slices, $c(x)$ its mean between $x$ and slices.
""",
        f"{model.source}; Chau et al. 2021, §5.1",
    )


main()
