"""Single values of stations and further sources that are hidden from the model: their control, and clicks on a map."""

from typing import Any

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.fields.footprints.hidden_values import value_at, values_of_text
from deconditioning.fields.problem.cells import cells_text
from deconditioning.fields.problem.problem import DownscalingProblem
from pages.kit.controls import widgets
from pages.kit.controls.address import LONGEST
from pages.kit.controls.program_values import requested_value
from pages.kit.session import Key

#: Key of the control.
KEY = "hide-values"
_ABOUT = (
    "Source-value, separated by dots, such as 1-12.2-5. Sources in addition to the cells count from 1 in their order, "
    "stations last; the mark of a value on the maps says its number."
)


def choose(sources: list[str]) -> list[list[int]]:
    """The values that the control hides, as a source has them; other ``sources`` (keys) begin without any."""
    before = st.session_state.get(Key.VALUE_SOURCES)
    if before is not None and before != sources:
        st.session_state[KEY] = ""
    st.session_state[Key.VALUE_SOURCES] = sources
    if not sources:
        return []
    text = widgets.text_input("Values of sources hidden by hand", key=KEY, help=_ABOUT)
    return [list(each) for each in values_of_text(text)]


def turned(problem: DownscalingProblem, x: float, y: float) -> dict[str, Any]:
    """What the control must hold for the value at a point to be the other way round; ``InputError`` if there is
    none."""
    hidden, value = {*values_of_text(requested_value(KEY, ""))}, value_at(problem, x, y)
    text = cells_text(sorted(hidden ^ {value}))
    if len(text) > LONGEST:
        raise InputError(
            "No more values can be hidden by hand because the address would become too long. Remove them from the file "
            "instead."
        )
    return {KEY: text}


def count(problem: DownscalingProblem) -> int:
    """How many values are hidden."""
    return sum(len(each.hidden.row) for each in problem.sources if each.hidden is not None)
