"""A page of two pictures in space, for test_space.py: five points far from each other, values 0 to 4."""

import numpy as np
import streamlit as st

from deconditioning.figures.studies.swiss_roll import roll_in_space
from pages.kit.chart.plotly_live import plotly_live

POINTS = np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 1.0], [0.0, 2.0, 0.5], [4.0, 2.0, 0.0], [1.0, 1.0, 1.0]])
VALUES = np.arange(5.0)

if __name__ == "__main__":
    st.set_page_config(layout="wide")
    for key, values in (("one", VALUES), ("other", VALUES[::-1])):
        figure = roll_in_space(
            POINTS, values, title=f"Points, {key}", label="Value", colours="sequential", limits=(0.0, 4.0)
        )
        plotly_live(figure, key)
