"""What the views of page Filtering say alike: controls of the filter, scores, warnings, the equation."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from deconditioning.studies.filtering.settings import FilteringSettings, ShownSettings
from deconditioning.studies.filtering.study import FilterSettings, Followed
from deconditioning.wording import number
from pages.kit.controls.essential import aside
from pages.kit.controls.settings import controls
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.page_layout import explain
from pages.kit.layout.score_table import score_table

TITLES = {
    "kbr": "Kernel Bayes filter",
    "ekf": "Extended Kalman filter",
    "ukf": "Unscented Kalman filter",
    "particle": "Particle filter",
    "nearest": "Nearest example",
    "kalman": "Kalman filter, learned linear model",
    "kbr_ahead": "Kernel Bayes, one step ahead",
    "kbr_smoothed": "Kernel Bayes smoother",
}
#: What the picture calls the filters that it always shows.
NAMES = {
    "kbr": "kernel Bayes filter:<br>has examples only", "ekf": "extended Kalman:<br>knows the equation",
    "ukf": "unscented Kalman:<br>knows the equation", "particle": "particle filter:<br>knows the equation",
    "kalman": "Kalman: learns a<br>linear equation", "nearest": "nearest example:<br>ignores the past",
}  # fmt: skip
#: The estimates that the pictures always show.
_FEW = ("kbr", "ekf", "kalman", "kbr_ahead", "kbr_smoothed")


def choose_shown() -> bool:
    """Whether the pictures show every filter, and negative weights."""
    return controls(ShownSettings).every


def shown(means: Mapping[str, np.ndarray], every: bool, best: str = "") -> dict[str, np.ndarray]:
    """The estimates in the pictures: ``every`` one, or two, those of other steps and the ``best``, if it is named."""
    return {name: values for name, values in means.items() if every or name in _FEW or name == best}


def omitted(means: Mapping[str, np.ndarray], every: bool, best: str) -> str:
    """A sentence on the filters of the table that the pictures leave out; nothing where there are none."""
    left_out = [f"the {phrase(name)}" for name in means if name not in shown(means, every, best)]
    if not left_out:
        return ""
    return f" The pictures omit {' and '.join(left_out)}; level All can show {'it' if len(left_out) == 1 else 'them'}."


def phrase(name: str) -> str:
    """What a filter is called inside a sentence."""
    return TITLES[name] if TITLES[name].startswith("Kalman") else TITLES[name][0].lower() + TITLES[name][1:]


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
    """Sum and negative part of one step's weights, and the mass behind them, at the level All."""
    weights = result.weights[step]
    aside(
        f"The weights sum to {weights.sum():.3f}, the negative ones to −{number(abs(weights[weights < 0].sum()), 2)}; "
        f"the predicted weights sum to {result.mass[step]:.3f}."
    )


def table(result: Followed, caption: str) -> None:
    """Errors and times of all filters."""
    rows = {name: {"mse": error, "ms": 1000 * result.seconds[name]} for name, error in result.errors.items()}
    score_table(rows, columns=("mse", "ms"), names=TITLES, caption=caption)


def equation(sentence: str, model: str, steps: int, settings: FilterSettings, result: Followed) -> None:
    """The filter with today's numbers and the parameters of all others; ``model`` is what is known of the system, in
    TeX or words."""
    parameters = "; ".join(f"{TITLES[name]}: {sentence_of(result.words[name])}" for name in result.errors)
    explain(
        sentence,
        rf"""
{model}

$$\mu = (G_X + T\varepsilon I)^{{-1}} G_{{XX_+}} (G_X + T\varepsilon I)^{{-1}} G_X \alpha_t,\qquad
\alpha_{{t+1}} = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda k_Y(y_{{t+1}}),\quad
\Lambda = \mathrm{{diag}}(\mu)$$

$T = {steps}$; {parameters}. Low-rank factors drop {number(settings.tolerance, 1)} of the trace: ranks
{result.ranks[0]} and {result.ranks[1]}, {1000 * result.seconds["kbr"]:.2f} ms per step. Estimates are pre-images of the
weighted sample.
""",
        "Fukumizu et al. 2013, §4.3 and §5.3",
    )
