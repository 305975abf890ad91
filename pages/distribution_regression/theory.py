"""Two properties that the paper states, tried: what averages over subjects tell apart, and what a transformation of the
measures changes."""

import numpy as np
import streamlit as st

from deconditioning.distribution_regression.separation import Separation
from deconditioning.distribution_regression.simulate import SimulationSpec
from deconditioning.figures.studies.one_dimension import curves_plot, function_plot
from deconditioning.studies.distribution_regression.settings import InvarianceSettings, LemmaSettings
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.studies.distribution_regression.theory import (
    Transformed,
    separation_of,
    transformed,
)
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import control, controls
from pages.kit.layout.page_layout import explain
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers

#: Concentrations that the curve goes through; distributions drawn at each.
_ALPHAS, DRAWS = (1.0, 2.0, 5.0, 10.0, 25.0, 50.0, 100.0), 300
#: The simulation whose measures are transformed.
SIMULATION = SimulationSpec(100, 200)
#: A function whose mean is so small a share of its size averages to nothing; one that varies so little is constant.
NOTHING, FLAT = 1e-6, 1e-9
#: A difference that is rounding error.
_ROUNDING = 1e-10


@st.cache_resource(show_spinner=False, max_entries=16)
def _separation_of(function: str, waves: int, alphas: tuple[float, ...]) -> Separation:
    return separation_of(function, waves, alphas, DRAWS, 0)


@st.cache_resource(show_spinner=False, max_entries=16)
def _transformed(transform: str) -> Transformed:
    return transformed(SIMULATION, transform, MethodSettings())


def show() -> None:
    """Both, side by side."""
    st.subheader("Statements of the paper, tested", anchor=False)
    left, right = st.columns(2, gap="medium")
    with left:
        _lemma()
    with right:
        _invariance()
    explain(
        "Only the zero function has average zero over every subject, but the more similar the subjects are, the less "
        "of a function remains in the averages. The order and the scale of the measurements do not matter to the "
        "model.",
        r"""
$$z \sim DP(\mu, \alpha):\qquad E_z (E_z f)^2 = \frac{E_\mu f^2 + \alpha\,(E_\mu f)^2}{1 + \alpha}
\ \ge\ \frac{E_\mu f^2}{1 + \alpha},\qquad \mathrm{Var}_z(E_z f) = \frac{\mathrm{Var}_\mu f}{1 + \alpha}$$

$$w_{ij} = h(x_{ij}):\qquad y_i \sim N\Big(\tfrac1{m_i}\sum_j \tilde f(w_{ij}),\ \sigma^2\Big),\qquad
\tilde f = f \circ h^{-1} \sim GP\big(0,\ K(h^{-1}(w), h^{-1}(w'))\big)$$
""",
        "Tang et al., Lemma 1 (§3.1) and the end of §2",
    )


def _lemma() -> None:
    st.markdown("**Lemma 1: what averages can distinguish**")
    first, second = st.columns(2)
    with first:
        requested = controls(LemmaSettings, alpha=LemmaSettings.alpha.default)
    with second:
        alpha = control(LemmaSettings.alpha, requested)
    result = _separation_of(requested.function, requested.waves, tuple(sorted({*_ALPHAS, float(alpha)})))
    curves = {"at most: 1 + α": result.bound, "exactly": result.exact, f"{DRAWS} distributions drawn": result.drawn}
    figure = curves_plot(
        result.concentration, curves, title="Square of f divided by the part that averages keep",
        labels=("α", "E f² / E (E f)²"), now=alpha, height=330, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "d-lemma", later=True)
    st.markdown(_lemma_sentence(result, float(alpha)))


def _lemma_sentence(result: Separation, alpha: float) -> str:
    """How much of f averages keep at a concentration, and why."""
    index = int(np.argmin(np.abs(result.concentration - alpha)))
    share, varies = 1 / result.exact[index], max(result.square - result.mean**2, 0.0)
    if result.mean**2 < NOTHING * result.square:
        why = "Its overall average is zero, so no bounded function keeps less."
    elif varies < FLAT * result.square:
        why = "It is constant: nothing is lost."
    else:
        why = f"Most of this is its mean; no bounded function keeps less than {number(100 / (1 + alpha))} %."
    return (
        f"At α = {number(alpha)} averages over subjects keep **{number(100 * share)} %** of this function's square. "
        f"{why} The sd of its values is {number(varies**0.5)}, but the sd of the averages over subjects is only "
        f"{number((varies / (1 + alpha)) ** 0.5)} (drawn: {number(result.averages[index].std())}). The outcomes show "
        "no more of its variation than that."
    )


def _invariance() -> None:
    st.markdown("**Other measurements of the same quantity: order and scale**")
    result = _transformed(controls(InvarianceSettings).transform)
    lines = {
        "truth": result.truth, "Gaussian process on x": result.means["gpdr", False],
        "densities of h(x)": result.means["kde", True]
    }  # fmt: skip
    figure = function_plot(
        result.at, result.means["gpdr", True], result.sds["gpdr", True], lines, title="f, drawn against x",
        model="gpdr",
        name="Gaussian process on h(x) ±2 sd", height=400, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "d-invariance", later=True)
    record_numbers(transformed_apart=result.apart["gpdr"])
    st.markdown(_invariance_sentence(result))


def _invariance_sentence(result: Transformed) -> str:
    """What a transformation and another order change, of outcomes and of f."""
    if result.apart["gpdr"] < _ROUNDING:
        words = "The same kernel on h(x) is the same model here: the fitted outcomes agree to rounding. "
    else:
        share = 100 * result.apart["gpdr"] / result.spread
        words = (
            f"The same kernel on h(x) is another prior of f: the fitted outcomes differ by {number(share, 2)} % of "
            f"their sd, and the RMSE of f is {number(result.errors['gpdr', True], 2)} instead of "
            f"{number(result.errors['gpdr', False], 2)}. With the kernel transformed by h nothing would change: the "
            "invariance in the paper is a property of the model, not of one kernel. "
        )
    order = "does not change f" if result.shuffled < _ROUNDING else f"changes f by {number(result.shuffled, 1)}"
    return (
        f"{words}With density estimation the RMSE of f is {number(result.errors['kde', True], 2)} instead of "
        f"{number(result.errors['kde', False], 2)}. Another order of the measurements "
        f"{order}. ({SIMULATION.subjects} subjects with {SIMULATION.measures} measurements each.)"
    )
