"""The engine of a session, and log sliders that live in the address."""

import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from typing import TYPE_CHECKING, Any

import streamlit as st

from deconditioning.errors import InputError
from deconditioning.wording import number, slider_text
from pages.kit.controls.address import correct
from pages.kit.controls.essential import labelled
from pages.kit.record import record_control
from pages.kit.session import Key
from pages.kit.visitor import address, is_shared, keeps_cookie, sees_everything, visitor_mark

if TYPE_CHECKING:
    from deconditioning.engine.visitors.visitor import Visitor

#: From one stop of a log slider to the next, in log10.
STEP = 0.05
_NUMBER = re.compile(r"(\d{1,20}\.?\d{0,20}|\.\d{1,20})(e[+-]?\d{1,3})?", re.ASCII)


class EngineHolder:
    """Holds the one engine of this server (Streamlit's cache refuses awaitable objects, a plain one is safe)."""

    def __init__(self) -> None:
        from deconditioning.engine.engine import Engine

        self.engine = Engine(encrypted=is_shared(), limit_s=60 * _run_minutes() if is_shared() else None)


def _run_minutes() -> float:
    """How long one run may take on a shared server."""
    text = os.environ.get("DECONDITIONING_RUN_MINUTES", "60")
    if not text.isdigit() or not int(text):
        raise InputError(f"DECONDITIONING_RUN_MINUTES is {text!r}: give a whole number.")
    return float(text)


@st.cache_resource(show_spinner=False, on_release=lambda holder: holder.engine.close())
def _holder() -> EngineHolder:
    return EngineHolder()


def get_engine() -> "Visitor":
    """The run engine, one per server, as this visitor may use it."""
    from deconditioning.engine.visitors.visitor import Visitor

    return Visitor(_holder().engine, visitor_mark(), sees_everything(), keeps_cookie(), address())


def forget(*names: str) -> None:
    """Keep nothing under these names; a control among them begins with its default."""
    for name in names:
        st.session_state.pop(name, None)


def offer_only(key: str, options: Iterable[Any]) -> None:
    """Let a control whose value is not on offer, from another state of the page, begin with its default."""
    if st.session_state.get(key) not in (None, *options):
        forget(key)


def on_sliders(values: dict[str, float]) -> dict[str, float]:
    """What `asked.set_values` and the session need to put log sliders, by their keys, to these values: four digits."""
    return {key: float(slider_text(value)) for key, value in values.items()}


def log_slider(
    label: str,
    key: str,
    low: float,
    high: float,
    default: float,
    *,
    help: str | None = None,
    disabled: bool = False,
    shown: tuple[float, float] | None = None,
    stops: Sequence[float] = (),
    reads: Callable[[float], str] | None = None,
) -> float:
    """A slider over orders of magnitude, bound to the address; returns the value, which its handle shows.

    One stop is 0.05 in log10 from the next, rounded to three digits. The ends, the default and values that come from
    the program or an address, such as learned ones, are stops of their own in place of those next to them, so that
    they are kept exactly. An address that asks for more than an end gets that end. Set it from the program with
    ``set_values(on_sliders({key: value}))``.

    ``shown`` are nearer ends, between which all steps lie; beyond them only the default and values from elsewhere are
    stops. ``stops`` stand in place of the even steps up to the largest of them. ``reads``: what the handle shows of a
    value in place of its number, such as a length with its unit.
    """
    _clip(key, low, high)
    begin = min(max(default, low), high)
    first, last = _rounded_inside(shown, low, high) if shown else (low, high)
    ends_and_default = [first, last, begin]
    extra = _by_text(ends_and_default) | _from_elsewhere(key, low, high, ends_and_default)
    texts = _known_stops(first, last, tuple(extra.items()), tuple(stops))
    begin = extra[slider_text(begin)]
    name, help = labelled(key, label, help)
    value = st.select_slider(
        name, list(texts), value=begin, format_func=lambda stop: texts.get(stop, slider_text(stop)), key=key,
        bind="query-params", help=help, disabled=disabled,
    )  # fmt: skip
    if reads is not None:
        _show(key, _words(reads, tuple(texts.items())))
    if value in extra.values() and value not in ends_and_default:
        st.session_state[Key.STOPS.of(key)] = {texts[value]: value}
    text = slider_text(value)
    read = number(value, 4) if reads is None else reads(value)
    shows = {} if reads is None else {"shows": reads}
    record_control(key, label, float(value), begin, read, [text], lambda words: _inside(words, low, high), **shows)
    return float(value)


def show_as(key: str, words: dict[str, str]) -> None:
    """Let the browser show other words than the numbers of a slider (frame.js), which are those of the address."""
    _show(key, _written(words))


def _show(key: str, written: str) -> None:
    if written:
        st.html(f'<span class="lab-reads" data-key="{key}" data-words="{written}"></span>')


def _written(words: Mapping[str, str]) -> str:
    """The words that differ from the numbers, for an attribute of HTML; empty if none does."""
    others = {text: read for text, read in words.items() if text != read}
    return escape(json.dumps(others)) if others else ""


@lru_cache(maxsize=256)
def _words(reads: Callable[[float], str], stops: tuple[tuple[float, str], ...]) -> str:
    """What ``reads`` makes of the stops of a slider, kept between runs of a page where that is the same function."""
    return _written({text: reads(stop) for stop, text in stops})


@lru_cache(maxsize=256)
def _known_stops(
    low: float, high: float, extra: tuple[tuple[str, float], ...], own: tuple[float, ...]
) -> dict[float, str]:
    """`log_stops`, kept between runs of a page."""
    return log_stops(low, high, dict(extra), own)


def _rounded_inside(ends: tuple[float, float], low: float, high: float) -> tuple[float, float]:
    """Ends to two digits, none beyond the outer ones."""
    first, last = (min(max(float(f"{end:.2g}"), low), high) for end in ends)
    return first, last


def _inside(words: Sequence[str], low: float, high: float) -> float:
    """The value of a log slider whose address says so, moved to its limits."""
    if len(words) != 1 or not _NUMBER.fullmatch(words[0]) or not math.isfinite(float(words[0])):
        raise ValueError(words)
    return float(slider_text(min(max(float(words[0]), low), high)))


def log_stops(low: float, high: float, extra: dict[str, float], own: Sequence[float] = ()) -> dict[float, str]:
    """Value → text of every stop, in order: ``extra`` ones, between them the steps that are not next to one, and all of
    its ``own``, which stand in place of steps up to the largest of them."""
    steps = [step for step in _steps(low, high) if not own or step > max(own)]
    between = [v for v in steps if all(abs(math.log10(v / value)) >= STEP / 2 for value in extra.values())]
    stops = _by_text(float(f"{value:.4g}") for value in own if low <= value <= high) | _by_text(between) | extra
    return {value: text for text, value in sorted(stops.items(), key=lambda stop: stop[1])}


def _by_text(values: Iterable[float]) -> dict[str, float]:
    return {slider_text(value): value for value in values}


@cache
def _steps(low: float, high: float) -> tuple[float, ...]:
    """Powers of ten and what lies between them, 0.05 apart in log10, as three digits."""
    first, last = math.ceil(math.log10(low) / STEP), math.floor(math.log10(high) / STEP)
    return tuple(float(f"{10 ** (step * STEP):.3g}") for step in range(first, last + 1))


def _from_elsewhere(key: str, low: float, high: float, stops: list[float]) -> dict[str, float]:
    """Text → value of what the address asks for, of the last value set by the program, and of today's value.

    A value that reads as one of the ``stops`` is that one.
    """
    result: dict[str, float] = st.session_state.get(Key.STOPS.of(key), {})
    result = {text: value for text, value in result.items() if low <= value <= high}
    requested = st.query_params.get(key, "")
    if _NUMBER.fullmatch(requested) and low <= float(requested) <= high:
        result.setdefault(requested, float(requested))
    if key in st.session_state:
        now = st.session_state[key]
        nearest = _by_text(stops).get(slider_text(now), min(max(low, now), high))
        if now != nearest:
            # only when it must: a value written here overrides what a person is about to send from the browser
            st.session_state[key] = now = nearest
        if now not in result.values():
            result[slider_text(now)] = now
    return result


def _clip(key: str, low: float, high: float) -> None:
    """An address that is being opened and asks for more than an end gets that end."""
    requested = st.query_params.get(key, "")
    if key in st.session_state or not _NUMBER.fullmatch(requested) or not math.isfinite(float(requested)):
        return
    if low <= float(requested) <= high:
        return
    correct(key, [slider_text(low if float(requested) < low else high)])
