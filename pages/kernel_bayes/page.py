"""Page Kernel Bayes' rule: a posterior made of samples alone, moved by its observation."""

import numpy as np
import streamlit as st

from deconditioning.studies.kernel_bayes.study import GaussianSpec
from pages.kernel_bayes import errors, prior, several
from pages.kernel_bayes.controls import problem_of
from pages.kernel_bayes.essentials import ESSENTIALS
from pages.kernel_bayes.one import observed, table
from pages.kernel_bayes.presets import PRESETS
from pages.kernel_bayes.sweep import of_dimension
from pages.kernel_bayes.words import equation
from pages.kit import bound
from pages.kit.layout import page_header, refusals
from pages.kit.picture_first import picture_first
from pages.kit.study_sweep import offer

#: Where the page opens: several dimensions, in which the rule is worth it; one and two can be drawn.
SEVERAL = 6
DIMENSIONS = (1, 2, SEVERAL)
MORE = {"dimension": "error against d", "size": "error against n and time", "prior": "what is left of the prior"}


def main() -> None:
    """Read the controls, apply every rule, draw."""
    page_header(
        "Kernel Bayes' rule",
        "What does an observation tell of its hidden cause, when there are only examples of both and no formula?",
        PRESETS,
        ESSENTIALS,
    )
    with refusals():
        body()


def body() -> None:
    """When the rule is worth it; one observation; below, measured errors."""
    with st.sidebar:
        dimension = int(bound.segmented_control("Dimension", DIMENSIONS, default=SEVERAL, key="k-dim") or SEVERAL)
    st.markdown(errors.worth_it())
    if dimension == SEVERAL:
        spec, y, values = several.show(dimension)
    else:
        spec, y, values, found = picture_first(lambda: observed(dimension))
        table(found, problem_of(spec).posterior(y)[0])
    equation(spec, values)
    offer(of_dimension(dimension))
    more(spec, y)


def more(spec: GaussianSpec, y: np.ndarray) -> None:
    """Measured errors and the prior's effect, one at a time."""
    st.divider()
    views = {
        "dimension": errors.against_dimension,
        "size": lambda: errors.against_size(spec.dimension),
        "prior": lambda: prior.show(spec, float(y[0])),
    }
    chosen = (
        bound.segmented_control(
            "Measured", list(views), default="dimension", key="k-more", format_func=MORE.__getitem__
        )
        or "dimension"
    )
    views[chosen]()


main()
