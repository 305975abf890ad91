"""A step on the page: its sentence, its picture, its control, the guess and what is revealed."""

from html import escape
from typing import Any

import streamlit as st

from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.page_layout import explain
from pages.kit.layout.theme import is_dark
from pages.kit.pages import page_link
from pages.story.guesses import commit, guesses, take_all_back, take_back
from pages.story.step import Control, Guess, Question, Shown, Step, verdict


def show(step: Step, key: str, at: int, of: int) -> None:
    """The whole step; ``key`` is its name in the address and in the session."""
    st.caption(f"{at} of {of} · {step.title}")
    st.header(step.sentence, anchor=False)
    left, right = st.columns([2.7, 1], gap="large")
    with right:
        now = _control(step.control, key)
    guess = guesses().get(key)
    with left:
        pictures = st.container()  # what a step draws by itself stands below them
        shown = step.show(now, guess, is_dark())
        with pictures:
            _pictures(shown, key, guess)
        revealed = guess is not None  # the mathematics has the answers in it
        explain(
            shown.sentence, shown.equation if revealed else "", shown.source if revealed else "",
            label="Show the mathematics",
        )  # fmt: skip
        if shown.wait is not None:
            shown.wait()
    with right:
        _checks(shown)
        if shown.answer is not None:
            _question(step, key, now, guess, shown)
        elif guess is not None:
            st.caption("Your guess is kept; the answer is still being computed …")
        if shown.link is not None:
            page_link(shown.link.folder, shown.link.label, query=dict(shown.link.query) or None,
                      icon=":material/open_in_new:")  # fmt: skip
    if step.closing and guess is not None:
        _close(step.closing)


def _pictures(shown: Shown, key: str, guess: Guess | None) -> None:
    maps = [figure["layout"]["meta"]["role"] == "map" for figure in shown.figures]
    columns = len(maps) if all(maps) else len(shown.points)
    places = [*(st.columns(columns) if columns else ()), *(st.container() for _ in maps[columns:])]
    for number, (figure, place) in enumerate(zip(shown.figures, places, strict=True)):
        with place:
            points = shown.points[number] if number < len(shown.points) else None
            words = shown.lesson if number >= max(1, len(shown.points)) and guess else shown.sentence
            alt = f"{figure['layout']['meta']['alt']} {words}"
            plotly_live(figure, f"story-{key}-{number}", group=f"story-{key}" if all(maps) else None, alt=alt,
                        points=points)  # fmt: skip


def _close(answers: tuple[tuple[str, str], ...]) -> None:
    """What the whole story says, in a few sentences."""
    with st.container(border=True, key="story-closing"):
        st.markdown("\n".join(f"- **{title}.** {answer}" for title, answer in answers))


def _control(control: Control, key: str) -> Any:
    if not control.options:
        return widgets.slider(control.label, control.low, control.high, control.value, control.step, key=key)
    if isinstance(control.options[0], str):
        result = widgets.segmented_control(control.label, control.options, default=control.value, key=key)
        return result or control.value
    return widgets.select_slider(control.label, control.options, control.value, key=key)


def _checks(shown: Shown) -> None:
    lines = [("good", "✓", text) for text in shown.good] + [("bad", "!", text) for text in shown.bad]
    rows = "".join(f'<p class="{kind}"><b>{mark}</b><span>{escape(text)}</span></p>' for kind, mark, text in lines)
    if rows:
        st.html(f'<div class="story-checks" role="status">{rows}</div>')


def _question(step: Step, key: str, now: Any, guess: Guess | None, shown: Shown) -> None:
    """The question with its reveal, or the answer."""
    question = step.question
    with st.container(border=True, key="story-question"):
        st.markdown(f"**{question.text}**")
        if guess is not None:
            st.markdown(f"**{verdict(question, guess.value, shown.answer)}** {shown.lesson}")
            with st.container(horizontal=True, gap="small"):
                st.button("Guess again", key=f"{key}-again", type="tertiary", on_click=take_back, args=(key,))
                if len(guesses()) > 1:
                    st.button("Forget all guesses", key="story-forget", type="tertiary", on_click=take_all_back)
            return
        value = _guess(question, key)
        st.button("Reveal", key=f"{key}-reveal", type="primary", width="stretch", disabled=value is None,
                  help="Guess first, then reveal the answer" if value is None else None,
                  on_click=_reveal, args=(key, Guess(value, now), step.control.revealed))  # fmt: skip


def _reveal(key: str, guess: Guess, value: Any) -> None:
    """Keep the guess, and move the step's control to the value that the answer is about."""
    commit(key, guess)
    if value is not None:
        st.session_state[key] = value


def _guess(question: Question, key: str) -> Any:
    if question.choices:
        return st.segmented_control("Your guess", question.choices, key=f"{key}-choice")
    low, high, step = (type(question.step)(v) for v in (question.low, question.high, question.step))
    label = f"Your guess, {question.units}" if question.units else "Your guess"
    middle = low + step * round((high - low) / 2 / step)
    return st.slider(label, low, high, middle, step, key=f"{key}-number")
