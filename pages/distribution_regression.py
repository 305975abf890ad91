"""Page Distribution regression: an outcome explained by the distribution behind a subject's repeated measures."""

import streamlit as st

from pages.shared.distribution_regression import picture, risk
from pages.shared.distribution_regression.data import choose_data
from pages.shared.distribution_regression.model import choose_model, learning
from pages.shared.layout import page_header, refusals
from pages.shared.state import apply_values


def main() -> None:
    """Read the controls, regress by every method, draw."""
    page_header(
        "Distribution regression", "An outcome explained by a whole distribution, of which only measures are seen."
    )
    apply_values()
    with refusals():
        body()
    risk.show()


def body() -> None:
    """One data set: its pictures, every method's numbers, an unknown link."""
    with st.sidebar:
        chosen = choose_data()
        model = choose_model(chosen)
        repeats = int(st.select_slider("Partitions of the cross-validation", (1, 5, 20), 1, key="d-repeats",
                                       bind="query-params"))  # fmt: skip
        nested = bool(st.toggle("Learn anew in every fold", False, key="d-nested", bind="query-params",
                                help="Kernel and noise by the evidence of each training fold alone, for every method: "
                                "takes seconds."))  # fmt: skip
        learning(chosen, model)
    prepared = picture.used(chosen, model)
    key = f"{chosen.key} {model.use_covariates}"
    found = picture.compared(key, model.settings, chosen.spec is not None, prepared)
    scores = picture.validated(key, model.settings, repeats, nested, prepared)
    picture.said(chosen, found, scores)
    picture.pictures(chosen, found, scores, model.settings.intercept)
    picture.table(found, scores, repeats, nested)
    picture.link(chosen, model)
    picture.equation(chosen, model, found)


main()
