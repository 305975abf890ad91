"""Page Filtering: a hidden point, followed by samples alone, beside filters that are told the equations."""

import numpy as np
import streamlit as st

from core.experiments.filtering import EPSILONS, SCALES, FilterSettings, Followed, follow, mse
from core.figures.filtering import errors_plot, plane_plot
from core.filtering.systems import GENERATORS, SYSTEMS, RotationSystem
from pages.shared.layout import explain, page_header, refusals, score_table
from pages.shared.plotly_live import plotly_live
from pages.shared.state import apply_values, log_slider
from pages.shared.theme import is_dark

TITLES = {
    "kbr": "Kernel Bayes filter",
    "ekf": "Extended Kalman",
    "ukf": "Unscented Kalman",
    "particle": "Particle filter",
}
#: Seconds between the pictures of a playing series.
BEAT = 0.35
#: The step on opening.
FIRST = 30


def main() -> None:
    """Read the controls, follow, play."""
    page_header("Filtering", "A hidden point is followed from noisy looks, by a filter that has only seen examples.")
    apply_values()
    with refusals():
        body()


def body() -> None:
    """The series, its pictures, the scores."""
    with st.sidebar:
        system = choose_system()
        steps = int(st.slider("Training steps T", 20, 800, 200, 20, key="f-train", bind="query-params"))
        test = int(st.slider("Steps to follow", 20, 400, 150, 10, key="f-test", bind="query-params"))
        seed = int(st.number_input("Seed", 0, 9999, 0, key="f-seed", bind="query-params"))
        settings = choose_filter()
    found = _followed(system, steps, test, seed, settings)
    said(found)
    player(found)
    table(found)
    equation(system, steps, settings, found)


def choose_system() -> RotationSystem:
    """System (a), (b) or one's own."""
    name = st.segmented_control("System", [*SYSTEMS, "own"], default="b", key="f-system", bind="query-params") or "b"
    generator = st.segmented_control(
        "Generator", GENERATORS, default="M", key="f-gen", bind="query-params",
        help="M: the next angle starts from the noisy state; D: the angle turns by itself.",
    ) or "M"  # fmt: skip
    if name != "own":
        return RotationSystem.named(name, generator)
    eta = st.slider("η, turn a step", 0.0, 1.5, 0.3, 0.05, key="f-eta", bind="query-params")
    b = st.slider("b, depth of the waves", 0.0, 0.9, 0.4, 0.05, key="f-b", bind="query-params")
    waves = st.slider("M, waves", 1, 12, 8, key="f-waves", bind="query-params")
    hidden = st.slider("Noise of the state (sd)", 0.0, 1.0, 0.2, 0.05, key="f-sh", bind="query-params")
    seen = st.slider("Noise of the looks (sd)", 0.05, 1.0, 0.2, 0.05, key="f-so", bind="query-params")
    return RotationSystem(float(eta), float(b), float(waves), float(hidden), float(seen), generator)


def choose_filter() -> FilterSettings:
    """β, ε and the tolerance, or validation."""
    validate = st.toggle(
        "β and ε by validation", False, key="f-validate", bind="query-params",
        help=f"Split-half: β among {', '.join(map(str, SCALES))}, ε among {', '.join(f'{e:g}' for e in EPSILONS)}.",
    )  # fmt: skip
    tolerance = log_slider("Trace left out by low rank", "f-tol", 1e-10, 1e-2, 1e-4)
    if validate:
        return FilterSettings(tolerance=tolerance)
    scale = log_slider("β, lengthscale in median distances", "f-beta", 0.1, 3.0, 0.7)
    epsilon = log_slider("ε, δ = 2ε", "f-eps", 1e-7, 1e-1, 1e-4)
    return FilterSettings(scale, epsilon, tolerance)


@st.cache_resource(show_spinner="Following …", max_entries=16)
def _followed(system: RotationSystem, steps: int, test: int, seed: int, settings: FilterSettings) -> Followed:
    return follow(system, steps, test, seed, settings)


def said(found: Followed) -> None:
    """Who comes nearest, and what the filter says of itself."""
    errors = {name: mse(means, found.truth) for name, means in found.means.items()}
    best = min(errors, key=errors.__getitem__)
    st.markdown(
        f"Over {len(found.truth)} steps the kernel Bayes filter's mean square error is **{errors['kbr']:.4f}**, the "
        f"extended Kalman filter's {errors['ekf']:.4f}; nearest comes: {TITLES[best].lower()}. It has seen "
        f"{len(found.points)} examples and no equation; the others are told both."
    )
    if found.far.any() or found.lost.any():
        st.warning(
            f"At {int(found.far.sum())} steps there was no training data near the observation, at "
            f"{int(found.lost.sum())} the state was lost and found anew from the observation alone."
        )


def player(found: Followed) -> None:
    """Play, pause, step: the plane at one step beside the errors so far."""
    last = len(found.truth)
    if not 1 <= int(st.session_state.get("f-step", 0)) <= last:
        st.session_state["f-step"] = min(
            FIRST, last
        )  # only when it must: a value written here overrides what is about to be sent
    playing = bool(st.session_state.get("f-play", False))

    @st.fragment(run_every=BEAT if playing else None)
    def show() -> None:
        if playing:
            following = st.session_state["f-step"] + 1
            st.session_state["f-step"] = following if following <= last else 1
        buttons = st.columns([1, 1, 1, 5], vertical_alignment="bottom")
        if buttons[0].button("Pause" if playing else "Play", key="f-play-button", width="stretch"):
            st.session_state["f-play"] = not playing
            st.rerun(scope="app")
        for column, label, move in ((buttons[1], "Back", -1), (buttons[2], "Step", 1)):
            if column.button(label, key=f"f-{label}", width="stretch", disabled=playing):
                st.session_state["f-step"] = (st.session_state["f-step"] - 1 + move) % last + 1
        buttons[3].slider("Step", 1, last, key="f-step", disabled=playing)
        _draw(found, int(st.session_state["f-step"]) - 1)

    show()


def _draw(found: Followed, step: int) -> None:
    left, right = st.columns([1, 1])
    reach = 1.15 * float(np.abs(np.concatenate([found.truth, found.seen])).max())
    with left:
        sample = (found.points, found.weights[step])
        figure = plane_plot(found.truth, found.seen, found.means, step, sample=sample, limits=(-reach, reach),
                            dark=is_dark())  # fmt: skip
        plotly_live(figure, "f-plane")
    with right:
        plotly_live(errors_plot(found.truth, found.means, step, dark=is_dark()), "f-errors")
        weights = found.weights[step]
        st.caption(
            f"Weights sum to {weights.sum():.3f}, {-weights[weights < 0].sum():.2g} of it negative; the prediction "
            f"behind them had mass {found.mass[step]:.3f}."
        )


def table(found: Followed) -> None:
    """Errors of all filters with their parameters."""
    rows = {name: {"mse": mse(means, found.truth)} for name, means in found.means.items()}
    names = {name: f"{TITLES[name]} ({found.words[name]})" for name in rows}
    score_table(rows, columns=("mse",), names=names, caption="Mean square error, summed over coordinates")


def equation(system: RotationSystem, steps: int, settings: FilterSettings, found: Followed) -> None:
    """The filter with today's numbers."""
    explain(
        "Every step carries the weights through the examples' own transitions, then lets the observation weigh them by "
        "kernel Bayes' rule.",
        rf"""
$$X_{{t+1}} = (1 + b \sin M\theta_{{t+1}})
\begin{{pmatrix}}\cos\theta_{{t+1}}\\ \sin\theta_{{t+1}}\end{{pmatrix}} + \zeta_t,\quad
Y_t = X_t + \xi_t,\qquad \eta = {system.eta:g},\ b = {system.b:g},\ M = {system.waves:g}$$

$$\mu = (G_X + T\epsilon I)^{{-1}} G_{{XX_+}} (G_X + T\epsilon I)^{{-1}} G_X \alpha_t,\qquad
\alpha_{{t+1}} = \Lambda G_Y\left((\Lambda G_Y)^2 + \delta I\right)^{{-1}}\Lambda k_Y(y_{{t+1}}),\quad
\Lambda = \mathrm{{diag}}(\mu)$$

$T = {steps}$; low-rank factors leave {settings.tolerance:.1g} of the trace out: ranks {found.ranks[0]} and
{found.ranks[1]}, {1000 * found.seconds:.2f} ms a step. Estimates are pre-images of the weighted sample.
""",
        "Fukumizu et al. 2013, §4.3 and §5.3",
    )


main()
