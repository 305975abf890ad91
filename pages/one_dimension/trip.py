"""The view There and back: f is conditioned on Y, then deconditioned, and what is lost on the way."""

import json

import numpy as np
import streamlit as st
import torch

from deconditioning.datasets.one_dimension import Line, LineSpec
from deconditioning.figures.studies.one_dimension import curves_plot, function_plot, pairs_plot
from deconditioning.figures.studies.posteriors import embeddings_plot
from deconditioning.figures.style import legend_on_the_right
from deconditioning.kernels.spec import KernelSpec
from deconditioning.studies.one_dimension.round_trip import (
    Operators,
    RoundTrip,
    both_ways,
    drawn_function,
    pseudo_inverse_gap,
    reverse_gap,
    round_trip,
)
from deconditioning.studies.one_dimension.settings import TripSettings, TripShown
from deconditioning.wording import number
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.controls.settings import control
from pages.kit.layout.page_layout import explain, lead
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers
from pages.kit.tools import study_sweep
from pages.one_dimension import controls, sweep
from pages.one_dimension.controls import ROUND_TRIP, WHICH
from pages.one_dimension.edits import edited
from pages.one_dimension.scatters import line_of

EPSILONS, _LAMBDAS = np.geomspace(1e-12, 1.0, 25), np.geomspace(1e-14, 1.0, 15)
#: The curves of how far both operators are from undoing each other, as the picture calls them.
_KEPT = "ĈD̂Ĉψ against Ĉψ"
_GAPS = {"D̂Ĉψ against ψ": "everything", _KEPT: "kept part"}
#: So near, relative to its norm, an operator has reached its limit.
_REACHED = 0.1
#: Shares of the variance of f: above the one it has come back, below the other it has not.
_BACK, _LOST = 0.99, 0.1


@st.cache_resource(show_spinner=False, max_entries=8)
def _operators(line: LineSpec, k: str, ell: str, lam: float, epsilon: float) -> Operators:
    first, second = (KernelSpec.from_dict(json.loads(text)) for text in (k, ell))
    return Operators(line_of(line), first, second, lam, epsilon)


@st.cache_data(show_spinner=False, max_entries=16)
def _gaps(line: LineSpec, k: str, ell: str, lam: float, epsilon: float) -> tuple[dict[str, np.ndarray], np.ndarray]:
    operators = _operators(line, k, ell, lam, epsilon)
    return pseudo_inverse_gap(operators, EPSILONS), reverse_gap(operators, _LAMBDAS)


def show() -> None:
    """The whole view."""
    trip = picture_first(_there_and_back)
    _limits(*trip)
    operators = trip[0]
    _equation(operators.line.spec, trip[2], trip[3])
    study_sweep.offer(sweep.THERE_AND_BACK)


def _there_and_back() -> tuple[Operators, tuple[str, str], float, float, float]:
    """The controls, and f there and back; returns the operators, k and ℓ as text, λ, ε, x of the embedding."""
    with st.sidebar:
        spec = edited(controls.choose_problem(), st.sidebar)
        which = widgets.segmented_control("Function", ROUND_TRIP, default=ROUND_TRIP[0], key=WHICH)
        draw = control(TripSettings.draw) if which == ROUND_TRIP[1] else 0
        k, ell = (controls.choose_kernel(TripSettings, key, column) for key, column in (("k", "x"), ("l", "y")))
        lam, epsilon = control(TripSettings.regularisation), control(TripSettings.second_regularisation)
        at = control(TripShown.x)
    line = line_of(spec)
    texts = json.dumps(k.to_dict()), json.dumps(ell.to_dict())
    operators = _operators(spec, *texts, lam, epsilon)
    values = (
        drawn_function(line, k, draw)
        if which == ROUND_TRIP[1]
        else (spec.f(line.inputs.numpy()), line.truth.numpy())
    )  # fmt: skip
    result = round_trip(operators, *values)
    record_numbers(comes_back=_share_back(result))
    lead(there_and_back(result))
    _pictures(line, result, which == ROUND_TRIP[0])
    return operators, texts, lam, epsilon, at


def there_and_back(result: RoundTrip) -> str:
    """Whether f is recovered, by the share of its variance that is lost."""
    sd, share = float(result.function.std()), _share_back(result)
    verdict = "f is recovered" if share > _BACK else "f is partly recovered" if share > _LOST else "f is not recovered"
    return (
        f"f is averaged over each y (conditioning) and then recovered from these averages (deconditioning). Here "
        f"{verdict}: the RMSE is **{number(result.lost, 2)}**, the sd of f {number(sd)}. The averages of the result "
        f"differ from those of f by **{number(result.lost_again, 2)}** (RMSE)."
    )


def _share_back(result: RoundTrip) -> float:
    """The share of f's variance that comes back."""
    return 1 - (result.lost / max(float(result.function.std()), 1e-300)) ** 2


def _pictures(line: Line, result: RoundTrip, known: bool) -> None:
    dark = is_dark()
    left, right = st.columns([5, 3])
    with left:
        figure = function_plot(
            line.grid.numpy(), result.back, None, {"truth": result.function}, names={"truth": "before: f"},
            title="f before and after the round trip", model="dme", name="after the round trip", height=420, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "t-function")
    with right:
        y = np.linspace(-line.spec.half_width, line.spec.half_width, 300)
        curve = line.conditional_mean(torch.from_numpy(y)).numpy() if known else None
        figure = pairs_plot(
            line.query.numpy(), result.conditioned, title="In between: mean of f given y", labels=("y", "mean of f"),
            curve=curve, curve_at=y, curve_name="E[f(X) | Y = y]", height=420, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "t-conditioned", later=True)
        st.caption("Dots: the estimate at every ỹ." + " Dotted: the exact E[f(X) | Y = y]." * known)


def _limits(operators: Operators, texts: tuple[str, str], lam: float, epsilon: float, at: float) -> None:
    """Both theorems as curves and one pair of embeddings."""
    inverse, reverse = _gaps(operators.line.spec, *texts, lam, epsilon)
    dark = is_dark()
    first, second, third = st.columns(3)
    with first:
        figure = curves_plot(
            EPSILONS, {_GAPS[name]: values for name, values in inverse.items()}, now=epsilon, dark=dark,
            title="Deconditioning undoes conditioning as ε → 0", labels=("ε", "relative distance"),
        )  # fmt: skip
        plotly_live(figure, "t-inverse")
        missed = float(np.interp(np.log(epsilon), np.log(EPSILONS), inverse[_KEPT]))
        st.markdown(
            "The deconditional operator D̂ is a pseudo-inverse of the conditional mean operator Ĉ. The part of a "
            f"function that survives averaging is recovered up to a relative error of **{number(missed, 2)}** at this "
            "ε (vertical line). The part that averaging maps to zero is lost at every ε."
        )
    with second:
        shown = {"distance of both operators": reverse}
        figure = curves_plot(
            _LAMBDAS, shown, now=lam, dark=dark,
            title="Deconditional against reverse operator, λ → 0", labels=("λ", "relative distance"),
        )  # fmt: skip
        plotly_live(figure, "t-reverse")
        now = float(np.interp(np.log(lam), np.log(_LAMBDAS), reverse))
        st.markdown(f"With ỹ = y, {reverse_limit(lam, now, float(reverse.min()))}")
    with third:
        y = torch.linspace(-operators.line.spec.half_width, operators.line.spec.half_width, 300, dtype=torch.float64)
        forth, back = both_ways(operators, at, y)
        lines = {
            "by the deconditional<br>operator, with ỹ = y": forth,
            "by the reverse<br>conditional mean operator": back,
        }
        title = f"Embedding of Y given X = {at:.2f}"
        figure = embeddings_plot(y.numpy(), lines, title=title, height=340, dark=dark)
        legend_on_the_right(figure["layout"])
        plotly_live(figure, "t-both")
        st.markdown(
            "The distribution of Y given this x, as both operators estimate it. Where the limit of the middle picture "
            "is reached, the two curves coincide."
        )


def reverse_limit(lam: float, now: float, nearest: float) -> str:
    """How far the operator lies from the conditional mean operator of the other direction, and whether any λ helps."""
    words = (
        "the deconditional operator tends to the conditional mean operator of the other direction, of Y given X. At "
        f"λ = {number(lam, 1)} their distance is **{number(now, 2)}** of the norm, at the smallest λ "
        f"{number(nearest, 2)}. "
    )
    if nearest < _REACHED:
        return words + "The limit is reached, because ℓ is rough; a smooth ℓ, such as a Gaussian, would not reach it."
    return words + (
        "The limit is not reached: this ℓ has eigenvalues below the smallest λ that floating point allows. A rough ℓ, "
        "for example Matérn 1/2, has none."
    )


def _equation(spec: LineSpec, lam: float, epsilon: float) -> None:
    n, m = spec.counts
    explain(
        "Conditioning averages over everything that y leaves undetermined. Variation that is averaged out completely "
        "cannot be recovered.",
        rf"""
$$\hat C = \Phi (L + n\lambda I)^{{-1}}\Psi^\top,\qquad
\hat D = \tilde\Psi\,(A^\top K A + m\varepsilon I)^{{-1}} A^\top\Phi^\top,\qquad A = (L + n\lambda I)^{{-1}}\tilde L$$

$$\hat g = A^\top f(\mathbf x),\qquad \hat f(x) = \hat g^\top (A^\top K A + m\varepsilon I)^{{-1}} A^\top k(x)$$

$$\hat D = \hat C^\dagger \ (\varepsilon \to 0),\qquad
\tilde{{\mathbf y}} = \mathbf y:\ \lim_{{\lambda \to 0}} \hat D = \Psi (K + n\varepsilon I)^{{-1}}\Phi^\top$$

$n = {n}$, $m = {m}$, $n\lambda = {number(n * lam)}$, $m\varepsilon = {number(m * epsilon)}$.
""",
        "Hsu and Ramos 2019, theorems 4.2 and 6.2",
    )
