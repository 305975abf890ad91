"""Points of a scatter that a person moves, adds and deletes in the picture (points.js), for `plotly_live`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from deconditioning.datasets.edited import REACH, Edits
from deconditioning.errors import InputError
from deconditioning.figures.style import compact
from pages.kit.session import Key


@dataclass(frozen=True)
class Points:
    """A scatter that can be edited.

    Parameters
    ----------
    across, up : the pairs (n,) as generated; the edits count them from 1.
    edits : what is changed of them now.
    labels : of both axes, for the sentence that says which point is chosen.
    most : edits that it may hold.
    on_edits : called with all edits once a person has changed some, before the script or fragment runs again.
    """

    across: np.ndarray
    up: np.ndarray
    edits: Edits
    labels: tuple[str, str]
    most: int
    on_edits: Callable[[Edits], None]

    def sent(self, key: str) -> dict[str, Any]:
        """What the browser needs; ``answer`` names the last message of it that was taken."""
        return {
            "across": compact(self.across, "f8"),
            "up": compact(self.up, "f8"),
            "edits": self.edits.text,
            "labels": list(self.labels),
            "most": self.most,
            "reach": REACH,
            "answer": st.session_state.get(Key.POINTS.of(key), 0),
        }

    def hear(self, key: str) -> None:
        """Take what the browser of the chart ``key`` has sent: a text of edits and the number of the message.

        What cannot be done is left out without a word: the picture goes back to the edits that hold, and no picture
        of this app sends such.
        """
        message = st.session_state.get(key, {}).get("edits")
        if not isinstance(message, dict) or not isinstance(message.get("number"), int):
            return
        st.session_state[Key.POINTS.of(key)] = message["number"]
        try:
            edits = Edits.from_text(str(message.get("text")))
            edits.check(len(self.across), "edits")
            self.on_edits(edits)
        except InputError:
            return
