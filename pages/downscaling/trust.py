"""How far to trust the maps, beside them: what share of the truth the intervals held, or that nobody knows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from deconditioning.downscaling.checks.assumptions import STATED, assumptions, intervals, refused, warped_intervals
from deconditioning.downscaling.checks.few_cells import refuted
from deconditioning.downscaling.checks.few_cells import sentences as few_sentences
from deconditioning.downscaling.checks.interval_summary import unchecked
from deconditioning.downscaling.checks.scale_up_result import AVERAGE, OTHERS, OneScaleUp
from deconditioning.downscaling.further_sources.report import source_report
from deconditioning.downscaling.prediction import reads_bags
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import scaled_up_panels
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.printed.coverage import TITLE, mark_of
from deconditioning.figures.scores import pit_histogram
from deconditioning.metrics.intervals import LEVELS, RIGHT, Trust, trust
from deconditioning.models.catalogue import MODELS
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.downscaling.data import Choice
from pages.downscaling.distribution.view import View
from pages.downscaling.picture import data_for
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.escaping import MISSING, plain
from pages.kit.layout.theme import is_dark

#: Name of an assumption → what is wrong where it fails, in the title of the list.
_FAILING = {
    "covariates": "weak covariates", "mediation": "weak mediators", "overlap": "too little overlap",
    "aggregation": "cell means determine too little", "reach": "extrapolation", "cells": "too few cells",
    "water": "orography not flat over water", "intervals": "intervals not Gaussian", "roughness": "too rough",
}  # fmt: skip
_MARKS = {True: ":material/check:", False: ":material/warning:"}


def of_view(problem: DownscalingProblem, view: View) -> Trust | None:
    """What the intervals on the maps held, at the pixels for which the sd was computed; None without a truth."""
    if problem.truth is None:
        return None
    every = slice(None, None, max(view.every, view.sd_every))
    return trust(problem.truth[every, every], view.predictive[every, every], weights=problem.grid.area[every, every])


def refusals(problem: DownscalingProblem, view: View, checked: OneScaleUp | None) -> tuple[str, ...]:
    """Why the intervals can't be right here; nothing where they may be."""
    if problem.warp is not None:
        return refused([warped_intervals(problem, None if checked is None else checked.held)])
    return refused([intervals(problem, view.mean, view.sd)])


def panel(
    problem: DownscalingProblem, view: View, result: Trust | None, bilinear: np.ndarray, refusals: Sequence[str] = (),
    unlearned: bool = False,
) -> None:  # fmt: skip
    """The verdict in its colour, and 50, 90 and 95 % intervals in a small picture; no verdict, whatever they held,
    where intervals are refused, unless the model is ``unlearned`` and they are not right."""
    st.html(f'<div class="lab-map-title">{TITLE}</div>')
    first = unlearned and result is not None and result.verdict != "about right"
    if result is not None and first:
        start = "The sliders are at starting values: press *Learn hyperparameters*."
        st.warning(f"{result.sentence} {start}{_remedy(result)}")
    for sentence in refusals:
        st.warning(plain(sentence))
    if result is None:
        st.warning(plain(unchecked(problem, view.mean, bilinear)))
        return
    if not refusals and not first:
        (st.success if result.right else st.warning)(result.sentence + _remedy(result))
    picture = _picture(result.held, f"var(--lab-{mark_of(result)})")
    st.html(f'<div class="lab-trust" role="img" aria-label="{_alt(result)}">{picture}</div>')
    where = "" if view.exact else f" in the {view.approximations[0].split(':')[0]}"
    st.caption(
        f"Share of the area where the truth is inside the interval{where}. Ring: nominal coverage; dot: actual "
        "coverage."
    )


def said_of(problem: DownscalingProblem, spec: ModelSpec, view: View, result: Trust | None) -> View:
    """The view without the sentence on few cells where the truth, or stations that no method used, show that the
    intervals are not too narrow."""
    few = few_sentences(problem, integrated=spec.spread is not None)
    if not view.exact or not few:
        return view
    at_stations = source_report(problem, view.sources, {spec.model.name: view.mean}, view.predictive).get("scored")
    if not refuted(None if result is None else result.verdict, (at_stations or {}).get("inside_95")):
        return view
    return replace(view, approximations=tuple(each for each in view.approximations if each not in few))


def show_assumptions(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, checked: OneScaleUp | None
) -> None:  # fmt: skip
    """What the exact map rests on, with the number behind each; the title names what failed."""
    if not view.exact:
        return
    held = None if checked is None else checked.held
    result = assumptions(problem, spec, data_for(choice, problem, spec), view.mean, view.sd, held)
    failed = [_FAILING.get(each.name, each.name) for each in result if not each.holds]
    verb = "fails" if len(failed) == 1 else "fail"
    outcome = f"{len(failed)} of {len(result)} {verb}: {', '.join(failed)}" if failed else "all hold"
    with st.expander(f"Assumptions of the map ({outcome})"):
        for each in result:
            claim, threshold = STATED.get(each.name, (each.name.capitalize(), ""))
            limit = f" Threshold: {threshold}." if threshold else ""
            st.markdown(f"{_MARKS[each.holds]} **{claim}.** {plain(each.sentence)}{limit}")


def one_scale_up(spec: ModelSpec, result: OneScaleUp | None) -> None:
    """The verdict one scale up, which needs no fine truth, in its colour; where there is none, how to come by it."""
    if result is None:
        can = (
            "The button *Learn hyperparameters* also tests the model without a fine truth, one scale up: it downscales "
            "larger cells to the known ones."
        )
        st.caption(
            can if reads_bags(spec) else "This model cannot be tested one scale up because it does not use the cells."
        )
        return
    bad = result.beaten or round(100 * result.held[-1]) < RIGHT[0]
    sentence = f"Learned values: {result.sentence[0].lower()}{result.sentence[1:]} {result.comparison}"
    (st.warning if bad else st.success)(plain(sentence))
    if result.choice:
        st.caption(plain(result.choice))


def show_one_scale_up(problem: DownscalingProblem, scale: MapScale, result: OneScaleUp | None) -> None:
    """What was checked one scale up: the small maps, every way's error, and where the known means lay."""
    if result is None:
        return
    with st.expander("One scale up: a test without a fine truth"):
        st.markdown(plain(" ".join((result.sentence, result.comparison, result.choice or "", *result.sentences))))
        for column, panel in zip(st.columns(3), scaled_up_panels(problem, scale, result.values), strict=True):
            with column:
                plotly_live(field_map(panel, height=300, dark=is_dark()), f"map-{panel.key}", later=True)
        left, right = st.columns(2)
        with left:
            model_words = "average of these models" if result.method == AVERAGE else MODELS[result.model].phrase
            ways = {result.method: model_words, "constant": "mean of the merged cell", **OTHERS}
            rows = [{"Way": ways[name], "RMSE": number(result.rmse[name])} for name in ways if name in result.rmse]
            st.dataframe(rows, hide_index=True, width="stretch", placeholder=MISSING)
            st.caption(_meaning(problem, result))
        with right:
            figure = pit_histogram(result.pit, model=result.model, height=280, dark=is_dark(), of="cells")
            plotly_live(figure, "one-scale-up-pit", later=True)


def show_local_scale(problem: DownscalingProblem, view: View) -> None:
    """Where intervals are wider or narrower than the kernel alone would have them."""
    if view.scale is None:
        return
    with st.expander("Local scale: where the intervals are wider, and why"):
        low, high = (float(f"{value:.2g}") for value in np.nanquantile(view.scale, (0.01, 0.99)))
        far = max(1 - low, high - 1, 0.01)
        limits = MapScale("local scale κ", "", "diverging", 1 - far, 1 + far)
        only = ", so that it only widens here," if low >= 1 else ""
        left, right = st.columns([2, 3])
        with left:
            panel = Panel("local-scale", "Factor on the sd", view.scale, problem.grid, limits)
            plotly_live(field_map(panel, height=340, dark=is_dark()), "map-local-scale", later=True)
        right.markdown(
            "Where the other cells predict a cell badly, the sd was too small; where they predict it well, the sd was "
            f"too large. κ corrects this. It ranges from {number(low, 2)} to {number(high, 2)}{only} and varies "
            "smoothly in space and with the roughness of the covariates. The mean does not change. The coarse cells "
            "determine κ between cells; inside the cells it assumes that the field is equally rough below the cell "
            "size. Only a fine truth can show that the intervals are right."
        )


def _meaning(problem: DownscalingProblem, result: OneScaleUp) -> str:
    units = f" in {plain(problem.units)}" if problem.units else ""
    varied = ""
    if result.within is not None:
        varied = (
            f" Inside the merged cells the variance of the predicted mean is {number(result.within, 2)} times that of "
            "the known values."
        )
    return (
        f"RMSE{units}; CRPS {number(result.crps)}.{varied} The hyperparameters were learned again from the merged "
        "cells. The result carries over to the pixels if the field is equally rough below and above the cell size; "
        "only a fine truth can show that."
    )


def _remedy(result: Trust) -> str:
    if result.verdict == "about right":
        return ""
    if not np.isfinite(result.widen):
        return " Where the sd is 0 no factor can correct it."
    return f" The intervals would be calibrated at {number(result.widen, 2)} times this width."


def _alt(result: Trust) -> str:
    shares = ", ".join(
        (f"{100 * level:.0f} % intervals contain {100 * share:.0f} %") for level, share in _pairs(result.held)
    )
    return f"Nominal and actual: {shares}."


def _pairs(held: Sequence[float]) -> list[tuple[float, float]]:
    return list(zip(LEVELS, held, strict=True))


def _picture(held: Sequence[float], colour: str) -> str:
    """One line a level from 0 to 100 %: a ring at what was promised, a dot at what was held."""
    rows = ""
    for level, share in _pairs(held):
        low, high = sorted((level, share))
        marks = (
            f'<b class="gap" style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%;background:{colour}"></b>'
            f'<b class="ring" style="left:{100 * level:.1f}%"></b>'
            f'<b class="dot" style="left:{100 * share:.1f}%;background:{colour}"></b>'
        )
        value = f'<span class="held" style="color:{colour}">{100 * share:.0f} %</span>'
        rows += f'<span class="level">{100 * level:.0f} %</span><span class="line">{marks}</span>{value}'
    ticks = "".join(f'<i style="left:{at}%">{at}</i>' for at in (0, 25, 50, 75, 100))
    return f'{rows}<span></span><span class="line ticks">{ticks}</span><span></span>'
