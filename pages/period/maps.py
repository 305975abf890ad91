"""Coarse values, mean, sd and truth in step, played in the browser."""

import numpy as np
import streamlit as st

from deconditioning.fields.problem.baselines import constant
from deconditioning.figures.colours import Colours
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.maps import stretch_of
from deconditioning.figures.studies.period import maps_in_step
from deconditioning.period.series import Series
from pages.kit.chart.flip_book import flip
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.period.controls import Shown

#: Bytes of a book that go to the browser at most, as values; longer series skip times.
_MOST_VALUES = 4_000_000


def show(shown: Shown) -> None:
    """The books: fields on one scale, and the sd on its own."""
    series = shown.result.series
    step = max(1, -(-3 * len(series) * series.problem.grid.area.size // _MOST_VALUES))
    times = list(range(0, len(series), step))
    difference = widgets.toggle(
        "Difference from the mean of the period", value=False, key="p-difference",
        help="Each map less its own mean over the period: what moves is seen better than where it is warm.",
    )  # fmt: skip
    frames = {"coarse": _coarse(series, times), "mean": shown.result.means[times]}
    if series.fine is not None:
        frames["truth"] = np.stack([series.fine(time) for time in times])
    if difference:
        frames = {name: values - np.nanmean(values, axis=0) for name, values in frames.items()}
    sd = np.stack([shown.result.sd(time) for time in times])
    names = tuple(series.labels[time] for time in times)
    if step > 1:
        st.caption(f"Every {step}th of {len(series)} times is shown.")
    every = np.concatenate([values.ravel() for values in frames.values()])
    low, high = (float(v) for v in np.nanpercentile(every, [1, 99]))
    colours: Colours = "diverging" if difference else "sequential"
    low, high = (-max(-low, high), max(-low, high)) if difference else (low, high)
    scale = MapScale("", series.problem.units, colours, low, high)
    order = ", ".join(frames)
    with st.container(key="lab-period-maps"):
        left, right = st.columns([len(frames), 1])
    with left:
        st.html(f'<p class="lab-map-title">{order.capitalize()}, in step</p>')
        _book(series, frames, scale, "p-book", names, f"{order}, side by side, one time after another", len(frames))
    with right:
        st.html('<p class="lab-map-title">Standard deviation</p>')
        wide = MapScale("", series.problem.units, "uncertainty", 0.0, float(np.nanpercentile(sd, 99)))
        _book(
            series, {"sd": sd}, wide, "p-sd", names, "the standard deviation of each pixel, one time after another", 1
        )
    st.caption(
        f"The space bar plays and pauses, the arrow keys step. Units are {plain(series.problem.units) or 'as given'}; "
        "grey is missing."
    )


def _book(
    series: Series, frames: dict[str, np.ndarray], scale: MapScale, key: str, names: tuple[str, ...], alt: str,
    columns: int,
) -> None:  # fmt: skip
    rows, across = series.problem.grid.shape
    aspect = rows / across * _shape(series)
    flip(maps_in_step(frames, scale, aspect, columns), key, names=names, alt=alt)


def _shape(series: Series) -> float:
    """Height over width of a pixel on the map."""
    grid = series.problem.grid
    steps = [float(abs(np.median(np.diff(axis)))) for axis in (grid.y, grid.x)]
    return steps[0] / steps[1] * stretch_of(grid)


def _coarse(series: Series, times: list[int]) -> np.ndarray:
    """(t, H, W) the coarse value of every pixel's own cell."""
    return np.stack([constant(series.at(time)) for time in times])
