"""Play, pause, back and step through a followed series."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.kit.controls import widgets
from pages.kit.controls.play_words import BACK, NEXT, PAUSE, PLAY

#: Seconds between the pictures of a playing series.
BEAT = 0.35
#: The step on opening: in both systems the observation is far off here, and the filter comes much closer.
FIRST = 81


def player(last: int, draw: Callable[[int, DeltaGenerator], None], *, key: str = "f") -> None:
    """Buttons and a slider over steps 1 to ``last``; ``key`` begins their keys.

    ``draw`` gets the step's index, and the place above the buttons for the picture that is watched.
    """
    at, on = f"{key}-step", f"{key}-play"
    first = min(FIRST, last)
    if not 1 <= int(st.session_state.get(at, first)) <= last:
        # only when it must: a value written here overrides what is about to be sent
        st.session_state[at] = first
    playing = bool(st.session_state.get(on, False))

    @st.fragment(run_every=BEAT if playing else None)
    def show() -> None:
        if playing:
            st.session_state[at] = st.session_state.get(at, first) % last + 1
        above = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom", key=f"lab-player-{key}"):
            if st.button(PAUSE if playing else PLAY, key=f"{key}-play-button"):
                st.session_state[on] = not playing
                st.rerun(scope="app")
            for label, move in ((BACK, -1), (NEXT, 1)):
                if st.button(label, key=f"{key}-move{move}", disabled=playing):
                    st.session_state[at] = (st.session_state.get(at, first) - 1 + move) % last + 1
            step = int(widgets.slider("Step", 1, last, first, key=at, disabled=playing))
        if step == first == FIRST:
            st.caption("The page opens at this step because its observation lies far from the state.")
        draw(step - 1, above)

    show()
