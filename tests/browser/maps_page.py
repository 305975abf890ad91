"""Maps of one group on the page of a test: even, uneven and falling coordinates, a rotated grid; and a curve."""

import numpy as np
import streamlit as st

from deconditioning.fields.grids.grid import Grid, make_grid
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import field_map
from deconditioning.figures.style import compact
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.layout.theme import is_dark

CURVE = {
    "data": [{"type": "scatter", "x": [0, 1, 2], "y": [1, 3, 2]}],
    "layout": {"height": 260, "margin": {"l": 30, "r": 8, "t": 8, "b": 30}, "meta": {"role": "chart"}},
}


def drawn(key: str, grid: Grid, title: str, units: str = "K") -> None:
    """A map of numbers of chance, one of them missing."""
    values = np.random.default_rng(len(key)).normal(size=grid.shape)
    if key == "even":
        values[3, 5] = np.nan
    panel = Panel(key, title, values, grid, MapScale("anomaly", units, "sequential", -2, 2))
    figure = field_map(panel, dark=is_dark(), height=340)
    if key == "down":
        figure["data"][0] |= {"y0": float(grid.y[-1]), "dy": -1.0}
        named = {"names": ["", "Wales"], "of": compact(np.arange(20).reshape(4, 5) == 8, "u2")}
        figure["layout"]["meta"]["regions"] = named
    with st.columns([1, 1])[0]:
        plotly_live(figure, key, group="all")


latlon = make_grid("latlon", np.arange(30.0), np.arange(40.0))
mapping = {"grid_north_pole_latitude": 37.5, "grid_north_pole_longitude": 177.5}
drawn("even", latlon, "Temperature in June")
drawn("uneven", make_grid("latlon", np.arange(4.0), np.array([0.0, 1, 3, 6, 10])), "Uneven", "m")
drawn("down", make_grid("latlon", np.arange(4.0), np.arange(5.0)), "Falling")
drawn("rotated", make_grid("rotated", np.linspace(-2, 2, 21), np.linspace(-3, 3, 31), mapping=mapping), "Rotated")
if st.checkbox("A curve too"):
    plotly_live(CURVE, "curve")
if st.checkbox("The curve instead"):
    plotly_live(CURVE, "either")
else:
    panel = Panel("either", "Either", latlon.latitude, latlon, MapScale("latitude", "°", "sequential", 0, 30))
    plotly_live(field_map(panel, height=260), "either")
