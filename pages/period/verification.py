"""How good the series is where the truth is known, as `deconditioning verify` computes it."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.figures.colours import MODEL_NAMES, Colours
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.scores import pit_histogram
from deconditioning.figures.studies.verification import (
    SkillRow,
    reliability_plot,
    scores_in_time,
    skill_plot,
    spread_skill_plot,
)
from deconditioning.period.archive.peers.fitted import ANALOGS, DELTA, EOFS, FOREST, QUANTILES
from deconditioning.period.correlation import days_of
from deconditioning.period.scores import verified_result
from deconditioning.verification.events import Event, events
from deconditioning.verification.report import Verification
from deconditioning.verification.series import BILINEAR, CONSERVING
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.period import displaced
from pages.period.distribution import show_power, show_quantiles
from pages.period.maps import one_map
from pages.period.place import time_axis
from pages.period.result import Choice, Shown
from pages.period.scales import short
from pages.period.threshold import threshold
from pages.period.words import names_of, table

#: Methods that stand in the table and beside the skill, but not as lines of their own.
_NOT_DRAWN = (BILINEAR, QUANTILES, ANALOGS, EOFS, FOREST)
#: What the page calls the parts of times and pixels.
_PARTS = {
    "hour": "hour of the day",
    "month": "month",
    "year": "year",
    "altitude": "altitude",
    "surface": "land and sea",
}


def show(choice: Choice, shown: Shown, place: tuple[int, int]) -> None:
    """The table of scores, then skill, time, distribution, event and region."""
    verification = shown.verification
    if shown.members:
        st.info("Verification on this page is of one member: choose it in the sidebar.")
        return
    if verification is None:
        st.info("There is no fine truth in this file, so there is nothing to verify. Choose a series that has one.")
        return
    table(shown)
    left, right = st.columns(2)
    with left:
        _skill(verification)
    with right:
        _in_time(shown, verification)
    left, right = st.columns(2)
    with left:
        _position(verification)
    with right:
        _spread(shown, verification)
    left, right = st.columns(2)
    with left:
        show_power(choice, shown, verification)
    with right:
        show_quantiles(choice, shown, verification)
    left, right = st.columns(2)
    with left:
        limit = _event(choice, shown)
    with right:
        _region(shown, verification)
    displaced.show(choice, shown, limit, _NOT_DRAWN[1:])


def _skill(verification: Verification) -> None:
    rows: dict[str, dict[str, SkillRow]] = {"RMSE": {}, "CRPS": {}}
    for each in verification.skills:
        rows[each.score.upper()][each.reference] = (each.skill, each.low, each.high)
    plotly_live(skill_plot(rows, dark=is_dark()), "p-skill")
    st.caption(
        "Right of 0 the error of the Gaussian process is smaller than that of the method named. Bars are 95 % "
        "intervals by a block bootstrap over the times; one that contains 0 shows no clear difference."
    )


def _in_time(shown: Shown, verification: Verification) -> None:
    known = {each.by for each in verification.parts}
    offered = ["every time", *(words for by, words in _PARTS.items() if by in known)]
    score = widgets.segmented_control("Score", ["CRPS", "RMSE"], default="CRPS", key="p-score") or "CRPS"
    by = offered[0]
    if len(offered) > 1:
        by = widgets.segmented_control("By", offered, default=offered[0], key="p-by") or offered[0]
    every = by == "every time"
    across, at, values, ticks = (_of_times if every else _of_parts)(shown, verification, score.lower(), by)
    labels = (across, f"{score} ({plain(shown.result.series.problem.units)})")
    title = f"{score} of all pixels" if every else f"{score} by {by}"
    figure = scores_in_time(at, values, title=title, labels=labels, names=names_of(verification.scores), dark=is_dark())
    figure["layout"]["xaxis"] |= ticks
    plotly_live(figure, "p-in-time")
    st.caption(
        "The mean error of all pixels at each time; lower is better. Where all lines rise, that time is hard to "
        "predict." if every else
        "The mean error of the times or pixels of each part; lower is better. Bands of altitude are of land where the "
        "share of land is a covariate, and have about equal areas."
    )  # fmt: skip


def _of_times(
    shown: Shown, verification: Verification, score: str, _by: str
) -> tuple[str, np.ndarray, dict[str, np.ndarray], dict[str, Any]]:
    """Name of the axis, days, score of each prediction at each time, and ticks."""
    series = shown.result.series
    across, ticks = time_axis(series)
    some = {name: each for name, each in verification.scores.items() if name not in _NOT_DRAWN}
    values = {name: each.crps if score == "crps" else np.sqrt(each.mse) for name, each in some.items()}
    return across, days_of(series.dates), values, ticks


def _of_parts(
    _shown: Shown, verification: Verification, score: str, by: str
) -> tuple[str, list[str], dict[str, np.ndarray], dict[str, Any]]:
    """Name of the axis, parts, and the score of each prediction in each part."""
    rows = [each for each in verification.parts if _PARTS[each.by] == by and each.prediction not in _NOT_DRAWN]
    values = {
        name: np.array([getattr(each, score) for each in rows if each.prediction == name])
        for name in dict.fromkeys(each.prediction for each in rows)
    }
    return by, list(dict.fromkeys(each.part for each in rows)), values, {}


def _position(verification: Verification) -> None:
    model, scores = next(iter(verification.scores.items()))
    if scores.pit is not None:
        plotly_live(pit_histogram(scores.pit.tolist(), model=model, height=320, dark=is_dark()), "p-pit")
    st.caption(
        "How often the truth fell into each twentieth of its predicted distribution: flat is right, a U means that "
        "intervals are too narrow, a hump that they are too wide."
    )


def _spread(shown: Shown, verification: Verification) -> None:
    names, model = names_of(verification.scores), next(iter(verification.scores))
    some = {name: each for name, each in verification.scores.items() if name not in _NOT_DRAWN}
    groups = {name: each.spread for name, each in some.items() if each.spread is not None}
    figure = spread_skill_plot(groups, units=plain(shown.result.series.problem.units), names=names, dark=is_dark())
    plotly_live(figure, "p-spread")
    st.caption(
        "Pixels and times in groups by their predicted sd: on the diagonal the error is as large as predicted, above "
        f"it larger (spread/skill of the {names[model]}: "
        f"{verification.scores[model].pooled['spread_skill']:.2f}, 1 is best)."
    )


@st.cache_data(show_spinner="Counting events …", max_entries=32)
def _events(choice: Choice, _shown: Shown, limit: float) -> dict[str, Event]:
    model = _shown.result.spec.model.name
    result = verified_result(_shown.result, model)
    some = {
        name: each for name, each in result.forecasts.items()
        if name not in _NOT_DRAWN and (each.sd is not None or name == CONSERVING)
    }  # fmt: skip
    return {name: each[0] for name, each in events(replace(result, forecasts=some), [limit]).items()}


def _event(choice: Choice, shown: Shown) -> float:
    """The reliability of an event; the threshold that was chosen."""
    limit = threshold(choice, shown, "p-event")
    events, model = _events(choice, shown, limit), shown.result.spec.model.name
    names = names_of(events)
    tables = {name: each.reliability for name, each in events.items() if name != CONSERVING}
    plotly_live(reliability_plot(tables, events[model].observed, names=names, dark=is_dark()), "p-reliability")
    brier = ", ".join(f"{names[name]} {each.skill:.2f}" for name, each in events.items() if each.skill is not None)
    st.caption(
        "Does an event with a predicted probability of 70 % occur in 70 % of the cases? On the diagonal it does; "
        f"larger dots are more frequent. Brier skill (1 is best, 0 is the mean frequency): {plain(brier) or 'none'}."
    )
    return limit


def _region(shown: Shown, verification: Verification) -> None:
    series, scores = shown.result.series, next(iter(verification.scores.values()))
    reference = DELTA if DELTA in verification.scores else BILINEAR
    titles = {
        "RMSE": "rmse", "bias": "bias", "coverage of 95 %": "coverage95", f"skill against {_short(reference)}": "skill",
    }  # fmt: skip
    chosen = widgets.segmented_control("By region", list(titles), default="RMSE", key="p-region") or "RMSE"
    name, units = titles[chosen], series.problem.units
    if name == "skill":
        values = 100 * (1 - scores.maps["crps"] / verification.scores[reference].maps["crps"])
        title, units = f"CRPS smaller than that of {MODEL_NAMES.get(reference, reference)}", "%"
    elif name == "coverage95":
        values, title, units = 100 * scores.maps[name], "Times inside the 95 % interval", "%"
    else:
        values, title = scores.maps[name], {"rmse": "RMSE", "bias": "Bias, prediction − truth"}[name]
    scale = _scale(name, values, title if units == "%" else f"{title}, {series.problem.long_name}", units)
    one_map(Panel("region", title, values, series.problem.grid, scale), "p-region")
    st.caption("Scores of each pixel over all times. The map is unreliable where its error is dark.")


def _short(reference: str) -> str:
    return "BCSD" if reference == DELTA else "bilinear"


def _scale(name: str, values: np.ndarray, words: str, units: str) -> MapScale:
    limit = short(float(np.nanpercentile(np.abs(values), 98))) or 1.0
    colours: Colours = "diverging" if name in ("bias", "skill") else "uncertainty" if name == "rmse" else "sequential"
    low, high = (-limit, limit) if colours == "diverging" else (0.0, limit) if name == "rmse" else (50.0, 100.0)
    return MapScale(words, units, colours, low, high)
