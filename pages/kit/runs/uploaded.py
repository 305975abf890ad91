"""Files that a visitor uploads: where the server laid them, what they take, and a button to delete each.

``scripts.uploads`` streams an upload to the disk, and Streamlit holds a short note of where it lies instead of its
bytes. Without that server (``streamlit run``, tests) Streamlit holds the bytes.
"""

import contextlib
import json
import secrets
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import streamlit as st

from deconditioning.engine.visitors.upload_quota import EXPIRY_S, limits, used
from deconditioning.engine.visitors.uploads import UPLOAD, delete
from deconditioning.errors import InputError
from pages.kit.controls.program_values import set_on_next_run
from pages.kit.layout.escaping import plain
from pages.kit.layout.page_layout import refusal
from pages.kit.visitor import is_shared, visitor_mark

_NOTE, _REFUSAL = (f"{word} {secrets.token_hex(32)} ".encode() for word in ("stored on disk", "refused"))


def note_of(path: Path) -> bytes:
    """What Streamlit holds instead of an upload's bytes; nobody outside this process can make such a note."""
    return _NOTE + str(path).encode()


def note_of_refusal(sentence: str) -> bytes:
    """What Streamlit holds instead of an upload for which there was no room."""
    return _REFUSAL + sentence.encode()


def content(file: Any) -> bytes | Path:
    """The bytes of an uploaded file, or the path where they lie; ``InputError`` where there was no room for it."""
    held = file.getvalue()
    if held.startswith(_REFUSAL):
        raise InputError(held.removeprefix(_REFUSAL).decode())
    return Path(held.removeprefix(_NOTE).decode()) if held.startswith(_NOTE) else held


def content_bytes(file: Any) -> bytes:
    """The bytes of an uploaded file; ``InputError`` where it was deleted meanwhile."""
    held = content(file)
    try:
        return held.read_bytes() if isinstance(held, Path) else held
    except OSError:
        raise InputError("This file is no longer on the server: upload it again.") from None


def discard(file: Any) -> None:
    """Delete an uploaded file from where it was laid: it was refused, or is kept elsewhere."""
    with contextlib.suppress(InputError, OSError):  # what cannot be deleted now is swept later
        held = content(file)
        if isinstance(held, Path):
            held.unlink(missing_ok=True)


def mark_refused(names: Sequence[str]) -> None:
    """Let the browser mark these files in Streamlit's list of uploaded files as not used (frame.js)."""
    if names:
        st.html(f'<span class="lab-refused" data-names="{escape(json.dumps(list(names)))}"></span>')


def deletable(uploads_of: Callable[[str], dict[str, str]], key: str, instead: Mapping[str, str] | None = None) -> None:
    """What the visitor's uploads take, and a button that deletes each; nothing where there is none.

    ``uploads_of(mark)`` tells key → name; ``instead`` what controls turn to that show an upload which is deleted.
    """
    mark = visitor_mark()
    names = uploads_of(mark)
    if not names:
        return
    with st.popover("My uploads"):
        if is_shared():
            st.caption(
                f"{used(mark) / 1e6:,.0f} of {limits()[0] / 1e6:,.0f} MB. An upload that is not opened for "
                f"{EXPIRY_S / 86400:.0f} days is deleted."
            )
        for one, name in names.items():
            if st.button(f"Delete {plain(name)}", key=f"{key}-delete-{one}", width="stretch"):
                _delete(one, name, mark, instead or {})


def _delete(key: str, name: str, mark: str, instead: Mapping[str, str]) -> None:
    try:
        delete(key.removeprefix(UPLOAD), mark)
    except InputError as error:
        refusal(error)
        return
    st.toast(f"{plain(name)} is deleted.")
    if shown := {control: other for control, other in instead.items() if st.session_state.get(control) == key}:
        set_on_next_run(shown)
    st.rerun()
