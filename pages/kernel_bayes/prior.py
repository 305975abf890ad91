"""What is left of the prior as the last regularisation goes to nought."""

import numpy as np
import streamlit as st

from deconditioning.figures.studies.one_dimension import shares_plot
from deconditioning.studies.kernel_bayes.prior_effect import FIRST, PriorEffect, prior_effect
from deconditioning.studies.kernel_bayes.study import GaussianSpec, make_gaussian
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.page_layout import explain, lead
from pages.kit.layout.theme import is_dark

NAMES = {
    "kbr": "Kernel Bayes' rule", "kbr_a": "Kernel Bayes' rule, weights on the prior's draws",
    "dme": "Deconditional embedding",
}  # fmt: skip
#: More pairs make the matrices worse conditioned, and the picture slower.
MOST = 100


@st.cache_resource(show_spinner="Moving the prior …", max_entries=8)
def _effect(spec: GaussianSpec, y: float) -> PriorEffect:
    return prior_effect(make_gaussian(spec), y)


def show(spec: GaussianSpec, y: float) -> None:
    """Each rule's answer under the prior and under the prior moved by one sd."""
    spec = GaussianSpec(1, min(spec.pairs, MOST), spec.prior, 1, spec.seed)
    result = _effect(spec, y)
    left, right = st.columns([3, 2])
    with left:
        lines = {rule: result.share(rule) for rule in result.means}
        figure = shares_plot(result.steps, lines, names=NAMES,
                             title="Response of each rule to a shift of the prior",
                             labels=("δ (ε of the deconditional embedding)", "share of the exact shift"),
                             dark=is_dark())  # fmt: skip
        plotly_live(figure, "k-prior")
    with right:
        _write_summary(result, y)
    explain(
        "If the weights are put on the pairs, those of the prior appear on both sides of an inverse and cancel.",
        rf"""
$$\rho = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda k_Y \;\xrightarrow{{\delta \to 0}}\;
G_Y^{{-1}} k_Y,\qquad
\bar C_{{X|Y}} \;\xrightarrow{{\varepsilon \to 0}}\; \tilde\Psi A^\top (A A^\top)^{{-1}} K^{{-1}} \Phi^\top$$

{spec.pairs} pairs in one dimension, {spec.prior} draws of each prior, Matérn-½ kernels of the median distance (with a
smooth kernel the matrices are too ill-conditioned to approach the limit in 64 bits); the first regularisation is fixed
at {number(FIRST, 6)}.
""",
        "Hsu and Ramos 2019, §7 and App. F",
    )


def _write_summary(result: PriorEffect, y: float) -> None:
    """Shares at a fair δ and at the smallest, from today's numbers."""
    small, fair = result.share("kbr")[-1], result.share("kbr")[int(np.argmin(np.abs(result.steps - 1e-2)))]
    dme = result.share("dme")[np.isfinite(result.share("dme"))]
    last, low, high = float(dme[-1]), float(dme.min()), float(dme.max())
    limit = (
        "the rule has become a conditional mean of the pairs, which ignores the prior"
        if abs(small) < 0.1
        else "for these pairs the limit is not reached in 64-bit arithmetic"
    )
    lead(
        f"The prior is shifted by one sd, which shifts the exact posterior mean at y = {y:.1f} by "
        f"{result.exact[1] - result.exact[0]:.2f}. Kernel Bayes' rule gives **{fair:.2f}** of this shift at δ = "
        f"0.01 and **{0.0 if abs(small) < 0.005 else small:.2f}** at the smallest δ: {limit}."
    )
    st.markdown(
        "The deconditional embedding keeps the prior's draws in the limit. Its share of the shift ranges from "
        f"{low:.1f} to {high:.1f} and ends at {last:.2f}: it responds to the prior, but not as Bayes' rule does."
    )
