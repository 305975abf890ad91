"""Page Story: what deconditioning is, in ten steps; kernel Bayes, simulators and distributions in miniature."""

from pathlib import Path
from typing import Literal

import streamlit as st

from pages.kit.controls import widgets
from pages.kit.controls.program_values import apply_values, set_on_next_run
from pages.kit.layout.page_layout import page_header, refusals
from pages.story import guesses, maps
from pages.story.rendering import show
from pages.story.step import Step
from pages.story.stories import FIRST, MOST, STORIES, step_key

_HERE = Path(__file__).parent


def main() -> None:
    """The story that is chosen, at its step."""
    page_header("Story", "Guess first, then reveal the answer.")
    st.html(f"<style>{(_HERE / 'story.css').read_text(encoding='utf-8')}</style>")
    apply_values()
    guesses.keep_in_browser()
    with st.container(horizontal=True, horizontal_alignment="distribute", key="story-head"):
        about = widgets.segmented_control(
            "Story", list(STORIES), default=FIRST, key="about", label_visibility="collapsed", on_change=_to, args=(1,)
        ) or FIRST  # fmt: skip
        steps = STORIES[about]
        with st.container(key="story-step"):
            at = min(int(widgets.number_input("Step", 1, MOST, 1, key="step")), len(steps))
        _leaf(steps, at)
    with st.container(key="story-body"), refusals():
        if about == FIRST:
            maps.ahead(at)
        show(steps[at - 1], step_key(about, at), at, len(steps))
    with st.container(key="story-arrows"):
        st.caption("The arrow keys go to the next and the previous step.")


def _leaf(steps: tuple[Step, ...], at: int) -> None:
    """Back, a dot for every step, next."""
    with st.container(horizontal=True, gap="small", width="content", key="story-dots"):
        st.button(
            "Back", key="story-back", icon=":material/arrow_back:", disabled=at == 1, on_click=_to, args=(at - 1,)
        )
        for number, step in enumerate(steps, 1):
            name = f"Step {number}: {step.title}"
            shown: Literal["primary", "secondary"] = "primary" if number == at else "secondary"
            st.button(name, key=f"story-dot-{number}", type=shown, help=step.title, on_click=_to, args=(number,))
        last = at == len(steps)
        st.button(
            "Next", key="story-next", icon=":material/arrow_forward:", disabled=last, on_click=_to, args=(at + 1,)
        )


def _to(step: int) -> None:
    set_on_next_run({"step": step})


main()
