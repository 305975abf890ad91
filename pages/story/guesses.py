"""Guesses that a person has committed to: kept for the session, and by the browser until it is closed (keys.js), so
that a reload and a step back show what was revealed. An address holds none: whoever is given it is to guess, too."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import streamlit as st

from pages.kit.session import Key
from pages.story.step import Guess, Step
from pages.story.stories import STORIES, step_key

#: The cookie in which a browser keeps them.
COOKIE = "deconditioning-guesses"
#: Letters of a cookie that are read: all steps of all stories have room in them.
_LONGEST = 4000
_KEYS = st.components.v2.component(
    "lab_story_keys", html="<span hidden></span>", js=Path(__file__).with_name("keys.js").read_text(encoding="utf-8")
)


def guesses() -> dict[str, Guess]:
    """Those of this session by the key of their step; a new session has what the browser kept."""
    if Key.GUESSES not in st.session_state:
        st.session_state[Key.GUESSES] = from_text(st.context.cookies.get(COOKIE, ""))
    result: dict[str, Guess] = st.session_state[Key.GUESSES]
    return result


def commit(key: str, guess: Guess) -> None:
    """Keep a step's guess."""
    st.session_state[Key.GUESSES] = guesses() | {key: guess}


def take_back(key: str) -> None:
    """Forget a step's guess."""
    st.session_state[Key.GUESSES] = {other: guess for other, guess in guesses().items() if other != key}


def take_all_back() -> None:
    """Forget every guess."""
    st.session_state[Key.GUESSES] = {}


def keep_in_browser() -> None:
    """Let the browser keep this session's guesses; on page Story its keys lead through the steps, too."""
    _KEYS(key="story-keys", data={"cookie": COOKIE, "guesses": to_text(guesses())})


def to_text(result: dict[str, Guess]) -> str:
    """As the browser keeps them; empty without any."""
    return json.dumps({key: [guess.value, guess.control] for key, guess in result.items()}) if result else ""


def from_text(text: Any) -> dict[str, Guess]:
    """Inverse of ``to_text`` for what a cookie holds; what is no guess at a step is left out."""
    try:
        held = json.loads(unquote(text)) if isinstance(text, str) and len(text) <= _LONGEST else {}
    except (ValueError, RecursionError):
        return {}
    steps = {step_key(about, at): step for about, steps in STORIES.items() for at, step in enumerate(steps, 1)}
    held = held if isinstance(held, dict) else {}
    return {key: Guess(*pair) for key, pair in held.items() if key in steps and _is_guess(steps[key], pair)}


def _is_guess(step: Step, pair: Any) -> bool:
    """Whether a pair is a possible answer to the step's question, and a value of its control."""
    if not isinstance(pair, list) or len(pair) != 2:
        return False
    question, control = step.question, step.control
    return _is_one(pair[0], question.choices, question.low, question.high) and _is_one(
        pair[1], control.options, control.low, control.high
    )


def _is_one(value: Any, options: tuple[Any, ...], low: float, high: float) -> bool:
    if options:
        return isinstance(value, type(options[0])) and value in options
    return isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
