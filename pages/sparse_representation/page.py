"""Page Sparse representation: a few learned points that stand for many data."""

import streamlit as st

from deconditioning.studies.sparse_representation.settings import RepresentationSettings
from pages.kit.controls.settings import essentials
from pages.kit.layout.page_layout import page_header, refusals
from pages.kit.tools.study_sweep import OnPage, offer
from pages.sparse_representation.controls import choose_learning, choose_toy
from pages.sparse_representation.learned import learn_button, learned_specs, toy_of, watch
from pages.sparse_representation.picture import pictures, places_of_picture
from pages.sparse_representation.presets import PRESETS
from pages.sparse_representation.words import equation, table


def main() -> None:
    """Read the controls, represent, draw."""
    page_header(
        "Sparse representation",
        "How few points can represent all the data?",
        PRESETS,
        essentials(RepresentationSettings),
    )
    with refusals():
        body()


def body() -> None:
    """Two pictures: at the sliders' values, and learned; the table of all versions."""
    with st.sidebar:
        toy_spec, count = choose_toy()
    toy, learned = toy_of(toy_spec), learned_specs(toy_spec, count)
    represented, others = pictures(toy, count, learned)
    with st.sidebar:
        settings = choose_learning(count, toy_spec.seed)
        learn_button(toy_spec, settings)
    watch(toy_spec, count)
    table(toy, represented, others, places_of_picture(learned))
    equation(toy, count, represented)
    if st.session_state.get(RepresentationSettings.places.key) != "learned":
        offer(OnPage("sparse-representation"))


main()
