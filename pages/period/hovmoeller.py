"""A Hovmöller diagram: the field against time and longitude or latitude."""

import numpy as np
import streamlit as st

from deconditioning.figures.colours import Colours
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.studies.period import hovmoeller
from deconditioning.period.correlation import days_of
from deconditioning.period.series import Series
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.period.controls import Choice, Shown
from pages.period.maps import field_limits
from pages.period.place import name_of, time_axis

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
    difference = bool(st.session_state.get("p-difference", False))
    at = place[1 - _ALONG[along]] if line == _LINE else None
    panels = _sections(choice, shown, _ALONG[along], at)
    if difference:
        panels = {name: values - np.nanmean(values, axis=0) for name, values in panels.items()}
    colours: Colours = "diverging" if difference else "sequential"
    scale = MapScale("", series.problem.units, colours, *field_limits(panels, difference))
    grid = series.problem.grid
    across, native = (grid.x, grid.x_name) if along == "longitude" else (grid.y, grid.y_name)
    down, ticks = time_axis(series)
    labels = (f"{along} (°)" if grid.kind == "latlon" else native, down)
    named = {_SHORT[name]: values for name, values in panels.items()}
    figure = hovmoeller(named, across, days_of(series.dates), scale, labels=labels, ticks=ticks, dark=is_dark())
    plotly_live(figure, "p-hovmoeller")
    where = f"on the line through {name_of(series, place)}" if line == _LINE else "averaged over the other coordinate"
    st.caption(
        f"Each row is one time, {where}. Stationary features are vertical, moving ones are slanted; the daily or "
        f"annual cycle shows as horizontal bands. Units: {plain(series.problem.units)}."
    )


@st.cache_data(show_spinner=False, max_entries=16)
def _sections(choice: Choice, _shown: Shown, axis: int, at: int | None) -> dict[str, np.ndarray]:
    """(T, n) coarse values, mean and truth along an axis of the grid, at one place of the other or averaged over it."""
    result, series = _shown.result, _shown.result.series
    cells = series.problem.cell
    rows: dict[str, list[np.ndarray]] = {"coarse": [], "mean": [], "truth": []}
    for time in range(len(series)):
        coarse = np.where(cells >= 0, series.coarse[time][cells], np.nan)
        fields = {"coarse": coarse, "mean": result.means[time]}
        if series.fine is not None:
            fields["truth"] = series.fine(time)
        for name, field in fields.items():
            rows[name].append(_section(series, field, axis, at))
    return {name: np.stack(values) for name, values in rows.items() if values}


def _section(series: Series, field: np.ndarray, axis: int, at: int | None) -> np.ndarray:
    if at is not None:
        return np.take(field, at, axis=1 - axis)
    weight = np.where(np.isfinite(field), series.problem.grid.area, 0.0)
    mass = weight.sum(1 - axis)
    total = np.where(weight > 0, field * weight, 0.0).sum(1 - axis)
    return np.divide(total, mass, where=mass > 0, out=np.full(mass.shape, np.nan))
