"""Controls that live in the address: Streamlit's own, clipped to their limits and known to undo, pins and links.

Each takes Streamlit's arguments (a ``key`` always) and, as ``place``, the column or container that it goes to.
"""

import math
from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.kit.address import correct
from pages.kit.record import saw_control
from pages.kit.state import is_known

Limited = float | int
_ADDRESS = "query-params"


def slider(
    label: str,
    low: Limited,
    high: Limited,
    value: Any = None,
    step: Any = None,
    *,
    key: str,
    place: Any = st,
    **more: Any,
) -> Any:
    """A slider over numbers, or with two values over a range of them."""
    default = low if value is None else value
    _clip(key, low, high, default)
    found = place.slider(label, low, high, value, step, key=key, bind=_ADDRESS, **more)
    saw_control(key, label, found, default, _numbers(found))
    return found


def number_input(
    label: str, low: Any = None, high: Any = None, value: Any = "min", *, key: str, place: Any = st, **more: Any
) -> Any:
    """A box for a number between its limits."""
    _clip(key, low, high, low if value == "min" else value)
    found = place.number_input(label, low, high, value, key=key, bind=_ADDRESS, **more)
    saw_control(key, label, found, low if value == "min" else value, _numbers(found))
    return found


def selectbox(label: str, options: Sequence[Any], *, key: str, index: int = 0, place: Any = st, **more: Any) -> Any:
    """One of several, from a list."""
    options = list(options)
    found = place.selectbox(label, options, index=index, key=key, bind=_ADDRESS, **more)
    saw_control(key, label, found, options[index] if options else None, _word(found, more))
    return found


def segmented_control(
    label: str, options: Sequence[Any], *, key: str, default: Any = None, place: Any = st, **more: Any
) -> Any:
    """One of a few, side by side."""
    found = place.segmented_control(label, options, default=default, key=key, bind=_ADDRESS, **more)
    saw_control(key, label, found, default, _word(default if found is None else found, more))
    return found


def select_slider(
    label: str, options: Sequence[Any], value: Any = None, *, key: str, place: Any = st, **more: Any
) -> Any:
    """One of several in order."""
    options = list(options)
    found = place.select_slider(label, options, value, key=key, bind=_ADDRESS, **more)
    saw_control(key, label, found, options[0] if value is None else value, _word(found, more))
    return found


def multiselect(
    label: str, options: Sequence[Any], default: Any = None, *, key: str, place: Any = st, **more: Any
) -> list[Any]:
    """Any of several."""
    found = list(place.multiselect(label, options, default, key=key, bind=_ADDRESS, **more))
    saw_control(key, label, found, list(default or []), ", ".join(_word(one, more) for one in found) or "none")
    return found


def toggle(label: str, value: bool = False, *, key: str, place: Any = st, **more: Any) -> bool:
    """A switch."""
    found = bool(place.toggle(label, value, key=key, bind=_ADDRESS, **more))
    saw_control(key, label, found, value, "on" if found else "off")
    return found


def checkbox(label: str, value: bool = False, *, key: str, place: Any = st, **more: Any) -> bool:
    """A box with a tick."""
    found = bool(place.checkbox(label, value, key=key, bind=_ADDRESS, **more))
    saw_control(key, label, found, value, "on" if found else "off")
    return found


def text_input(label: str, value: str = "", *, key: str, place: Any = st, **more: Any) -> str:
    """A line of text."""
    found = str(place.text_input(label, value, key=key, bind=_ADDRESS, **more) or "")
    saw_control(key, label, found, value, found or "empty")
    return found


def clipped(key: str, low: Limited, high: Limited) -> list[float] | None:
    """What an address that is being opened asks for beyond these limits, moved to them; None where nothing is."""
    if is_known(key) or key not in st.query_params:
        return None
    try:
        asked = [float(text) for text in st.query_params.get_all(key)]
    except ValueError:
        return None
    inside = [min(max(number, float(low)), float(high)) for number in asked]
    return inside if all(map(math.isfinite, asked)) and inside != asked else None


def _clip(key: str, low: Any, high: Any, default: Any) -> None:
    inside = clipped(key, -math.inf if low is None else low, math.inf if high is None else high)
    several = isinstance(default, list | tuple)
    if inside is None or len(inside) != (len(default) if several else 1):
        return
    known = next(value for value in ((default[0] if several else default), low, high) if value is not None)
    correct(key, [str(type(known)(number)) for number in inside])


def _numbers(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " to ".join(map(_numbers, value))
    return f"{value:.6g}" if isinstance(value, int | float) else str(value)


def _word(value: Any, more: dict[str, Any]) -> str:
    """A choice as its control shows it."""
    shown = more.get("format_func", str)
    return str(shown(value))
