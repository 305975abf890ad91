"""A Hovmöller diagram: the field against time and longitude or latitude."""

from functools import partial

import numpy as np
import streamlit as st

from deconditioning.fields.grids.place import latitude_words, longitude_words
from deconditioning.figures.studies.period import hovmoeller
from deconditioning.period.correlation import days_of
from deconditioning.period.series import Series
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.theme import is_dark
from pages.period.departures import Departure, current, fields_at
from pages.period.place import name_of, time_axis
from pages.period.result import Choice, Shown

_ALONG = {"longitude": 1, "latitude": 0}
#: Titles of one word: on a phone a panel is as wide as that.
_SHORT = {"coarse": "Coarse", "mean": "Mean", "truth": "Truth"}
_MEAN, _LINE = "average", "at the place"


def show(choice: Choice, shown: Shown, place: tuple[int, int]) -> None:
    """The two choices, the diagram and how it is read."""
    left, right = st.columns(2)
    with left:
        along = widgets.segmented_control("Time against", list(_ALONG), default="longitude", key="p-along")
    with right:
        line = widgets.segmented_control("Over the other coordinate", [_MEAN, _LINE], default=_MEAN, key="p-line")
    along = along or "longitude"
    series = shown.result.series
    at = place[1 - _ALONG[along]] if line == _LINE else None
    departure = current()
    panels = _sections(choice, shown, departure, _ALONG[along], at)
    scale = departure.scale(series.problem.long_name, series.problem.units, panels)
    grid = series.problem.grid
    across, native = (grid.x, grid.x_name) if along == "longitude" else (grid.y, grid.y_name)
    down, ticks = time_axis(series)
    spelt = {"longitude": longitude_words, "latitude": latitude_words}[along]
    words = partial(spelt, digits=None) if grid.kind == "latlon" else None
    labels = (along if words else native, down)
    named = {_SHORT[name]: values for name, values in panels.items()}
    figure = hovmoeller(named, across, days_of(series.dates), scale, labels=labels, ticks=ticks, words=words,
                        dark=is_dark())  # fmt: skip
    plotly_live(figure, "p-hovmoeller")
    where = f"on the line through {name_of(series, place)}" if line == _LINE else "averaged over the other coordinate"
    st.caption(
        f"Each row is one time, {where}. Stationary features are vertical, moving ones are slanted; the daily or "
        "annual cycle shows as horizontal bands."
    )


@st.cache_data(show_spinner=False, max_entries=16)
def _sections(choice: Choice, _shown: Shown, departure: Departure, axis: int, at: int | None) -> dict[str, np.ndarray]:
    """(T, n) coarse values, mean and truth along an axis of the grid, at one place of the other or averaged over it."""
    series = _shown.result.series
    fields = departure.of(_shown, fields_at(_shown, range(len(series))), range(len(series)))
    return {name: _section(series, values, axis, at) for name, values in fields.items()}


def _section(series: Series, fields: np.ndarray, axis: int, at: int | None) -> np.ndarray:
    across = 2 - axis
    if at is not None:
        return np.take(fields, at, axis=across)
    weight = np.where(np.isfinite(fields), series.problem.grid.area, 0.0)
    mass = weight.sum(across)
    total = np.where(weight > 0, fields * weight, 0.0).sum(across)
    return np.divide(total, mass, where=mass > 0, out=np.full(mass.shape, np.nan))
