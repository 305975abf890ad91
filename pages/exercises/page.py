"""Page Exercises: tasks on the other pages, ticked when a page's own numbers fulfil them."""

from typing import TYPE_CHECKING

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.teaching.exercises import OPENED, Exercise
from deconditioning.teaching.tasks import EXERCISES
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import page_header, refusal
from pages.kit.pages import PAGES
from pages.kit.state import get_engine
from pages.kit.tools.exercises import open_link, opening_query
from pages.kit.tools.link import app_address

if TYPE_CHECKING:
    from deconditioning.teaching.handout import Checked


def main() -> None:
    """What is done, and every exercise with its door."""
    _open_asked()
    page_header("Exercises", "Can you make each page produce the required result?")
    done = get_engine().progress.done()
    count = sum(exercise.key in done for exercise in EXERCISES)
    st.markdown(
        f"**{count} of {len(EXERCISES)} done.** Each exercise opens a page with a task. The page gives the tick from "
        "the numbers it has just computed: no answer is stored, and every solution counts."
    )
    _handout()
    for index, exercise in enumerate(EXERCISES, 1):
        _entry(index, exercise, done.get(exercise.key))
    if done and st.button("Begin again", icon=":material/restart_alt:", type="tertiary", help="Remove all ticks"):
        _forget()


def _open_asked() -> None:
    """Go on to the exercise whose number a short link, such as that of the handout, asks for."""
    number = st.query_params.get(OPENED, "")
    if number in map(str, range(1, len(EXERCISES) + 1)):
        exercise = EXERCISES[int(number) - 1]
        page = next(page for page in PAGES if page.folder == exercise.page)
        st.switch_page(page.path, query_params=opening_query(exercise))


@st.cache_resource(show_spinner=False)
def _checked() -> "dict[str, Checked]":
    """What all checks say; the same for everybody."""
    from deconditioning.teaching.handout import checked

    return checked()


def _handout() -> None:
    address = app_address()

    def made() -> bytes:
        from deconditioning.teaching.handout import handout

        return handout(address, _checked())

    st.download_button(
        "Handout, PDF", made, "deconditioning-lesson.pdf", "application/pdf", key="handout", on_click="ignore",
        icon=":material/print:",
        help=(
            "The lesson, the exercises with room for answers, and a page of answers for the teacher: four A4 pages. "
            f"Its links and QR codes start with {plain(address)}, the address under which you opened this page."
        ),
    )  # fmt: skip


def _entry(number: int, exercise: Exercise, said: str | None) -> None:
    page = next(page for page in PAGES if page.folder == exercise.page)
    with st.container(border=True):
        st.markdown(f"**{number}. {exercise.title}**" + (" :green[✓ done]" if said is not None else ""))
        st.markdown(exercise.task)
        if said is not None:
            st.caption(plain(said))
        open_link(exercise, f"Open on page {page.title}", icon=page.icon)


def _forget() -> None:
    try:
        get_engine().progress.forget()
    except (InputError, OSError) as error:
        refusal(error)
        return
    st.rerun()


main()
