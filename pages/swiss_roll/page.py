"""Page Swiss roll: positions along a rolled-up sheet, recovered from the means of slices."""

import streamlit as st

from pages.kit.layout.page_layout import page_header, refusals
from pages.kit.tools.study_sweep import offer
from pages.swiss_roll import compare, controls, picture
from pages.swiss_roll.essentials import ESSENTIALS
from pages.swiss_roll.learn import learn_button, watch
from pages.swiss_roll.presets import PRESETS
from pages.swiss_roll.sweep import SWEEP
from pages.swiss_roll.words import equation, situation


def main() -> None:
    """Read the controls, ask core for the posterior, draw."""
    page_header(
        "Swiss roll",
        "Only averages over slices are known. Where along the rolled-up sheet is each point?",
        PRESETS,
        ESSENTIALS,
    )
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
    offer(SWEEP)


main()
