"""Numbers beside the maps: scores against baselines, calibration, one cell's pixels, re-aggregation."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.boosting import gradient_boosting
from deconditioning.downscaling.run import centroid_baseline, coarse_scores, withheld_scores
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.errors import InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.grids.place import place_words
from deconditioning.fields.problem.baselines import interpolations as interpolated
from deconditioning.fields.problem.cells import cells_text
from deconditioning.fields.problem.explained_variation import explained_share
from deconditioning.fields.problem.map_selection import cell_of
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.colours import model_name
from deconditioning.figures.scores import calibration_plot, error_histogram, pit_histogram
from deconditioning.metrics.calibration import calibration, pit
from deconditioning.metrics.field_scores import score_field
from deconditioning.metrics.intervals import calibration_sentence, pit_sentence
from deconditioning.metrics.points import Predicted
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number, signed
from pages.downscaling.descriptions import sources_in_words
from pages.downscaling.distribution.view import View
from pages.kit.chart.background import get_background, redraw_when
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls.settings import control
from pages.kit.layout.escaping import MISSING, cells, plain, sentence_of
from pages.kit.layout.score_table import MAIN_SCORES, score_table
from pages.kit.layout.stripes import step_sentence
from pages.kit.layout.theme import is_dark
from pages.kit.record import record_numbers
from pages.kit.session import Key

#: The share of the variance inside cells below which covariates explain little.
_LITTLE = 0.3
#: Distributions (H, W) of a baseline that learns.
Fit = Callable[[DownscalingProblem, Callable[[], None]], Predictive]
LEVELS = tuple(np.round(np.arange(0.05, 1.0, 0.05), 2))


@st.cache_resource(show_spinner="Interpolating the coarse field …", max_entries=6)
def interpolations(key: str, _problem: DownscalingProblem) -> dict[str, np.ndarray]:
    """The baselines that need no learning, by name."""
    return interpolated(_problem.plain)


@st.cache_resource(show_spinner=False, max_entries=6)
def rounding(key: str, _problem: DownscalingProblem) -> str:
    """That the truth is stored in steps, and what this alone contributes to the error; empty where it is not."""
    return step_sentence(_problem.truth, plain(_problem.units))


@st.cache_resource(show_spinner=False, max_entries=6)
def _share_of(key: str, _problem: DownscalingProblem) -> tuple[float, str]:
    """The share of within-cell variation the covariates explain, and its sentence."""
    result = explained_share(_problem)
    return result.share, result.sentence


def hope(key: str, problem: DownscalingProblem, *, below: bool) -> None:
    """Whether the covariates can carry detail into a cell: a warning above the maps, or a sentence below them.

    No praise, since it says nothing about the intervals.
    """
    share, sentence = _share_of(key, problem)
    if below and share >= _LITTLE:
        st.markdown(sentence_of(sentence))
    elif not below and share < _LITTLE:
        st.warning(sentence_of(sentence))


def scores(key: str, problem: DownscalingProblem, spec: ModelSpec, view: View) -> None:
    """The score table: the model and every baseline, on the same pixels."""
    if problem.truth is None:
        st.info("No high-resolution truth is available: scores come from withheld cells and from re-aggregation.")
        hidden = withheld_scores(problem, {spec.model.name: view.mean, **interpolations(key, problem)})
        if hidden:
            sentence = "Scores at the withheld cells, which no method saw: each field is averaged over these cells."
            score_table(hidden, units=problem.units, main=MAIN_SCORES, caption=sentence)
        _coarse_table(problem, view)
        return
    fields: dict[str, Predicted] = {spec.model.name: view.mean, **interpolations(key, problem)}
    jobs = _learned_baselines(key, problem, spec, view)
    waiting = [name for name, job in jobs.items() if job is None or not job.done()]
    for name, job in jobs.items():
        if job is not None and job.done() and job.exception() is None:
            fields[name] = job.result()
    means = [each.mean if isinstance(each, Predictive) else each for each in fields.values()]
    shared = np.logical_and.reduce([np.isfinite(values) for values in means])
    truth = np.where(shared, problem.truth, np.nan)
    rows = {spec.model.name: _scores_of(view, truth, problem)}
    others = [name for name in fields if name != spec.model.name]
    rows |= {n: _baseline_scores(key, n, truth, fields[n], problem) for n in others}
    if view.exact:
        record_numbers(exact=1.0)
    score_table(rows, units=problem.units, main=MAIN_SCORES, caption=_caption(rows, waiting, view, problem))
    _coarse_table(problem, view)
    for name in waiting:
        if (job := jobs[name]) is not None:
            _redraw_after(name, job)


def _scores_of(view: View, truth: np.ndarray, problem: DownscalingProblem) -> dict[str, float]:
    """Scores of the view, at the pixels for which it holds."""
    return score_field(view.thin(truth), view.thinned, area=view.thin(problem.grid.area))


def _baseline_scores(
    key: str, name: str, truth: np.ndarray, predicted: Predicted, problem: DownscalingProblem
) -> dict[str, float]:
    """Scores of a baseline; they are kept, since they do not follow the sliders."""
    cached_scores = st.session_state.setdefault(Key.BASELINE_SCORES, {})
    mark = (key, name, int(np.isfinite(truth).sum()))
    if mark not in cached_scores:
        cached_scores[mark] = score_field(truth, predicted, area=problem.grid.area)
    return cached_scores[mark]


def _learned_baselines(key: str, problem: DownscalingProblem, spec: ModelSpec, view: View) -> dict[str, Any]:
    """Jobs in the background of the baselines that learn, by name; None for those that wait for the exact picture."""
    fits: dict[str, Fit] = {}
    of_sliders = spec.model.name == "centroid_gp"  # the sliders' own version stands in the table then
    if problem.mediator_columns and not of_sliders and control(DownscaleSettings.centroid_gp):
        fits["centroid_gp"] = centroid_baseline
    if control(DownscaleSettings.gradient_boosting):
        fits["gradient_boosting"] = gradient_boosting
    if not view.exact:
        return dict.fromkeys(fits)
    work = get_background()
    return {name: work.request(f"{name}-{key}", f"{name}-{key}", partial(fit, problem)) for name, fit in fits.items()}


def _caption(rows: dict[str, dict[str, float]], waiting: list[str], view: View, problem: DownscalingProblem) -> str:
    span = next((row["ssim_range"] for row in rows.values() if row.get("ssim_range")), None)
    sentence = "Error is prediction − truth. Every method sees the same cells and is scored on the same pixels"
    sentence += f"; the posterior also sees {plain(sources_in_words(problem))}." if problem.sources else "."
    if span:
        units = f" {plain(problem.units)}" if problem.units else ""
        sentence += f" SSIM: structural similarity, 1 is best; the values are taken to span {number(span, 4)}{units}."
    if not view.exact:
        sentence = f"Scores of the {view.approximations[0]}. {sentence}"
    return sentence + "".join(f" {model_name(name)} is being learned …" for name in waiting)


def _redraw_after(name: str, job: Any) -> None:
    """Redraw the page with the scores of a baseline once it has learned, or say why it could not."""

    def waiting() -> None:
        if job.done() and isinstance(error := job.exception(), InputError):
            st.caption(f"{model_name(name)}: {sentence_of(error)}")

    redraw_when(lambda: job.done() and job.exception() is None, waiting, every=1.0)


def _coarse_table(problem: DownscalingProblem, view: View) -> None:
    result = coarse_scores(problem, view.mean)
    if not result:
        return
    units = plain(problem.units)
    parts = []
    if "seen" in result:
        parts.append(
            f"averaged over the observed cells, the map differs from their values by RMSE "
            f"{number(result['seen']['rmse'])} {units}"
        )
    if "withheld" in result:
        parts.append(
            f"at the {int((~problem.observed & np.isfinite(problem.coarse_truth)).sum())} withheld cells by RMSE "
            f"{number(result['withheld']['rmse'])} {units} (bias {number(result['withheld']['bias'], 2)})"
        )
    sentence = "; ".join(parts)
    st.markdown(sentence[:1].upper() + sentence[1:] + ".")


def reliability(key: str, problem: DownscalingProblem, spec: ModelSpec, view: View) -> None:
    """Calibration of the intervals, the truth's place in them, and errors against those of bilinear interpolation."""
    if problem.truth is None:
        return
    left, middle, right = st.columns(3)
    truth, area, predictive = view.thin(problem.truth), view.thin(problem.grid.area), view.thinned
    with left:
        shares = {spec.model.name: calibration(truth, predictive, LEVELS, weights=area).tolist()}
        plotly_live(calibration_plot(LEVELS, shares, dark=is_dark()), "calibration")
        st.markdown(calibration_sentence(LEVELS, shares[spec.model.name]))
    with middle:
        counts = pit(truth, predictive, weights=area).tolist()
        plotly_live(pit_histogram(counts, model=spec.model.name, height=320, dark=is_dark()), "pit")
        st.markdown(pit_sentence(counts))
    with right:
        errors = {spec.model.name: view.mean - problem.truth}
        errors["bilinear"] = interpolations(key, problem)["bilinear"] - problem.truth
        plotly_live(error_histogram(errors, units=problem.units, dark=is_dark(), height=320), "errors")
        st.markdown("Errors of the model compared with bilinear interpolation of the same cells.")


def one_cell(
    problem: DownscalingProblem, view: View, point: tuple[float, float] | None, by_maps: DeltaGenerator
) -> None:
    """The pixels of the clicked cell: coarse value, what the posterior puts there, and the truth."""
    if point is None:
        by_maps.caption("Click a cell on any map to see its pixels.")
        return
    row = int(np.abs(problem.grid.y - point[1]).argmin())
    column = int(np.abs(problem.grid.x - point[0]).argmin())
    cell = int(problem.cell[row, column])
    if cell < 0:
        st.caption("The point you clicked is outside every coarse cell.")
        return
    mine, name = problem.cell == cell, cells_text([cell_of(problem, cell)])
    role = "seen by the model" if problem.observed.ravel()[cell] else "withheld from the model"
    value = problem.coarse_truth.ravel()[cell]
    back = reaggregate(problem, view.mean).ravel()[cell]
    units = plain(problem.units)
    where = place_words(problem.grid.latitude[row, column], problem.grid.longitude[row, column])
    label = f"Cell {name}"
    if problem.regions is not None and problem.regions.cell is not None:
        label = plain(problem.regions.name[int((problem.regions.cell == cell).argmax())])
    places = _places(float(np.nanmean(view.sd[mine])) if np.isfinite(view.sd[mine]).any() else 0.0)
    st.markdown(
        f"**{label}** ({where}, {int(mine.sum())} pixels): coarse value **{signed(value, places)} {units}** ({role}), "
        f"average of the posterior mean {signed(back, places)} {units}."
    )
    rows = {"Posterior mean": view.mean[mine], "Posterior sd": view.sd[mine]}
    if problem.truth is not None:
        rows |= {"Truth": problem.truth[mine], "Error": (view.mean - problem.truth)[mine]}
    ways: dict[str, Callable[[np.ndarray], float]] = {"min": np.nanmin, "mean": np.nanmean, "max": np.nanmax}
    table = [
        {"": name, **{way: signed(of(v), places) for way, of in ways.items()}, "unit": problem.units}
        for name, v in rows.items()
        if np.isfinite(v).any()
    ]
    right = {way: st.column_config.TextColumn(alignment="right") for way in ways}
    st.dataframe(cells(table), hide_index=True, width="stretch", placeholder=MISSING, column_config=right)


def _places(sd: float) -> int:
    """The decimals with which an sd has two significant digits: all that is known of a value; 2 where there is none."""
    return max(0, 1 - math.floor(math.log10(sd))) if sd > 0 else 2
