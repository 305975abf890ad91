"""Controls that live in the address: Streamlit's own, clipped to their limits and known to undo, pins and links.

Each takes Streamlit's arguments (a ``key`` always) and, as ``place``, the column or container that it goes to.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from deconditioning.wording import number
from pages.kit.controls.address import correct
from pages.kit.controls.essential import labelled
from pages.kit.record import Reader, record_control

_Limited = float | int
_ADDRESS = "query-params"


def slider(
    label: str,
    low: _Limited,
    high: _Limited,
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
    name, more["help"] = labelled(key, label, more.get("help"))
    result = place.slider(name, low, high, value, step, key=key, bind=_ADDRESS, **more)
    record_control(
        key, label, result, default, _numbers(result), _number_words(result), _reads_numbers(low, high, default)
    )
    return result


def number_input(
    label: str, low: Any = None, high: Any = None, value: Any = "min", *, key: str, place: Any = st, **more: Any
) -> Any:
    """A box for a number between its limits."""
    default = low if value == "min" else value
    _clip(key, low, high, default)
    name, more["help"] = labelled(key, label, more.get("help"))
    result = place.number_input(name, low, high, value, key=key, bind=_ADDRESS, **more)
    record_control(
        key, label, result, default, _numbers(result), _number_words(result), _reads_numbers(low, high, default)
    )
    return result


def selectbox(label: str, options: Sequence[Any], *, key: str, index: int = 0, place: Any = st, **more: Any) -> Any:
    """One of several, from a list."""
    options = list(options)
    name, more["help"] = labelled(key, label, more.get("help"))
    result = place.selectbox(name, options, index=index, key=key, bind=_ADDRESS, **more)
    first, text = options[index] if options else None, _word(result, more)
    record_control(key, label, result, first, text, [text], _reads_choice(options, more))
    return result


def segmented_control(
    label: str, options: Sequence[Any], *, key: str, default: Any = None, place: Any = st, **more: Any
) -> Any:
    """One of a few, side by side."""
    name, more["help"] = labelled(key, label, more.get("help"))
    result = place.segmented_control(name, options, default=default, key=key, bind=_ADDRESS, **more)
    text = _word(default if result is None else result, more)
    record_control(key, label, result, default, text, [text], _reads_choice(options, more))
    return result


def select_slider(
    label: str, options: Sequence[Any], value: Any = None, *, key: str, place: Any = st, **more: Any
) -> Any:
    """One of several in order."""
    options = list(options)
    name, more["help"] = labelled(key, label, more.get("help"))
    result = place.select_slider(name, options, value, key=key, bind=_ADDRESS, **more)
    default = options[0] if value is None else value
    text = _word(result, more)
    record_control(key, label, result, default, text, [text], _reads_choice(options, more))
    return result


def multiselect(
    label: str, options: Sequence[Any], default: Any = None, *, key: str, place: Any = st, **more: Any
) -> list[Any]:
    """Any of several."""
    name, more["help"] = labelled(key, label, more.get("help"))
    result = list(place.multiselect(name, options, default, key=key, bind=_ADDRESS, **more))
    words = [_word(one, more) for one in result]
    text = ", ".join(words) or "none"
    record_control(key, label, result, list(default or []), text, words or [""], _reads_choices(options, more))
    return result


def toggle(label: str, value: bool = False, *, key: str, place: Any = st, **more: Any) -> bool:
    """A switch."""
    name, more["help"] = labelled(key, label, more.get("help"))
    result = bool(place.toggle(name, value, key=key, bind=_ADDRESS, **more))
    record_control(key, label, result, value, "on" if result else "off", [str(result).lower()], _reads_switch)
    return result


def checkbox(label: str, value: bool = False, *, key: str, place: Any = st, **more: Any) -> bool:
    """A box with a tick."""
    name, more["help"] = labelled(key, label, more.get("help"))
    result = bool(place.checkbox(name, value, key=key, bind=_ADDRESS, **more))
    record_control(key, label, result, value, "on" if result else "off", [str(result).lower()], _reads_switch)
    return result


def text_input(
    label: str,
    value: str = "",
    *,
    key: str,
    place: Any = st,
    reads: Callable[[str], str] = str,
    in_picture: bool = False,
    **more: Any,
) -> str:
    """A line of text; ``reads`` gives its words beside other settings; ``in_picture``: it is moved and shown there."""
    name, more["help"] = labelled(key, label, more.get("help"))
    result = str(place.text_input(name, value, key=key, bind=_ADDRESS, **more) or "")
    record_control(
        key, label, result, value, reads(result) or "empty", [result], lambda words: words[0], in_picture=in_picture
    )
    return result


def clipped(key: str, low: _Limited, high: _Limited) -> list[float] | None:
    """What an address that is being opened asks for beyond these limits, moved to them; None where nothing is."""
    if key in st.session_state or key not in st.query_params:
        return None
    try:
        requested = [float(text) for text in st.query_params.get_all(key)]
    except ValueError:
        return None
    inside = [min(max(number, float(low)), float(high)) for number in requested]
    return inside if all(map(math.isfinite, requested)) and inside != requested else None


def _clip(key: str, low: Any, high: Any, default: Any) -> None:
    inside = clipped(key, -math.inf if low is None else low, math.inf if high is None else high)
    several = isinstance(default, list | tuple)
    if inside is None or len(inside) != (len(default) if several else 1):
        return
    known = next(value for value in ((default[0] if several else default), low, high) if value is not None)
    correct(key, [str(type(known)(number)) for number in inside])


def _number_words(value: Any) -> list[str]:
    return [str(each) for each in (value if isinstance(value, list | tuple) else [value])]


def _reads_numbers(low: Any, high: Any, default: Any) -> Reader:
    """Numbers of the control's kind, moved to its limits; two where it is a range."""
    several = isinstance(default, list | tuple)
    known = next((value for value in ((default[0] if several else default), low, high) if value is not None), 0.0)

    def read(words: Sequence[str]) -> Any:
        result = [type(known)(word) for word in words]
        if len(result) != (len(default) if several else 1) or not all(map(math.isfinite, result)):
            raise ValueError(words)
        inside = [max(number, low) if low is not None else number for number in result]
        inside = [min(number, high) if high is not None else number for number in inside]
        return tuple(inside) if several else inside[0]

    return read


def _reads_choices(options: Sequence[Any], more: dict[str, Any]) -> Reader:
    """Options by what the control calls them; those that it does not offer are left out."""
    named = {_word(option, more): option for option in options}

    def read(words: Sequence[str]) -> list[Any]:
        result = [named[word] for word in words if word in named]
        if not result and any(words):
            raise ValueError(words)
        return result

    return read


def _reads_choice(options: Sequence[Any], more: dict[str, Any]) -> Reader:
    named = {_word(option, more): option for option in options}

    def read(words: Sequence[str]) -> Any:
        if len(words) != 1 or words[0] not in named:
            raise ValueError(words)
        return named[words[0]]

    return read


def _reads_switch(words: Sequence[str]) -> bool:
    if words[0].lower() not in ("true", "false"):
        raise ValueError(words)
    return words[0].lower() == "true"


def _numbers(value: Any) -> str:
    if isinstance(value, list | tuple):
        return " to ".join(map(_numbers, value))
    return number(value, 6) if isinstance(value, int | float) else str(value)


def _word(value: Any, more: dict[str, Any]) -> str:
    """A choice as its control shows it."""
    shown = more.get("format_func", str)
    return str(shown(value))
