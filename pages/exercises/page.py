"""Page Exercises: tasks on the other pages, ticked when a page's own numbers fulfil them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import streamlit as st

from deconditioning.engine.visitors.exercise_progress import LONGEST_SAID, Done
from deconditioning.errors import InputError
from deconditioning.teaching.exercises import OPENED, Exercise
from deconditioning.teaching.hand_in import hand_in
from deconditioning.teaching.tasks import EXERCISES
from pages.kit.layout.drawings.words import beside_drawing
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import page_header, refusal
from pages.kit.pages import page_in
from pages.kit.session import Key
from pages.kit.state import forget, get_engine
from pages.kit.tools.exercises import open_link, opening_query
from pages.kit.tools.link import app_address
from pages.kit.visitor import sees_everything
from pages.story import guesses

if TYPE_CHECKING:
    from deconditioning.teaching.handout import Checked

#: Exercises beside each other.
_A_ROW = 2
#: What the exercises from the so many-th on (from 0) are about.
_PARTS = {0: "Averages and embeddings", 6: "Bayes' rule, simulators, filters, distributions", 10: "Maps"}
#: Exercise → the word whose drawing stands beside it.
_DRAWINGS = {
    "band": "coverage", "evidence": "lengthscale", "trip": "area-to-point", "points": "inducing point",
    "slices": "Swiss roll", "one": "bag", "rule": "kernel Bayes' rule", "runs": "ABC", "examples": "filter",
    "people": "distribution regression", "doubt": "calibration", "noise": "conditional mean embedding",
}  # fmt: skip


def main() -> None:
    """What is done, and every exercise with its door."""
    _open_requested()
    page_header("Exercises", "Can you make each page produce the required result?")
    done = get_engine().progress.done()
    count = sum(exercise.key in done for exercise in EXERCISES)
    st.markdown(
        f"**{count} of {len(EXERCISES)} done.** Each exercise opens a page with a task. You get the tick as soon as "
        "the numbers on that page fulfil the task, however you got there."
    )
    with st.container(horizontal=True, vertical_alignment="center"):
        hides = st.toggle(
            "Hide answers", key="x-hide", bind="query-params",
            help="For a projector: results and answers, which each exercise shows once it is done, stay hidden here, "
            "and the handout has no page of answers.",
        )  # fmt: skip
        _handout(answers=not hides and sees_everything())
        if done:
            _hand_in(done)
        _reset(bool(done))
    for first in range(0, len(EXERCISES), _A_ROW):
        row = EXERCISES[first : first + _A_ROW]
        if first in _PARTS:
            st.subheader(_PARTS[first], anchor=False)
        for index, (exercise, column) in enumerate(zip(row, st.columns(_A_ROW), strict=False), first + 1):
            with column:
                _entry(index, exercise, done.get(exercise.key), hides=hides)


def _open_requested() -> None:
    """Go on to the exercise whose number a short link, such as that of the handout, asks for."""
    number = st.query_params.get(OPENED, "")
    if number in map(str, range(1, len(EXERCISES) + 1)):
        exercise = EXERCISES[int(number) - 1]
        page = page_in(exercise.page)
        st.switch_page(page.path, query_params=opening_query(exercise))


@st.cache_resource(show_spinner=False)
def _checked() -> "dict[str, Checked]":
    """What all checks say; the same for everybody."""
    from deconditioning.teaching.handout import checked

    return checked()


def _handout(*, answers: bool) -> None:
    """The printed lesson; on a shared server the answers are the administrator's alone."""
    address = app_address()

    def made() -> bytes:
        from deconditioning.teaching.handout import handout

        return handout(address, _checked() if answers else None)

    st.download_button(
        "Handout, PDF", made, "deconditioning-lesson.pdf", "application/pdf", key="handout", on_click="ignore",
        icon=":material/print:",
        help=(
            "The lesson and the exercises with room for answers: three A4 pages"
            f"{', and a page of answers for the teacher' if answers else ', without answers'}. "
            f"Its links and QR codes start with {plain(address)}, the address under which you opened this page."
        ),
    )  # fmt: skip


def _hand_in(done: Mapping[str, Done]) -> None:
    """A text file with results, settings and answers, for the teacher."""
    with st.popover("Hand in", icon=":material/assignment_turned_in:"):
        name = st.text_input("Your name", key="x-name", max_chars=80)
        app, when = app_address(), datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
        st.download_button(
            "Download the file to hand in", hand_in(name, when, app, EXERCISES, done), "exercises.txt", "text/plain",
            key="hand-in", on_click="ignore", icon=":material/download:",
            help="Each exercise with its result, the settings, an address that opens them, and your answer.",
        )  # fmt: skip


def _reset(any_done: bool) -> None:
    """Everything that a class leaves behind in this browser goes, after a second click."""
    with st.popover("Reset for the next class", icon=":material/restart_alt:", type="tertiary"):
        st.markdown("Removes this browser's ticks and answers, and the guesses of the story.")
        if st.button("Remove them", key="x-reset", type="primary", disabled=not (any_done or guesses.guesses())):
            _forget()
    guesses.keep_in_browser()


def _entry(number: int, exercise: Exercise, done: Done | None, *, hides: bool) -> None:
    page = page_in(exercise.page)
    with st.container(border=True, height="stretch"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{number}. {exercise.title}**", width="content")
            st.caption(exercise.effort, width="content")
            if done is not None:
                st.badge("done", icon=":material/check:", color="green")
        with beside_drawing(_DRAWINGS[exercise.key]):
            st.markdown(exercise.task)
        if done is not None and not hides:
            st.caption(plain(done.said))
            key = f"x-answer-{exercise.key}"
            st.text_input("What does it show?", done.answer, key=key, max_chars=LONGEST_SAID,
                          on_change=_answer, args=(exercise.key, key))  # fmt: skip
        open_link(exercise, f"Open on page {page.title}", icon=page.icon)


def _answer(exercise: str, key: str) -> None:
    try:
        get_engine().progress.answer(exercise, st.session_state.get(key, ""))
    except InputError as error:
        refusal(error)


def _forget() -> None:
    try:
        get_engine().progress.forget()
    except (InputError, OSError) as error:
        refusal(error)
        return
    guesses.take_all_back()
    forget(*(f"x-answer-{exercise.key}" for exercise in EXERCISES), "x-name", Key.EXERCISES_MOVED,
           Key.EXERCISES_OPENED)  # fmt: skip
    st.rerun()


main()
