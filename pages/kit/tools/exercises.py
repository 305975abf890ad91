"""The exercise that an address asks for: its task above the page, a tick when the page's numbers fulfil it."""

from datetime import UTC, datetime
from html import escape
from urllib.parse import urlencode

import streamlit as st

from deconditioning.engine.visitors.exercise_progress import Done
from deconditioning.errors import InputError
from deconditioning.teaching.exercises import ASKED, Exercise, in_address
from deconditioning.teaching.tasks import EXERCISES, exercise_of
from pages.kit.controls.essential import name_of
from pages.kit.layout.escaping import sentence_of, unformatted
from pages.kit.pages import page_in, page_link
from pages.kit.record import page_record
from pages.kit.session import Key
from pages.kit.state import get_engine
from pages.kit.tools.history import State, is_shown

#: In the session: the settings at which exercises were opened, and those of them where a control was moved then.


def _requested() -> Exercise | None:
    """The exercise in the address, where it belongs to the page that is shown."""
    exercise = exercise_of(st.query_params.get(ASKED, ""))
    return exercise if exercise is not None and _address(exercise) == page_record().page else None


def show() -> None:
    """Its task, what the page's numbers say of it, the next one; nothing where the address asks for none."""
    exercise = _requested()
    if exercise is None:
        return
    _has_moved(exercise)
    with st.container(border=True, key="lab-task"):
        st.markdown(
            f"**Exercise {EXERCISES.index(exercise) + 1} of {len(EXERCISES)}: {exercise.title}.** {exercise.task} "
            f"({exercise.effort})"
        )
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            _verdict(exercise)
            if st.toggle("Hint", False, key=f"lab-hint-{exercise.key}"):
                st.markdown(exercise.hint, width="content")
            st.button("Leave the exercise", key="lab-leave", type="tertiary", on_click=_leave)
            page_link("exercises", "All exercises", icon=":material/checklist:")


def open_link(exercise: Exercise, label: str, icon: str | None = None) -> None:
    """A link to the exercise's page, at the settings that it opens with."""
    page_link(exercise.page, label, query=opening_query(exercise), icon=icon)


def opening_query(exercise: Exercise) -> dict[str, str]:
    """What the address of its page says so that it opens."""
    return dict(exercise.opening) | in_address(exercise.key)


def _verdict(exercise: Exercise) -> None:
    """The sentence with the page's numbers and the tick, which is kept."""
    result = exercise.verdict(page_record().all_numbers())
    if result is None:
        state, mark, words = "open", "…", "The page is still computing the result."
    elif result.done and _earned(exercise):
        state, mark, words = "good", "✓", f"Done. {result.sentence}"
        _keep(exercise, result.sentence)
    elif result.done:
        state, mark, words = (
            "open",
            "○",
            f"Not yet. {result.sentence} These settings came from the address: move a control yourself.",
        )
    else:
        state, mark, words = "open", "○", f"Not yet. {result.sentence}"
    st.html(
        f'<p class="lab-verdict" role="status" data-state="{state}"><b>{mark}</b> {escape(words)}</p>', width="content"
    )


def _earned(exercise: Exercise) -> bool:
    """Whether a control has been moved since the exercise was opened, or the tick was there before."""
    return _has_moved(exercise) or exercise.key in get_engine().progress.done()


def _has_moved(exercise: Exercise) -> bool:
    """Whether the page stands, or stood, elsewhere than where this session opened the exercise."""
    opened: dict[str, State] = st.session_state.setdefault(Key.EXERCISES_OPENED, {})
    moved: set[str] = st.session_state.setdefault(Key.EXERCISES_MOVED, set())
    if not is_shown(opened.setdefault(exercise.key, page_record().words())):
        moved.add(exercise.key)
    return exercise.key in moved


def _keep(exercise: Exercise, verdict: str) -> None:
    """Keep the tick with the settings that earned it."""
    controls = page_record().controls.values()
    moved = [control for control in controls if control.differs or control.key in exercise.opening]
    settings = "; ".join(f"{unformatted(name_of(control))}: {control.text}" for control in moved)
    query = urlencode({control.key: control.words for control in moved} | in_address(exercise.key), True)
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    try:
        if exercise.key not in get_engine().progress.done():
            get_engine().progress.keep(exercise.key, Done(verdict, settings, f"/{_address(exercise)}?{query}", when))
    except InputError as error:
        st.caption(sentence_of(error))


def _leave() -> None:
    st.query_params.pop(ASKED, None)


def _address(exercise: Exercise) -> str:
    return page_in(exercise.page).url_path
