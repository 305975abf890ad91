"""Points of both scatters of the one-dimensional problem changed by hand: what the address holds of them, and what the
page says about it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.datasets.edited import LONGEST, MOST_EDITS, Edits
from deconditioning.datasets.one_dimension import LineSpec
from deconditioning.errors import InputError
from pages.kit.chart.points import Points
from pages.kit.controls import widgets
from pages.kit.controls.program_values import apply_values, set_on_next_run
from pages.kit.layout.escaping import sentence_of

HINT = (
    "Drag a point to move it; click or tap elsewhere to add one; double-click or hold a point to delete it. On the "
    "keyboard, inside a picture: the arrow keys select a point, Shift and arrow keys move it, Enter adds one, Delete "
    "removes it."
)


@dataclass(frozen=True)
class EditedPoints:
    """Both scatters as a page shows them.

    Parameters
    ----------
    held : scatter, "first" or "second" → key of the control that holds its edits, and its name.
    undo : key of the button that takes all edits back.
    upright : the mediator goes up in the pictures, not across.
    """

    held: Mapping[str, tuple[str, str]]
    undo: str
    upright: bool = False

    def edited(self, spec: LineSpec, place: Any = st) -> LineSpec:
        """The problem with the edits of the address; ``place`` says how many there are and takes them back."""
        result = {}
        with st.container(key="lab-edits"):
            for scatter, count in (("first", spec.n), ("second", spec.m)):
                result[scatter] = self._edits(scatter, count, place)
        if any(map(len, result.values())):
            words = (f"{self.held[name][1]}: {edits.words}" for name, edits in result.items() if len(edits))
            place.markdown(f"By hand, {'; '.join(words)}.", width="content")
        if any(st.session_state.get(key) for key, _ in self.held.values()):
            none = {key: "" for key, _ in self.held.values()}
            place.button("Points as generated", key=self.undo, icon=":material/undo:", on_click=_set_controls,
                         args=(none,), help="Undo every edit of a point")  # fmt: skip
        return replace(spec, first_edits=result["first"].text, second_edits=result["second"].text)

    def _edits(self, scatter: str, count: int, place: Any) -> Edits:
        """The edits of one scatter that can be done; a sentence on those that cannot."""
        key, name = self.held[scatter]
        label = f"Points of {name} by hand"
        text = widgets.text_input(
            label, key=key, max_chars=LONGEST, in_picture=True, reads=lambda text: read(text)[0].words
        )
        edits, refused = read(text)
        if refused:
            place.warning(f"The edits of {name} are ignored. {sentence_of(refused)}")
        there = edits.possible(count)
        if there != edits.within(count):
            place.warning(f"The edits of {name} would delete every pair, so no pair is deleted.")
        elif waiting := edits.beyond(count):
            letter = "n" if scatter == "first" else "m"
            place.caption(
                f"Edits of {name} beyond {letter} = {count}: {waiting.words}. They reappear when {letter} is larger.",
                width="content",
            )
        return there

    def editable(
        self, scatter: str, spec: LineSpec, pairs: tuple[np.ndarray, np.ndarray], labels: tuple[str, str]
    ) -> Points:
        """One scatter for `plotly_live`: the generated pairs, across and up, and the edits of them."""
        key = self.held[scatter][0]
        waiting = read(st.session_state.get(key, ""))[0].beyond(len(pairs[0]))
        edits = spec.edits[0 if scatter == "first" else 1]

        def put(changed: Edits) -> None:
            _set_controls({key: ((changed.flipped if self.upright else changed) | waiting).text})

        return Points(*pairs, edits.flipped if self.upright else edits, labels, MOST_EDITS - len(waiting), put)


def read(text: str) -> tuple[Edits, InputError | None]:
    """The edits of a text, or none and why not."""
    try:
        return Edits.from_text(text), None
    except InputError as error:
        return Edits(), error


def _set_controls(values: Mapping[str, Any]) -> None:
    """Set controls of a fragment now, and again if the browser sends what they held before."""
    set_on_next_run(values)
    apply_values()
