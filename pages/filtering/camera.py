"""The view Camera: a room, a camera that turns in it, and filters that find its rotation from small noisy frames."""

from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.figures.colours import model_name
from deconditioning.figures.studies.camera import TRAIL, angles_plot, attitude_plot, frames_plot, noises_plot
from deconditioning.figures.studies.filtering import errors_plot
from deconditioning.filtering.room import longitude_latitude
from deconditioning.filtering.rotations import angles_between
from deconditioning.studies.filtering.camera import (
    KERNELS,
    METHODS,
    PAPER,
    CameraData,
    CameraSpec,
    Estimates,
    camera_spec,
    follow_camera,
    make_camera,
)
from deconditioning.studies.filtering.settings import CameraFilterSettings, CameraSettings, CameraShownSettings
from deconditioning.studies.filtering.study import FilterSettings
from deconditioning.wording import number
from pages.filtering.player import player
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.controls.essential import aside
from pages.kit.controls.settings import controls
from pages.kit.layout.page_layout import evidence, explain, lead
from pages.kit.layout.score_table import score_table
from pages.kit.layout.theme import is_dark
from pages.kit.runs.stored_results import stored
from pages.kit.tools.study_sweep import OnPage, offer

_ByMethod = dict[str, Estimates]

STORED = "camera.json"
_PHRASES = {
    "kbr_gauss": "kernel Bayes filter with the Gaussian kernel", "kbr_tr": "kernel Bayes filter with the trace kernel",
    "kalman_matrix": "Kalman filter on nine numbers", "kalman_quaternion": "Kalman filter on quaternions",
    "nearest": "nearest example",
}  # fmt: skip
#: Runs over all of SO(3).
_TURNED = "camera_rotations.json"


def show() -> None:
    """Read the controls, follow, play; then the paper's table."""
    with st.sidebar:
        spec, settings, shown = camera_spec(controls(CameraSettings)), _choose_filters(), _choose_shown()
        every = controls(CameraShownSettings).every
    data = _camera_data(spec)
    result = {name: _followed(spec, name, settings if name in KERNELS else None) for name in METHODS}
    summary(data, result)
    few = {name: each for name, each in result.items() if every or name in (shown, "nearest")}
    player(len(data.truth), lambda step, above: _draw(data, few, shown, step, above), key="fc")
    table(data, result)
    equation(spec, result)
    with evidence():
        _paper_table()
    if settings.scale is not None:
        offer(OnPage("camera"))


def _choose_filters() -> FilterSettings:
    """β and ε of both kernel Bayes filters, or validation; the tolerance."""
    chosen = controls(CameraFilterSettings)
    if chosen.validate:
        return FilterSettings(tolerance=chosen.tolerance)
    return FilterSettings(chosen.scale, chosen.regularisation, chosen.tolerance)


def _choose_shown() -> str:
    """The filter whose belief is drawn."""
    default = KERNELS[1]
    return (
        widgets.selectbox(
            "Filter in the picture", METHODS, index=METHODS.index(default), format_func=model_name, key="fc-shown"
        )
        or default
    )


@st.cache_resource(show_spinner="Rendering the camera's frames …", max_entries=8)
def _camera_data(spec: CameraSpec) -> CameraData:
    return make_camera(spec)


@st.cache_resource(show_spinner="Filtering …", max_entries=48)
def _followed(spec: CameraSpec, method: str, settings: FilterSettings | None) -> Estimates:
    return follow_camera(_camera_data(spec), settings or FilterSettings(), (method,))[method]


@st.cache_resource(show_spinner=False, max_entries=8)
def _panorama(spec: CameraSpec) -> np.ndarray:
    return _camera_data(spec).room.panorama()


def summary(data: CameraData, result: _ByMethod) -> None:
    """Who comes nearest, and what the filters say of themselves."""
    errors = {name: float(angles_between(e.rotations, data.truth).mean()) for name, e in result.items()}
    best = min(errors, key=errors.__getitem__)
    lead(
        "A camera turns in a room. **Hidden**: which way it looks. **Observed**: one small noisy frame at every step. "
        f"**Given** to every filter: {data.spec.train} frames with their rotations. Over {len(data.truth)} frames the "
        f"mean error is **{min(errors[name] for name in KERNELS):.1f}°** for the kernel Bayes filter (better of two "
        f"kernels) and {errors['nearest']:.1f}° for the nearest example, which ignores the past. Most accurate: the "
        f"{_PHRASES[best]}."
    )
    for name in KERNELS:
        lost, far = (int(np.sum(getattr(result[name], what))) for what in ("lost", "far"))
        if lost or far:
            st.warning(
                f"{model_name(name)}: at {far} steps no training frame was close to the observation; at {lost} the "
                "filter lost the state and recovered it from the frame alone."
            )


def _draw(data: CameraData, result: _ByMethod, shown: str, step: int, above: DeltaGenerator) -> None:
    believed = result[shown].rotations[step]
    frames = {
        "hidden: the true view": data.clean[step].reshape(data.shape),
        "observed: the noisy frame": data.observed[step].reshape(data.shape),
        f"estimate: {model_name(shown)}": data.believed(believed),
    }
    outlines = {"truth": data.outline(data.truth[step]), shown: data.outline(believed)}
    trail = longitude_latitude(data.truth[max(0, step - TRAIL) : step + 1, :, 0])
    title = f"Step {step + 1} of {len(data.truth)}"
    with above:
        plotly_live(frames_plot(frames, title=title, height=370, dark=is_dark()), "fc-frames")
    left, right = st.columns(2)
    with left:
        plotly_live(attitude_plot(_panorama(data.spec), trail, outlines, height=300, dark=is_dark()), "fc-room-picture")
    with right:
        angles = {name: angles_between(e.rotations, data.truth) for name, e in result.items()}
        plotly_live(angles_plot(angles, step, height=300, dark=is_dark()), "fc-angles", later=True)
    flat = {name: e.matrices.reshape(-1, 9) for name, e in result.items()}
    figure = errors_plot(data.truth.reshape(-1, 9), flat, step, height=260, dark=is_dark())
    plotly_live(figure, "fc-errors", later=True)
    mass = result[shown].mass
    if mass is not None:
        aside(f"The predicted weights for this frame sum to {mass[step]:.3f}.")


def table(data: CameraData, result: _ByMethod) -> None:
    """Errors of all filters."""
    rows = {name: estimates.scores(data.truth) for name, estimates in result.items()}
    score_table(
        rows, columns=("mse", "mse_rotation", "angle", "ms_per_step"),
        caption="Mean squared Frobenius distance to the true rotation (at most 8), and mean angle",
    )  # fmt: skip


def equation(spec: CameraSpec, result: _ByMethod) -> None:
    """Both filters with today's numbers."""
    ranks = {name: result[name].ranks or (0, 0) for name in KERNELS}
    explain(
        "The state is the rotation of the camera; the observation is a frame of 20 × 20 RGB pixels. The filter "
        "propagates weights on the training rotations and reweights them by the similarity of each training frame to "
        "the observed frame.",
        rf"""
$$Y_t = \mathrm{{frame}}(R_t) + \xi_t \in \mathbb{{R}}^{{1200}},\quad \xi_t \sim N(0, \sigma^2 I),\qquad
\sigma^2 = {number(spec.noise**2)},\ T = {spec.train}$$

Gauss: $k(A, B) = \exp(-\Vert A - B\Vert_F^2/2\ell^2)$ on nine numbers, $\ell$ = β × their median distance; the
estimate is the pre-image among all 3 × 3 matrices. Tr: $k(A, B) = \mathrm{{Tr}}(AB^\top)$, of rank at
most 9, here {ranks["kbr_tr"][0]}; the estimate is the pre-image on SO(3),

$$\hat R_t = \arg\max_{{R \in SO(3)}} \sum_i \alpha_i \mathrm{{Tr}}(X_i R^\top)
= U\,\mathrm{{diag}}(1, 1, \det UV^\top)\,V^\top,\qquad \sum_i \alpha_i X_i = U D V^\top.$$

Ranks of the Gram matrices of states and frames: {ranks["kbr_gauss"][0]} and {ranks["kbr_gauss"][1]} (Gauss). Angles
and estimated frames use the rotation nearest to each estimate. The Kalman filters learn
$R_{{t+1}} \approx A R_t + a$ and $Y_t \approx H R_t + h$ by least squares, on nine numbers or on the quaternion.

{"; ".join(f"{model_name(name)}: {each.words}" for name, each in result.items())}.
""",
        "Fukumizu et al. 2013, §4.3 and §5.3; the room and the path are ours; those of the paper are not published",
    )


def _paper_table() -> None:
    """Stored results of long series beside the paper's Table 1, and of a camera that turns any way."""
    document, turned = stored(STORED), stored(_TURNED)
    settings, results = document["settings"], document["results"]
    st.subheader("The paper's Table 1", anchor=False)
    for column, noise in zip(st.columns(len(settings["noise"])), settings["noise"], strict=True):
        variance = float(f"{noise**2:.6g}")
        with column:
            figure = noises_plot(_means(results, noise), PAPER.get(variance, {}), title=f"σ² = {number(variance, 6)}",
                                 dark=is_dark())  # fmt: skip
            plotly_live(figure, f"fc-paper-{variance:g}")
    st.caption(
        f"Ours: {_settings_sentence(settings)}, tilt up to {number(settings['tilt'], 6)}°; "
        "bars are standard errors. The paper: T = 1800, 1800 frames, 10 runs. "
        "Its frames and path are not published, so the ranking of the methods can be compared but not the numbers. "
        "The paper has no nearest-frame baseline."
    )
    st.markdown(_any_rotation(turned))


def _any_rotation(document: dict[str, Any]) -> str:
    """What the stored runs over all of SO(3) found, in words."""
    settings = document["settings"]

    def sentence(noise: float) -> str:
        result = _means(document["results"], noise).items()
        means = ", ".join(f"{model_name(name)} {number(mean)} ± {number(error, 2)}" for name, (mean, error) in result)
        return f"at σ² = {number(noise**2)} {means}"

    return (
        f"**Any rotation.** If the camera can turn upside down (tilt {number(settings['tilt'], 6)}°), "
        f"{settings['train']:,} frames cover the rotations only sparsely. MSE "
        f"{'; '.join(map(sentence, settings['noise']))} ({_settings_sentence(settings)}). "
        "The trace kernel then contains no constant, "
        "so the sum of the filter's weights carries no information and is not monitored."
    )


def _settings_sentence(settings: dict[str, Any]) -> str:
    chosen = settings["scale"] is not None and settings["epsilon"] is not None
    words = (
        f"β = {number(settings['scale'], 6)}, ε = {number(settings['epsilon'], 6)} for both kernels"
        if chosen
        else "β, ε by validation"
    )
    whole = ", full rank" if settings.get("full_rank") else ""
    return f"T = {settings['train']}, {settings['test']} frames followed, {settings['runs']} runs; {words}{whole}"


def _means(results: list[dict[str, Any]], noise: float) -> dict[str, tuple[float, float]]:
    """Mean squared distance over runs and its standard error, by method."""
    by_method: dict[str, list[float]] = {}
    for row in results:
        if row["noise"] == noise and row["status"] == "ok":
            by_method.setdefault(row["model"], []).append(row["scores"]["mse"])
    return {
        name: (float(np.mean(runs)), float(np.std(runs, ddof=1) / len(runs) ** 0.5) if len(runs) > 1 else 0.0)
        for name, runs in by_method.items()
    }
