"""The least that such a page can be, one slider and one line: what Streamlit and the browser take by themselves.

`bench_latency` serves it from a folder of its own.
"""

import numpy as np
import streamlit as st

from deconditioning.figures.style import axis, layout
from pages.kit.chart.plotly_live import plotly_live

frequency = st.sidebar.slider("Frequency", 1.0, 9.0, 5.0, 0.1)
x = np.linspace(0, 1, 300)
picture = layout("Sine", height=330) | {"xaxis": axis("x", False), "yaxis": axis("y", False)}
line = {"type": "scatter", "x": x.tolist(), "y": np.sin(frequency * x).tolist()}
plotly_live({"data": [line], "layout": picture}, "bare")
