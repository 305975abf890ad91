"""What the views of page Filtering say alike: controls of the filter, scores, warnings, the equation."""

import streamlit as st

from deconditioning.studies.filtering.settings import FilteringSettings
from deconditioning.studies.filtering.study import FilterSettings, Followed
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import explain
from pages.kit.layout.score_table import score_table

TITLES = {
    "kbr": "Kernel Bayes filter",
    "ekf": "Extended Kalman",
    "ukf": "Unscented Kalman",
    "particle": "Particle filter",
    "nearest": "Nearest observation",
    "kalman": "Kalman, linear model learned",
    "kbr_ahead": "Kernel Bayes, one step ahead",
    "kbr_smoothed": "Kernel Bayes smoother",
}


def choose_filter() -> FilterSettings:
    """β, ε and the tolerance, or validation."""
    chosen = controls(FilteringSettings)
    if chosen.validate:
        return FilterSettings(tolerance=chosen.tolerance, around=chosen.around)
    return FilterSettings(chosen.scale, chosen.regularisation, chosen.tolerance, around=chosen.around)


def warnings(result: Followed) -> None:
    """Steps without training data near, and lost states."""
    if result.far.any() or result.lost.any():
        st.warning(
            f"At {int(result.far.sum())} steps no training observation was close; at {int(result.lost.sum())} steps "
            "the filter lost the state and recovered it from the observation alone."
        )


def weights_caption(result: Followed, step: int) -> None:
    """Sum and negative part of one step's weights, and the mass behind them."""
    weights = result.weights[step]
    st.caption(
        f"The weights sum to {weights.sum():.3f}, the negative ones to −{abs(weights[weights < 0].sum()):.2g}; the "
        f"predicted weights sum to {result.mass[step]:.3f}."
    )


def table(result: Followed, caption: str) -> None:
    """Errors and times of all filters with their parameters."""
    rows = {name: {"mse": error, "ms": 1000 * result.seconds[name]} for name, error in result.errors.items()}
    score_table(rows, columns=("mse", "ms"), names=TITLES, caption=caption)
    st.caption("; ".join(f"{TITLES[name]}: {sentence_of(result.words[name])}" for name in rows) + ".")


def equation(sentence: str, model: str, steps: int, settings: FilterSettings, result: Followed) -> None:
    """The filter with today's numbers; ``model`` is what is known of the system, in TeX or words."""
    explain(
        sentence,
        rf"""
{model}

$$\mu = (G_X + T\varepsilon I)^{{-1}} G_{{XX_+}} (G_X + T\varepsilon I)^{{-1}} G_X \alpha_t,\qquad
\alpha_{{t+1}} = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda k_Y(y_{{t+1}}),\quad
\Lambda = \mathrm{{diag}}(\mu)$$

$T = {steps}$; {result.words["kbr"]}. Low-rank factors drop {settings.tolerance:.1g} of the trace: ranks
{result.ranks[0]} and {result.ranks[1]}, {1000 * result.seconds["kbr"]:.2f} ms per step. Estimates are pre-images of the
weighted sample.
""",
        "Fukumizu et al. 2013, §4.3 and §5.3",
    )
