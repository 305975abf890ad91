"""Undo and redo of a page's settings, and settings that the program puts back as a whole.

Setting one control may change what others hold or offer, so a request (earlier settings, a preset, the defaults) is put
again at the end of a run until the page agrees with it. States are kept as an address says them, so that the browser's
tab can hold them over a reload (`pages.kit.tools.tab`).
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from pages.kit.controls.address import complete, note_requests
from pages.kit.controls.dragging import drag
from pages.kit.controls.program_values import set_on_next_run, set_values
from pages.kit.pages import with_current_keys
from pages.kit.record import Control, page_record, same
from pages.kit.session import Key

#: States that can be gone back to, and how often a request is put again.
KEPT, ROUNDS = 60, 4
#: Controls' words by their keys.
State = Mapping[str, Sequence[str]]
#: The values that the page's controls are to hold, by their keys.
ValuesOf = Callable[[Mapping[str, Control]], Mapping[str, Any]]


@dataclass
class History:
    """A page's states in the order in which they were seen, the one that is shown, the drag that made the last."""

    states: list[State] = field(default_factory=list)
    at: int = -1
    drag: int = 0


@dataclass
class Request:
    """Settings that a page is to have; ``steps`` moves in the history at its end."""

    page: str
    values: ValuesOf
    steps: int = 0
    rounds: int = 0


def history() -> History:
    """That of the page that is shown."""
    histories: dict[str, History] = st.session_state.setdefault(Key.HISTORY, {})
    return histories.setdefault(page_record().page, History())


def can_go(steps: int) -> bool:
    """Whether there is a state so many steps on (back where negative)."""
    result = history()
    return 0 <= result.at + _under_way() + steps < len(result.states)


def go(steps: int) -> None:
    """Go so many steps through the history; call it in a button's callback.

    A second press may come before the page has settled on what the first asked for: it goes on from there.
    """
    if can_go(steps):
        result, every = history(), _under_way() + steps
        state = result.states[result.at + every]
        request(
            lambda controls: {key: controls[key].from_words(state[key]) for key in controls.keys() & state.keys()},
            every,
        )


def _under_way() -> int:
    """Steps of a move that the page has not settled on yet."""
    requested = st.session_state.get(Key.HISTORY_REQUEST)
    return requested.steps if requested is not None and requested.page == page_record().page else 0


def request(values: ValuesOf, steps: int = 0) -> None:
    """Ask for settings of the page; call it in a button's callback."""
    st.session_state[Key.HISTORY_REQUEST] = Request(page_record().page, values, steps)
    set_on_next_run(values(page_record().controls))


def request_values(values: Mapping[str, Any]) -> None:
    """Ask for these values of the page's controls."""
    request(lambda controls: {key: value for key, value in values.items() if key in controls})


def defaults(controls: Mapping[str, Control]) -> dict[str, Any]:
    """What every control holds by itself."""
    return {key: control.default for key, control in controls.items()}


def request_address(address: Mapping[str, Sequence[str]], page: str | None = None) -> None:
    """Ask for the settings of an address, of the page that is shown or of another one that is opened next.

    What the page cannot have is reported above it, as for any address.
    """
    now = with_current_keys(page or page_record().page, address)
    words = {key: list(each) for key, each in now.items()}

    def values(controls: Mapping[str, Control]) -> dict[str, Any]:
        return {key: control.from_words(words.get(key)) for key, control in controls.items()}

    if page is None:
        note_requests(page_record().page, words)
        request(values)
    else:
        st.session_state[Key.HISTORY_REQUEST] = Request(page, values)


def moved_last(keys: Collection[str]) -> str | None:
    """The control among these that was changed last; None where none was."""
    result, controls = history(), page_record().controls
    for before, after in zip(result.states[result.at - 1 :: -1], result.states[result.at : 0 : -1], strict=False):
        for key in before.keys() & after.keys() & controls.keys() & set(keys):
            if not same(controls[key].from_words(before[key]), controls[key].from_words(after[key])):
                return key
    return None


def settle() -> None:
    """At the end of a page: put again what it has not taken, then keep its state."""
    now, requested = page_record(), st.session_state.get(Key.HISTORY_REQUEST)
    if requested is not None and requested.page == now.page:
        missing = _missing(requested)
        if missing and requested.rounds < ROUNDS:
            requested.rounds += 1
            set_values(missing)
        st.session_state[Key.HISTORY_REQUEST] = None
        if requested.steps:
            _moved(requested.steps)
            complete()
            return
    _keep(now.words())
    complete()


def _missing(requested: Request) -> dict[str, Any]:
    """What the page's controls are to hold and do not."""
    controls = page_record().controls
    return {key: value for key, value in requested.values(controls).items() if not same(value, controls[key].value)}


def _moved(steps: int) -> None:
    result = history()
    result.at = min(max(result.at + steps, 0), len(result.states) - 1)
    result.states[result.at] = page_record().words()


def _keep(state: State) -> None:
    """Keep what is shown now; of the values that a slider had while it was dragged only the last."""
    result, now = history(), drag()
    if not state or (result.states and is_shown(result.states[result.at])):
        return
    del result.states[result.at + 1 :]
    if now and now == result.drag:
        result.states.pop()
    result.drag = now
    if not (result.states and is_shown(result.states[-1])):  # a drag may end where it began
        result.states.append(state)
    del result.states[:-KEPT]
    result.at = len(result.states) - 1


def is_shown(state: State) -> bool:
    """Whether the page's controls agree with a state in all that it knows of them; others come and go with the
    model."""
    controls = page_record().controls
    return all(
        same(controls[key].from_words(state[key]), controls[key].value) for key in controls.keys() & state.keys()
    )


def join(before: History) -> None:
    """Put what an earlier session of this tab went through before what this one has."""
    now = history()
    if now.states:
        both = joined(before, now, is_shown(before.states[before.at]))
        now.states, now.at = both.states, both.at


def joined(before: History, now: History, again: bool) -> History:
    """One history of two; ``again``: the second goes on where the first stood, else what lay ahead of that is gone."""
    past, ahead = before.states[: before.at + 1], before.states[before.at + 1 :]
    if again:
        past = past[:-1]
    states = past + now.states + (ahead if again and len(now.states) == 1 else [])
    left_out = max(0, len(states) - KEPT)
    return History(states[left_out:], max(0, len(past) + now.at - left_out))
