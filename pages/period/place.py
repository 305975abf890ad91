"""The series at one place: mean with its band, the coarse value, the truth."""

from typing import Any

import numpy as np
import streamlit as st
from scipy.stats import binom

from deconditioning.fields.grids.place import latitude_words, longitude_words, place_words
from deconditioning.figures.colours import hue
from deconditioning.figures.places import cities_on
from deconditioning.figures.studies.one_dimension import function_plot, line
from deconditioning.figures.studies.period import date_ticks
from deconditioning.metrics.intervals import width_verdict
from deconditioning.period.correlation import days_of
from deconditioning.period.series import Series
from deconditioning.wording import number
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.kit.state import show_as
from pages.period.result import Shown

#: The name of the cell around a place in its chart.
_COARSE = "coarse value"
#: Share of the squared error above which what it is made of is the reason for a band that is too narrow.
_LASTS = 0.25
#: Probability under a right band above which a share is no reason to call it too wide or too narrow.
_CHANCE = 0.05


def choose(series: Series) -> tuple[int, int]:
    """Two sliders for the row and the column, at first at a city of the map; a click on a map moves them."""
    grid = series.problem.grid
    (rows, columns), (row, column) = grid.shape, _usual(series)
    south, west = "Place: pixel from the south", "Place: pixel from the west"
    if grid.kind == "latlon":
        south, west = "Place: latitude", "Place: longitude"
        show_as("p-row", {str(index): latitude_words(float(at), None) for index, at in enumerate(grid.y)})
        show_as("p-column", {str(index): longitude_words(float(at), None) for index, at in enumerate(grid.x)})
    left, right = st.columns(2)
    with left:
        row = int(widgets.slider(south, 0, rows - 1, row, key="p-row"))
    with right:
        column = int(widgets.slider(west, 0, columns - 1, column, key="p-column"))
    return min(row, rows - 1), min(column, columns - 1)


def _usual(series: Series) -> tuple[int, int]:
    """The pixel of the first city on the map, else that in its middle."""
    grid = series.problem.grid
    for _, x, y in cities_on(grid):
        return int(np.abs(grid.y - y).argmin()), int(np.abs(grid.x - x).argmin())
    return grid.shape[0] // 2, grid.shape[1] // 2


def name_of(series: Series, place: tuple[int, int]) -> str:
    """Latitude and longitude of a pixel in words."""
    grid = series.problem.grid
    return place_words(float(grid.latitude[place]), float(grid.longitude[place]))


def time_axis(series: Series) -> tuple[str, dict[str, Any]]:
    """Title and ticks of an axis of time: its dates, or else days are counted."""
    ticks = date_ticks(series.dates, days_of(series.dates))
    return "time (UTC)" if ticks else f"days since {series.labels[0]}", ticks


def show(shown: Shown, place: tuple[int, int]) -> None:
    """The chart."""
    result, series = shown.result, shown.result.series
    mean = result.means[:, *place]
    if not np.isfinite(mean).all():
        st.info("There is no prediction at this place: a covariate or the archive lacks a value. Choose another.")
        return
    every = [result.predictive(time)[place] for time in range(len(series))]
    sd = np.array([each.sd for each in every])
    low, high, name = mean - 2 * sd, mean + 2 * sd, "mean ± 2 sd"
    if result.behind:
        name = "mean, 95 % interval"
        low, high = (np.array([float(each.quantile(level)) for each in every]) for level in (0.025, 0.975))
    cell, lines = int(series.problem.cell[place]), {}
    if cell >= 0:
        lines["coarse"] = series.coarse[:, cell]
    if series.fine is not None:
        lines["truth"] = np.array([series.fine(time)[place] for time in range(len(series))])
    across, ticks = time_axis(series)
    quantity = ", ".join(filter(None, (series.problem.long_name, series.problem.units)))
    figure = function_plot(
        days_of(series.dates), mean, sd, lines, title=f"Time series at {name_of(series, place)}",
        model=result.spec.model.name, band=(low, high), name=name, labels=(across, quantity),
        names={"coarse": _COARSE, "truth": "truth"}, height=300, dark=is_dark(),
    )  # fmt: skip
    figure["layout"]["xaxis"] |= ticks
    _in_steps(figure)
    figure["data"][1:1] = _thin_lines(shown, place)
    plotly_live(figure, "p-place")
    if shown.members:
        st.caption(
            f"Thin lines: the means of the {len(shown.members)} members. Mean and band, like the maps, are those of a "
            f"further member. The coarse value is the mean over the members."
        )
    if "truth" in lines:
        inside = float(np.mean((low <= lines["truth"]) & (lines["truth"] <= high)))
        verdict = _verdict(inside, lines["truth"], mean, series.problem.units)
        st.caption(
            f"The ring on the maps marks this place. The band contains the truth at {100 * inside:.0f} % of the "
            f"times{_over_all(shown)}{verdict}. The coarse value is the mean of the cell around it."
        )


def _in_steps(figure: dict[str, Any]) -> None:
    """Draw the coarse value in grey steps, apart from the mean that follows it."""
    for trace in figure["data"]:
        if trace.get("name") == _COARSE:
            trace["line"] |= {"color": hue("grey", is_dark()), "shape": "hvh"}


def _verdict(inside: float, truth: np.ndarray, mean: np.ndarray, units: str) -> str:
    """What follows for the band at a place, and why, if ``truth`` and ``mean`` (T,) show it; nothing where a right band
    would be as far from 95 % at one in twenty of such places, if errors were independent.
    """
    verdict, times = width_verdict(inside), len(truth)
    held = round(inside * times)
    chance = binom.cdf(held, times, 0.95) if verdict.endswith("narrow") else binom.sf(held - 1, times, 0.95)
    if verdict == "about right" or chance > _CHANCE:
        return ""
    why = _why(truth, mean, units) if verdict.endswith("narrow") else ""
    return f". So it is {verdict} here{why}"


def _why(truth: np.ndarray, mean: np.ndarray, units: str) -> str:
    """The part of the errors that is the same at all times, or that goes with the mean, if it is large."""
    error, bias = truth - mean, float((truth - mean).mean())
    if bias**2 > _LASTS * float((error**2).mean()):
        warm = ("colder", "warmer") if units in ("K", "degC") else ("lower", "higher")
        side = warm[bias > 0]
        return f", because the error lasts: on average the truth is {number(abs(bias), 2)} {plain(units)} {side}"
    spreads = float(truth.std()), float(mean.std())
    if min(spreads) > 0 and error.std() > 0 and np.corrcoef(error, mean)[0, 1] ** 2 > _LASTS:
        little = "little" if np.corrcoef(error, mean)[0, 1] > 0 else "much"
        truth_sd, mean_sd = (f"{number(each, 2)} {plain(units)}" for each in spreads)
        return (
            f": the mean varies too {little} in time (its sd over time is {mean_sd}, that of the truth {truth_sd}), "
            "and the band does not cover that"
        )
    return ""


def _over_all(shown: Shown) -> str:
    """How often the bands of all pixels contain the truth, behind how often those of one do."""
    if shown.verification is None:
        return ""
    pooled = next(iter(shown.verification.scores.values())).pooled
    return f" here; those of all pixels do at {100 * pooled['coverage95']:.0f} %"


def _thin_lines(shown: Shown, place: tuple[int, int]) -> list[dict[str, Any]]:
    """The mean of each member of an ensemble, named once."""
    at, colour = days_of(shown.result.series.dates), hue("grey", is_dark())
    lines = [line(at, each.means[:, *place], "members", colour, "solid", 0.8) for each in shown.members]
    return [each | {"showlegend": not n, "legendgroup": "members"} for n, each in enumerate(lines)]
