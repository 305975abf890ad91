"""The situation and the equation of page Swiss roll."""

import streamlit as st

from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.models.named_model import NamedModel
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.kit.layout.page_layout import explain
from pages.swiss_roll.compare import in_practice


def situation(roll: RollSpec, model: NamedModel) -> None:
    """What is given and what is asked, in one sentence."""
    how = (
        "each with its points and the noisy mean of their positions (direct matching)"
        if roll.matching == "direct"
        else "half of them with points, half with a noisy mean position; only the height connects them (indirect "
        "matching)"
    )
    st.markdown(
        f"**Unknown**: the position t of {roll.points:,} points along a rolled-up sheet. **Known**: {roll.bags} "
        f"horizontal slices, {how}. A slice mixes several windings: the side view below shows "
        f"one in orange. **Model**: {model.phrase}. {in_practice(roll.matching)}"
    )


def equation(roll: RollSpec, spec: ModelSpec, targets: int, bags: int) -> None:
    """The model with today's numbers."""
    model = spec.model
    weights = model.formula + (rf",\quad \lambda = {number(spec.regularisation, 2)}" if model.ridge else "")
    sigma = rf"\sigma^2 I{model.unknown_formula}"
    lengths = ", ".join(number(value, 2) for value in spec.kernel.terms[0].factors[0].lengthscales)
    explain(
        "The mean of a slice is an average of f over points from several windings. The posterior undoes the averaging "
        "as far as the smoothness of the kernel allows.",
        rf"""
$$\tilde z = W^\top \bar f + e,\quad e \sim N(0, \Sigma),\qquad {weights},\qquad
\Sigma = {sigma},\quad \sigma^2 = {number(spec.noise, 2)}$$

$$E[f(x)\mid \tilde z] = c(x)^\top W (W^\top \bar K W + \Sigma)^{{-1}} \tilde z$$

$B = {bags}$ slices with points, $M = {targets}$ means; $k$ Gaussian with variance {number(spec.kernel.variance, 2)} and
lengthscales {lengths} for x, width and height; $\bar K$ its mean over slices, $c(x)$ its mean between $x$ and slices.
""",
        f"{model.source}; Chau et al. 2021, §5.1",
    )
