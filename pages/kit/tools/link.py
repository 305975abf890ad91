"""Addresses of the app's pages, and one shown with a button to copy it and its QR code."""

import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import streamlit as st

#: Names under which a machine reaches itself.
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HTML = (
    '<div class="lab-copy"><code></code><button type="button">Copy</button><output aria-live="polite"></output></div>'
)
_COPY = st.components.v2.component(
    "lab_copy",
    html=_HTML,
    js=Path(__file__).with_name("copy.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def page_address(more: Mapping[str, str]) -> str:
    """That of the page as it is shown, with ``more`` in it."""
    query = {key: st.query_params.get_all(key) for key in st.query_params} | {k: [v] for k, v in more.items()}
    return _joined((st.context.url or "").partition("?")[0], query)


def address_of(page: str, query: Mapping[str, Sequence[str] | str]) -> str:
    """That of another page, by its ``url_path``."""
    return _joined(f"{app_address()}/{page}", query)


def app_address() -> str:
    """Where the addresses of all pages begin, as this one was opened."""
    return (st.context.url or "").partition("?")[0].rpartition("/")[0]


def _joined(page: str, query: Mapping[str, Sequence[str] | str]) -> str:
    return f"{page}?{urlencode(query, True)}" if query else page


def show_link(address: str, about: str) -> None:
    """An address with what it is, a button that copies it, its QR code."""
    _COPY(key="lab-copy", data={"text": address})
    picture = _qr(address)
    if picture is None:
        st.caption("Too long for a QR code.")
    else:
        st.image(picture, width=240, caption="The same as a QR code", alt="QR code of the address above")
    if urlsplit(address).hostname in _LOOPBACK:
        st.caption("This address works on this machine only. To let others open it, start the app with *make serve*.")
    st.caption(about)


def _qr(text: str) -> bytes | None:
    """A PNG, or None for a text that no QR code holds."""
    import segno

    stream = io.BytesIO()
    try:
        segno.make(text, error="l", micro=False).save(stream, kind="png", scale=4, border=3)
    except segno.DataOverflowError:
        return None
    return stream.getvalue()
