"""A value of the target to exceed, for events and for counts of times."""

import numpy as np
import streamlit as st

from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.period.result import Choice, Shown


def threshold(choice: Choice, shown: Shown, key: str) -> float:
    """A value of the target to exceed, at first one that a tenth of all values exceeds."""
    low, usual, high = _usual_values(choice, shown)
    step = float(f"{(high - low) / 100:.0e}") or 1.0
    low, usual, high = (round(value / step) * step for value in (low, usual, max(high, low + step)))
    units = shown.result.series.problem.units
    value = widgets.slider(f"Threshold ({plain(units)})" if units else "Threshold", low, high, usual, step, key=key)
    return float(f"{value:.6g}")  # without the digits that steps leave behind


@st.cache_data(show_spinner=False, max_entries=32)
def _usual_values(choice: Choice, _shown: Shown) -> tuple[float, float, float]:
    """The 1 %, 90 % and 99 % quantiles of all predicted values."""
    low, usual, high = (float(v) for v in np.nanpercentile(_shown.result.means, [1, 90, 99]))
    return low, usual, high
