"""Undo and redo of a page's settings, and settings that the program puts back as a whole.

Setting one control may change what others hold or offer, so a wish (earlier settings, a preset, the defaults) is put
again at the end of a run until the page agrees with it.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pages.kit.address import tell_of
from pages.kit.asked import ask, set_values
from pages.kit.record import seen
from pages.kit.state import recall, remember, remembered

_HISTORY, _WISH = "_history", "_wish"
#: States that can be gone back to, and how often a wish is put again.
KEPT, ROUNDS = 60, 4


@dataclass
class History:
    """A page's states in the order in which they were seen, and the one that is shown."""

    states: list[dict[str, Any]] = field(default_factory=list)
    at: int = -1


@dataclass
class Wish:
    """Settings a page is to have: values by key, or those of an ``address`` (the worked example: an empty one).

    ``steps`` moves in the history at its end.
    """

    page: str
    values: Mapping[str, Any] = field(default_factory=dict)
    address: Mapping[str, Sequence[str]] | None = None
    steps: int = 0
    rounds: int = 0

    def asked(self) -> dict[str, Any]:
        """What the page's controls are to hold."""
        controls = seen().controls
        if self.address is not None:
            return {key: control.asked(self.address.get(key)) for key, control in controls.items()}
        return {key: value for key, value in self.values.items() if key in controls}


def history() -> History:
    """That of the page that is shown."""
    kept: dict[str, History] = remembered(_HISTORY, {})
    return kept.setdefault(seen().page, History())


def can_go(steps: int) -> bool:
    """Whether there is a state so many steps on (back where negative)."""
    found = history()
    return 0 <= found.at + _under_way() + steps < len(found.states)


def go(steps: int) -> None:
    """Go so many steps through the history; call it in a button's callback.

    A second press may come before the page has settled on what the first asked for: it goes on from there.
    """
    if can_go(steps):
        found, every = history(), _under_way() + steps
        wish(found.states[found.at + every], every)


def _under_way() -> int:
    """Steps of a move that the page has not settled on yet."""
    wanted = recall(_WISH)
    return wanted.steps if wanted is not None and wanted.page == seen().page else 0


def wish(values: Mapping[str, Any] | None, steps: int = 0) -> None:
    """Ask for these settings of the page, or with None for its worked example; call it in a button's callback."""
    if values is None:
        wish_address({})
        return
    remember(_WISH, Wish(seen().page, dict(values), None, steps))
    ask(values)


def wish_address(address: Mapping[str, Sequence[str]], page: str | None = None) -> None:
    """Ask for the settings of an address, of the page that is shown or of another one that is opened next.

    What the page cannot have is said above it, as of any address.
    """
    wanted = Wish(page or seen().page, {}, {key: list(words) for key, words in address.items()})
    remember(_WISH, wanted)
    if page is None:
        tell_of(wanted.page, address)
        ask(wanted.asked())


def moved_last(keys: Collection[str]) -> str | None:
    """The control among these that was changed last; None where none was."""
    found = history()
    for before, after in zip(found.states[found.at - 1 :: -1], found.states[found.at : 0 : -1], strict=False):
        for key in before.keys() & after.keys() & set(keys):
            if not same(before[key], after[key]):
                return key
    return None


def settle() -> None:
    """At the end of a page: put again what it has not taken, then keep its state."""
    now, wanted = seen(), recall(_WISH)
    if wanted is not None and wanted.page == now.page:
        missing = _missing(wanted)
        if missing and wanted.rounds < ROUNDS:
            wanted.rounds += 1
            set_values(missing)
        remember(_WISH, None)
        if wanted.steps:
            _moved(wanted.steps)
            return
    _keep(now.values())


def _missing(wanted: Wish) -> dict[str, Any]:
    """What the page's controls are to hold and do not."""
    controls = seen().controls
    return {key: value for key, value in wanted.asked().items() if not same(value, controls[key].value)}


def same(first: Any, second: Any) -> bool:
    """Whether two values of a control read the same."""
    numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in (first, second))
    if numbers and not (isinstance(first, int) and isinstance(second, int)):
        return math.isclose(first, second, rel_tol=5e-4, abs_tol=1e-12)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


def _moved(steps: int) -> None:
    found = history()
    found.at = min(max(found.at + steps, 0), len(found.states) - 1)
    found.states[found.at] = seen().values()


def _keep(values: dict[str, Any]) -> None:
    found = history()
    if not values or (found.states and _alike(found.states[found.at], values)):
        return
    del found.states[found.at + 1 :]
    found.states.append(values)
    del found.states[:-KEPT]
    found.at = len(found.states) - 1


def _alike(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether the controls that both states have agree; others come and go with the model."""
    return all(same(first[key], second[key]) for key in first.keys() & second.keys())
