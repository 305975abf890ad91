"""The series at one place: mean with its band, the coarse value, the truth."""

import numpy as np
import streamlit as st

from deconditioning.fields.grids.place import place_words
from deconditioning.figures.studies.one_dimension import function_plot
from deconditioning.period.correlation import days_of
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark
from pages.period.controls import Shown


def show(shown: Shown) -> None:
    """Two sliders for the place, and the chart."""
    result, series = shown.result, shown.result.series
    rows, columns = series.problem.grid.shape
    st.subheader("At one place", anchor=False)
    left, right = st.columns(2)
    with left:
        row = int(widgets.slider("Row, from the south", 0, rows - 1, rows // 2, key="p-row"))
    with right:
        column = int(widgets.slider("Column, from the west", 0, columns - 1, columns // 2, key="p-column"))
    mean = result.means[:, row, column]
    if not np.isfinite(mean).all():
        st.info("There is no prediction at this place: a covariate or the archive lacks a value. Move a slider.")
        return
    sd = np.array([result.sd(time)[row, column] for time in range(len(series))])
    cell, lines = int(series.problem.cell[row, column]), {}
    if cell >= 0:
        lines["coarse"] = series.coarse[:, cell]
    if series.fine is not None:
        lines["truth"] = np.array([series.fine(time)[row, column] for time in range(len(series))])
    latitude, longitude = (float(getattr(series.problem.grid, name)[row, column]) for name in ("latitude", "longitude"))
    across, up = f"days since {series.labels[0]}", series.problem.units
    figure = function_plot(
        days_of(series.dates), mean, sd, lines, title=f"At {place_words(latitude, longitude)}",
        model=result.spec.model.name, name="mean ± 2 sd", labels=(across, up),
        names={"coarse": "coarse value", "truth": "truth"}, dark=is_dark(),
    )  # fmt: skip
    plotly_live(figure, "p-place")
    if "truth" in lines:
        inside = float(np.mean(np.abs(lines["truth"] - mean) <= 2 * sd))
        st.caption(
            f"The band contains the truth at {100 * inside:.0f} % of the times. Units: {plain(series.problem.units)}."
        )
