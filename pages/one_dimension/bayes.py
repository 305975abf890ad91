"""The view Bayes' rule: a posterior of y from samples of a prior and of a simulation."""

import json

import numpy as np
import streamlit as st

from deconditioning.datasets.one_dimension import LineSpec
from deconditioning.figures.studies.one_dimension import pairs_plot
from deconditioning.figures.studies.posteriors import embeddings_plot, posterior_plot, signed_weights_plot
from deconditioning.kernels.spec import KernelSpec
from deconditioning.studies.one_dimension.bayes import Posterior, posterior_of_y
from deconditioning.studies.one_dimension.settings import BayesSettings
from deconditioning.wording import number, signed
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.program_values import set_values
from pages.kit.controls.settings import control
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import explain, lead
from pages.kit.layout.theme import is_dark
from pages.kit.layout.weight_words import weights_sentence
from pages.kit.tools import study_sweep
from pages.one_dimension import controls, sweep
from pages.one_dimension.edits import edited
from pages.one_dimension.scatters import line_of

RULE = BayesSettings


@st.cache_data(show_spinner=False, max_entries=32)
def _posterior(
    line: LineSpec, prior: str, x: float, k: str, ell: str, lam: float, epsilon: float, herded: int
) -> Posterior:
    first, second = (KernelSpec.from_dict(json.loads(text)) for text in (k, ell))
    return posterior_of_y(line_of(line), prior, x, first, second, lam, epsilon, herded)


def show() -> None:
    """The whole view."""
    _equation(*picture_first(_posterior_of_y))
    study_sweep.offer(sweep.BAYES)


def _posterior_of_y() -> tuple[LineSpec, float, float]:
    """The controls, the posterior in words and pictures; returns the problem, λ, ε."""
    with st.sidebar:
        prior, at = control(RULE.prior), control(RULE.x)
        spec = edited(controls.choose_problem(), st.sidebar)
        k, ell = (controls.choose_kernel(RULE, key, column) for key, column in (("k", "x"), ("l", "y")))
        lam, epsilon = control(RULE.regularisation), control(RULE.second_regularisation)
        herded = control(RULE.herded)
    texts = json.dumps(k.to_dict()), json.dumps(ell.to_dict())
    result = _posterior(spec, prior, at, *texts, lam, epsilon, herded)
    _write_summary(result, at)
    _pictures(spec, result, at)
    return spec, lam, epsilon


def _observe(at: float) -> None:
    """Put the slider where the rule in the picture was moved to, at its nearest stop."""
    x, step = RULE.x, RULE.x.step or 1.0
    inside = min(max(at, x.low or 0.0), x.high or 0.0)
    set_values({x.key: round(round(inside / step) * step, 2)})


def _write_summary(posterior: Posterior, at: float) -> None:
    mean, sd = posterior.moments["exact"]
    hills = modes(posterior.density)
    many = "one mode" if hills == 1 else f"{hills} modes"
    words = (
        f"**Hidden**: y, between {signed(float(posterior.y[0]), 1)} and {signed(float(posterior.y[-1]), 1)}. "
        f"**Observed**: x = r(y) + noise = {signed(at, 2)}. **Given**: samples of the prior of y, and simulated pairs "
        f"(x, y). The exact posterior of y has {many}, mean {signed(mean, 2)} and sd {sd:.2f}"
    )
    if "herded" in posterior.moments:
        mean, sd = posterior.moments["herded"]
        words += f"; {len(posterior.herded)} samples (kernel herding) give **{signed(mean, 2)}** and **{sd:.2f}**"
    lead(f"{words}.")
    if posterior.lost:
        st.warning(f"No samples can be drawn here. {sentence_of(posterior.lost)}")


def modes(density: np.ndarray) -> int:
    """Maxima of a density on a grid that reach a hundredth of the highest; one at an end of the grid counts."""
    inside = np.concatenate([[0.0], density, [0.0]])
    rises = np.diff(inside)
    turns = rises[rises != 0]  # a plateau, as a uniform density has, is one maximum
    tops = inside[:-1][rises != 0]
    return int(((turns[:-1] > 0) & (turns[1:] < 0) & (tops[1:] > 0.01 * density.max())).sum())


def _pictures(spec: LineSpec, posterior: Posterior, at: float) -> None:
    dark, line = is_dark(), line_of(spec)
    y = np.linspace(-spec.half_width, spec.half_width, 300)
    left, right = st.columns([5, 3])
    with left:
        figure = posterior_plot(
            posterior.y, posterior.density, posterior.prior, posterior.herded,
            title=f"Posterior of y given x = {signed(at, 2)}", height=420, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "b-posterior")
    with right:
        figure = pairs_plot(
            line.mediators.numpy(), line.inputs.numpy(), title="Simulated pairs and the observed x (drag the line)",
            labels=("y", "x"), curve=spec.r(y), curve_at=y, curve_name="r(y)", rule=at,
            by_hand=spec.edits[0].places, height=420, dark=dark,
        )  # fmt: skip
        plotly_live(figure, "b-data", later=True, on_rule=_observe)
    left, right = st.columns(2)
    with left:
        lines = {"deconditional embedding": posterior.embedding, "exact embedding": posterior.exact}
        figure = embeddings_plot(posterior.y, lines, title="Embedding of the posterior", height=280, dark=dark)
        plotly_live(figure, "b-embedding", later=True)
        st.caption(f"Distance between the two: {number(posterior.distance, 2)} of the norm of the exact one.")
    with right:
        points, weights = posterior.mean.points[:, 0].numpy(), posterior.mean.weights.numpy()
        plotly_live(signed_weights_plot(points, weights, height=280, dark=dark), "b-weights", later=True)
        st.caption(weights_sentence(posterior.mean))


def _equation(spec: LineSpec, lam: float, epsilon: float) -> None:
    n, _ = spec.counts
    explain(
        "No density is evaluated: simulated pairs represent the likelihood, samples of y represent the prior, and "
        "the deconditional operator turns x into a weighted sample of y. The posterior can have a "
        "mode wherever r(y), the simulation without its noise, equals x and the prior is not negligible.",
        rf"""
$$\hat\mu_{{Y|X=x}} = \hat D k_x = \sum_j w_j\,\ell(\tilde y_j, \cdot),\qquad
w = (A^\top K A + m\varepsilon I)^{{-1}} A^\top k(x),\qquad A = (L + n\lambda I)^{{-1}}\tilde L$$

$$p(y \mid x) \propto N(x; r(y), {number(spec.input_noise, 2)}^2)\, p(y)$$

$n = {n}$ simulations with y uniform, $m = {spec.m}$ draws $\tilde y$ of the prior,
$n\lambda = {number(n * lam)}$, $m\varepsilon = {number(spec.m * epsilon)}$.

Herding: $y_{{t+1}} = \arg\max_y\,(t+1)\,\hat\mu(y) - \sum_s \ell(y_s, y)$.
""",
        "Hsu and Ramos 2019, §6; Chen, Welling and Smola 2010",
    )
