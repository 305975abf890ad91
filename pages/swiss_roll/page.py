"""Page Swiss roll: positions along a rolled-up sheet, recovered from the means of slices."""

import streamlit as st

from deconditioning.studies.swiss_roll import study
from pages.kit.controls.settings import essentials
from pages.kit.layout.page_layout import evidence, page_header, refusals
from pages.kit.tools.study_sweep import OnPage, offer
from pages.swiss_roll import compare, controls, picture
from pages.swiss_roll.learn import learn_button, watch
from pages.swiss_roll.presets import PRESETS
from pages.swiss_roll.words import equation, situation


def main() -> None:
    """Read the controls, ask core for the posterior, draw."""
    page_header(
        "Swiss roll",
        "Only averages over slices are known. Where along the rolled-up sheet is each point?",
        PRESETS,
        essentials(controls.ROLL),
    )
    with refusals():
        body()
    with evidence():
        st.subheader("The paper's Table 1, with our numbers", anchor=False)
        compare.benchmark()


def body() -> None:
    """Controls in the sidebar, two pictures, the table of models."""
    with st.sidebar:
        problem = controls.choose_problem()
    roll_spec = study.roll_spec(problem)
    roll = picture.roll_of(roll_spec)
    situation(roll_spec, problem.kind)
    spec, view = picture.draw(roll, problem)
    with st.sidebar:
        settings = controls.learning(roll_spec, spec)
        learn_button(roll_spec, settings)
    watch(roll_spec, spec)
    equation(roll_spec, spec, len(roll.data.targets), roll.data.bags.count)
    st.subheader("Models side by side", anchor=False)
    compare.at_these_values(roll_spec, spec, view)
    offer(OnPage("swiss-roll"))


main()
