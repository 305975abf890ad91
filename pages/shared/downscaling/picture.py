"""The maps: a picture at once, the exact one as soon as it is there, on scales that do not jump."""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from core.errors import InputError
from core.experiments import interactive
from core.experiments.prediction import matched_data
from core.fields import DownscalingProblem, Grid
from core.figures.maps import field_map
from core.kernels.pixel_sums import Picture
from core.models.catalogue import named
from core.models.spec import ModelSpec
from core.observations import IndirectData
from pages.shared.background import get_background, own_lane
from pages.shared.downscaling.data import Choice
from pages.shared.plotly_live import plotly_live
from pages.shared.theme import is_dark

GROUP = "downscaling-maps"
MEAN = "Posterior mean"


@dataclass(frozen=True)
class View:
    """What is on the maps: mean and sd (H, W) in physical units, and what is not exact about them.

    A preview holds for every ``every``-th pixel each way (its sd for every ``sd_every``-th), the others repeat it.
    """

    mean: np.ndarray
    sd: np.ndarray
    said: tuple[str, ...]
    evidence: float | None
    jitter: float
    exact: bool
    every: int = 1
    sd_every: int = 1

    def thin(self, values: np.ndarray) -> np.ndarray:
        """A field (H, W) at the pixels for which this view holds."""
        return values[:: self.every, :: self.every]


@st.cache_resource(show_spinner=False)
def sums_store() -> interactive.SumsStore:
    """Bag sums kept between sliders, shared by all sessions."""
    return interactive.SumsStore()


@st.cache_resource(show_spinner=False, max_entries=4)
def _picture(key: str, _problem: DownscalingProblem) -> Picture | None:
    return interactive.picture_or_none(_problem)


@st.cache_resource(show_spinner=False, max_entries=4)
def _sketch(key: str, _problem: DownscalingProblem) -> interactive.Sketch:
    return interactive.sketch(_problem)


@st.cache_resource(show_spinner="Pseudo-targets for unmatched bags …", max_entries=8)
def _matched(key: str, ell: str, _problem: DownscalingProblem, _spec: ModelSpec) -> IndirectData:
    return matched_data(_problem, _spec)


def data_for(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> IndirectData:
    """The data the model can use; pseudo-targets are computed once per mediator kernel."""
    if named(spec.model).mediated or problem.matched:
        return problem.data
    ell = json.dumps(spec.mediator_kernel.to_dict()) if spec.mediator_kernel else ""
    return _matched(choice.key, ell, problem, spec)


def spec_key(choice: Choice, spec: ModelSpec) -> str:
    """One name for a problem and a model at given hyperparameters."""
    text = choice.key + json.dumps(spec.to_dict(), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def exact_job(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> "Future[View]":
    """The exact picture, computed in the background; asking again gives the same job."""
    data, picture, store = data_for(choice, problem, spec), _picture(choice.key, problem), sums_store()

    def work(check: Callable[[], None]) -> View:
        found = interactive.exact(spec, data, problem, choice.key, store, picture, check)
        mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
        return View(mean, sd, found.told, found.evidence, found.jitter, exact=True)

    return get_background().request(spec_key(choice, spec), own_lane("exact"), work)


def quick_view(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> View:
    """The preview at the sliders' own settings."""
    data = data_for(choice, problem, spec)
    look = _sketch(choice.key, problem)
    found = interactive.preview(spec, data, problem, choice.key, sums_store(), _picture(choice.key, problem), look)
    mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
    every, sd_every = look.mean_at.stride, look.sd_at.stride
    return View(mean, sd, found.approximations, None, 0.0, exact=False, every=every, sd_every=sd_every)


def current_view(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> View:
    """The exact picture where it is there already, else a preview; the exact one is begun once that is drawn."""
    key = spec_key(choice, spec)
    job = get_background().known(key)
    if job is not None and job.done() and job.exception() is None:
        return job.result()
    get_background().drop(own_lane("exact"), unless=key)
    return quick_view(choice, problem, spec)


def await_exact(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, shown: View) -> None:
    """Under a preview: says so, and redraws the page when the exact picture is there."""
    mark = f"_preview-{spec_key(choice, spec)}"
    if shown.exact:
        before = st.session_state.pop(mark, None)
        if before is not None:
            mean, sd = _differences(before, shown)
            st.caption(
                f"Exact. Where it was computed, the preview differed by at most {mean:.2g} {problem.units} in the "
                f"mean and on average by {sd:.2g} {problem.units} in the sd."
            )
        else:
            st.caption("Exact: every pixel of every cell enters the posterior.")
        for sentence in shown.said:
            st.caption(sentence)
        return
    st.session_state[mark] = shown

    @st.fragment(run_every=0.4)
    def wait() -> None:
        job = exact_job(choice, problem, spec)
        if job.done():
            error = job.exception()
            if error is None:
                st.rerun()
            if isinstance(error, InputError):
                st.error(str(error))
                return
        st.caption(f"P{'; '.join(shown.said)[1:]}; the exact picture is being computed …")

    wait()


def _differences(preview: View, exact: View) -> tuple[float, float]:
    """Largest difference of the means and average one of the sds, over the pixels that the preview computed."""
    coarse = (slice(None, None, preview.sd_every),) * 2
    largest = np.nanmax(np.abs(preview.thin(preview.mean) - preview.thin(exact.mean)))
    return float(largest), float(np.nanmean(np.abs(preview.sd[coarse] - exact.sd[coarse])))


def short_name(problem: DownscalingProblem) -> str:
    """The target's name for a colour bar: the long name where it is short enough to stand under a map."""
    return problem.long_name if 0 < len(problem.long_name) <= 34 else problem.spec.target


def limits_of(problem: DownscalingProblem) -> tuple[float, float]:
    """One scale for coarse field, truth and prediction: what was measured, so that it does not follow the sliders."""
    known = problem.coarse_truth if problem.truth is None else problem.truth
    finite = known[np.isfinite(known)]
    low, high = np.quantile(finite, [0.002, 0.998])
    return float(low), float(high)


def error_limit(problem: DownscalingProblem, constant: np.ndarray) -> float:
    """The error's scale: that of the coarse value in its cell, which the method has to beat."""
    if problem.truth is None:
        return 1.0
    error = np.abs(constant - problem.truth)
    return float(np.nanquantile(error, 0.99)) or 1.0


def draw_maps(problem: DownscalingProblem, view: View, constant: np.ndarray) -> tuple[float, float] | None:
    """Coarse observation, posterior mean, truth, 2 sd and error; returns the point that was clicked."""
    limits, label, units = limits_of(problem), short_name(problem), problem.units
    dark = is_dark()
    observed = np.full(problem.grid.area.shape, np.nan)
    inside = problem.cell >= 0
    observed[inside] = problem.coarse.ravel()[problem.cell[inside]]
    spread = error_limit(problem, constant)
    common: dict[str, Any] = {"units": units, "dark": dark}
    field = {"label": label, "colours": "sequential", "limits": limits, **common}
    panels: list[tuple[str, np.ndarray, Grid, dict[str, Any]]] = []
    if inside.any():
        panels.append(("Coarse observation (grey: not seen)", observed, problem.grid, field))
    else:
        panels.append(("Coarse observation", problem.coarse, problem.coarse_grid, field))
    panels.append((MEAN, view.mean, problem.grid, field | {"every": view.every}))
    if problem.truth is not None:
        panels.append(("Truth (never shown to the model)", problem.truth, problem.grid, field))
    sd_top = max(2 * float(np.nanquantile(view.sd, 0.99)), 1e-12)
    sd = {"label": "2 standard deviations", "colours": "uncertainty", "limits": (0.0, sd_top), **common}
    panels.append(("Uncertainty: 2 sd", 2 * view.sd, problem.grid, sd | {"every": view.sd_every}))
    if problem.truth is not None:
        error = {"label": "Prediction − truth", "colours": "diverging", "limits": (-spread, spread), **common}
        panels.append(("Error", view.mean - problem.truth, problem.grid, error | {"every": view.every}))
    return _draw(panels)


def _draw(panels: list[tuple[str, np.ndarray, Grid, dict[str, Any]]]) -> tuple[float, float] | None:
    """The posterior mean is sent and drawn before the maps beside it: it is what a moved slider is about."""
    clicked = None
    columns = [column for begin in range(0, len(panels), 3) for column in st.columns(3)]
    places = list(zip(columns, panels, strict=False))
    for column, (title, values, grid, options) in sorted(places, key=lambda place: place[1][0] != MEAN):
        with column:
            figure = field_map(values, grid, title=title, height=430, **options)
            name = title.split()[0].lower().strip(":")
            point = plotly_live(figure, f"map-{name}", group=GROUP, clickable=True, later=title != MEAN)
            clicked = point if _is_new(name, point) else clicked
    if clicked is not None:
        st.session_state["_cell"] = clicked
    return st.session_state.get("_cell")


def _is_new(name: str, point: tuple[float, float] | None) -> bool:
    before = st.session_state.get(f"_click-{name}")
    st.session_state[f"_click-{name}"] = point
    return point is not None and point != before
