"""Page Exercises: tasks on the other pages, ticked when a page's own numbers fulfil them."""

import streamlit as st

from core.errors import InputError
from core.teaching.exercises import Exercise
from core.teaching.tasks import EXERCISES
from pages.kit.exercises import open_link
from pages.kit.layout import page_header, refusal
from pages.kit.pages import PAGES
from pages.kit.state import get_engine
from pages.kit.words import plain


def main() -> None:
    """What is done, and every exercise with its door."""
    page_header("Exercises", "Can you make the pages say what is asked?", device=False)
    done = get_engine().progress.done()
    count = sum(exercise.key in done for exercise in EXERCISES)
    st.markdown(
        f"**{count} of {len(EXERCISES)} done.** Each opens a page with a task. The tick comes from the numbers that "
        "the page has just computed: no answer is stored, and every way to it counts."
    )
    for index, exercise in enumerate(EXERCISES, 1):
        _entry(index, exercise, done.get(exercise.key))
    if done and st.button("Begin again", icon=":material/restart_alt:", type="tertiary", help="Take all ticks away"):
        _forget()


def _entry(number: int, exercise: Exercise, said: str | None) -> None:
    page = next(page for page in PAGES if page.folder == exercise.page)
    with st.container(border=True):
        st.markdown(f"**{number}. {exercise.title}**" + (" :green[✓ done]" if said is not None else ""))
        st.markdown(exercise.task)
        if said is not None:
            st.caption(plain(said))
        open_link(exercise, f"Open it on {page.title}", icon=page.icon)


def _forget() -> None:
    try:
        get_engine().progress.forget()
    except (InputError, OSError) as error:
        refusal(error)
        return
    st.rerun()


main()
