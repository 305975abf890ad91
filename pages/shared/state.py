"""State in one place: the engine, controls that live in the address, values set by the program."""

import math
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    from core.engine import Engine

PENDING = "_pending_values"


class EngineHolder:
    """Holds the one engine of this server (Streamlit's cache refuses awaitable objects, a plain one is safe)."""

    def __init__(self) -> None:
        from core.engine import Engine

        self.engine = Engine()


@st.cache_resource(show_spinner=False, on_release=lambda holder: holder.engine.close())
def _holder() -> EngineHolder:
    return EngineHolder()


def get_engine() -> "Engine":
    """The run engine, one per server, shared by all sessions and pages."""
    return _holder().engine


def set_values(values: dict[str, Any]) -> None:
    """Set controls by their keys on the next run (learned hyperparameters, an example's settings), then rerun.

    Streamlit forbids to change a control that is already on the page in this run; `apply_values`, called before
    the page's first control, does it. The address follows.
    """
    st.session_state[PENDING] = {**st.session_state.get(PENDING, {}), **values}
    st.rerun()


def apply_values() -> None:
    """Put the values asked for by `set_values` into the session; call it before the page's first control."""
    for key, value in st.session_state.pop(PENDING, {}).items():
        st.session_state[key] = value


def _exponent(key: str, low: float, high: float, default: float) -> float:
    """What a log slider is about to show: the session's value, else the address's, else the default."""
    if key in st.session_state:
        return float(st.session_state[key])
    try:
        asked = float(st.query_params[key])
    except (KeyError, ValueError):
        return default
    return asked if low <= asked <= high else default


def log_slider(
    label: str,
    key: str,
    low: float,
    high: float,
    default: float,
    *,
    step: float = 0.05,
    units: str = "",
    help: str | None = None,
    disabled: bool = False,
) -> float:
    """A slider over orders of magnitude, bound to the address; returns the value itself.

    The control and the address hold log10 of the value, so that a learned value survives exactly;
    the label tells the value. Set it from the program with ``set_values({key: math.log10(value)})``.
    """
    low10, high10, default10 = (round(math.log10(v), 6) for v in (low, high, default))
    if key in st.session_state and not low10 <= float(st.session_state[key]) <= high10:
        # only when it must: a value written here overrides what a person is about to send from the browser
        st.session_state[key] = min(max(float(st.session_state[key]), low10), high10)
    now = f"{10 ** _exponent(key, low10, high10, default10):.3g}{' ' + units if units else ''}"
    exponent = st.slider(
        f"{label} = {now}",
        low10,
        high10,
        value=default10,
        step=step,
        format="10^%.2f",
        key=key,
        bind="query-params",
        help=help,
        disabled=disabled,
    )
    return float(10.0**exponent)
