"""Page Kernel Bayes' rule: a posterior made of samples alone, moved by its observation."""

import numpy as np
import streamlit as st

from deconditioning.studies.kernel_bayes.settings import FEW
from deconditioning.studies.kernel_bayes.study import GaussianSpec, gaussian_spec
from pages.kernel_bayes import errors, prior, several_observations
from pages.kernel_bayes.controls import RULE, problem_of
from pages.kernel_bayes.one_observation import observed, table
from pages.kernel_bayes.presets import PRESETS
from pages.kernel_bayes.words import equation
from pages.kit.chart.picture_first import picture_first
from pages.kit.controls import widgets
from pages.kit.controls.address import correct
from pages.kit.controls.settings import control, essentials
from pages.kit.layout.page_layout import evidence, page_header, refusals
from pages.kit.tools.study_sweep import OnPage, offer

#: The dimension in which the page opens: prior, posterior and samples are one picture.
_OPENING = 1
_MORE = "k-more"
_VIEWS = {"dimension": "error against d", "size": "error against n and time", "prior": "what is left of the prior"}


def main() -> None:
    """Read the controls, apply every rule, draw."""
    page_header(
        "Kernel Bayes' rule",
        "What does an observation tell us about its hidden cause if only examples of both are available, and no "
        "formula?",
        PRESETS,
        essentials(RULE),
    )
    with refusals():
        body()


def body() -> None:
    """One observation; below it, measured errors."""
    with st.sidebar:
        _several_if_observed()
        dimension = control(RULE.dimension.copy(default=_OPENING), RULE())
    if dimension in FEW:
        settings, result = picture_first(lambda: observed(dimension))
        spec, y = gaussian_spec(settings, 1), np.array(settings.observed)
        exact, covariance = problem_of(spec).posterior(y)
        table(result, exact, np.sqrt(np.diag(covariance)))
    else:
        settings, spec, y = several_observations.show(dimension)
    st.markdown(errors.worth_it())
    equation(settings)
    offer(OnPage("kernel-bayes"))
    with evidence(_MORE, "k-size-d"):
        more(spec, y)


def _several_if_observed() -> None:
    """An address that numbers an observation but no dimension is one of several dimensions, the study's own default."""
    key, query = RULE.dimension.key, st.query_params
    if RULE.observation.key in query and key not in query and key not in st.session_state:
        correct(key, [str(RULE.dimension.default)])


def more(spec: GaussianSpec, y: np.ndarray) -> None:
    """Measured errors and the prior's effect, one at a time."""
    views = {
        "dimension": errors.against_dimension,
        "size": lambda: errors.against_size(spec.dimension),
        "prior": lambda: prior.show(spec, float(y[0])),
    }
    chosen = (
        widgets.segmented_control(
            "Measured", list(views), default="dimension", key=_MORE, format_func=_VIEWS.__getitem__
        )
        or "dimension"
    )
    views[chosen]()


main()
