"""Lists to choose from in the address: variables and files by what they are called, that start anew with the data."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from deconditioning.engine.visitors.upload_quota import EXPIRY_S
from deconditioning.engine.visitors.uploads import UPLOAD
from pages.kit.controls import widgets
from pages.kit.controls.address import note_instead
from pages.kit.layout.escaping import plain
from pages.kit.session import Key
from pages.kit.state import forget, offer_only

#: What the list of fields with the sds of coarse values' errors is called, and its option for none.
ERRORS, NO_ERRORS = "Errors of the cells' values (sd)", "none given"


def pick(
    label: str, key: str, options: list[str], default: str, names: dict[str, str] | None = None, **more: Any
) -> str:
    """A select box in the address; a requested value that is not on offer falls back to the default, and where it is an
    upload that is gone a sentence above the page says so."""
    before = st.session_state.get(key)
    offer_only(key, options)
    index = options.index(default) if default in options else 0
    if key not in ("data", "coarse", "third"):
        begin(key, options[index])
    shown = (lambda option: names.get(option, option)) if names else str
    _translate(key, options, shown)
    result = str(widgets.selectbox(label, options, index=index, key=key, format_func=shown, **more))
    if str(before).startswith(UPLOAD) and before not in options:
        note_instead(
            key,
            result,
            "The uploaded file is no longer on this server: it was deleted, or nobody opened it for "
            f"{EXPIRY_S / 86400:.0f} days. The page uses {plain(shown(result))}.",
        )
    return result


def begin(key: str, default: Any) -> None:
    """Where the data set has just changed, a control starts from its default (Streamlit keeps it in the address)."""
    if st.session_state.get(Key.DATA_CHANGED):
        st.session_state[key] = default


def _translate(key: str, options: list[str], shown: Callable[[str], str]) -> None:
    """Addresses may name variables and data sets by key; make them say what is shown, as Streamlit's own do."""
    requested = st.query_params.get_all(key)
    titles = [shown(name) for name in requested if name in options]
    if key not in st.session_state and len(titles) == len(requested) and titles != requested:
        st.query_params[key] = titles
        st.rerun()


def several(
    label: str, key: str, options: list[str], default: list[str], names: dict[str, str], **more: Any
) -> list[str]:
    """Any of several, as ``names`` calls them."""
    if any(value not in options for value in st.session_state.get(key) or []):
        forget(key)
    _translate(key, options, lambda option: names.get(option, option))
    begin(key, [name for name in default if name in options])
    return widgets.multiselect(
        label,
        options,
        default=[name for name in default if name in options],
        key=key,
        format_func=lambda option: names.get(option, option),
        **more,
    )
