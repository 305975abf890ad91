"""The line of tools above a page: undo, redo, presets, pin as A, link, the worked example again."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import streamlit as st

from pages.kit import compared, history, record
from pages.kit.asked import apply_values
from pages.kit.record import Control, seen

Controls = Mapping[str, Control]


@dataclass(frozen=True)
class Preset:
    """Named settings that tell something: ``values`` makes them from the page's controls, by their keys."""

    name: str
    about: str
    values: Callable[[Controls], Mapping[str, Any]]


def fixed(**values: Any) -> Callable[[Controls], Mapping[str, Any]]:
    """These values, by keys whose hyphens are written as underscores."""
    named = {key.replace("_", "-"): value for key, value in values.items()}
    return lambda controls: named


def reserve(presets: Sequence[Preset]) -> None:
    """Keep places for the tools and for what they show; below a page's header, before its first control."""
    apply_values()
    now = seen()
    now.presets = tuple(presets)
    now.places = {"tools": st.container(key="lab-tools"), "compared": st.container(key="lab-compared")}


def finish() -> None:
    """At the end of a page's run: keep its state and draw the tools, if it has places for them."""
    now = seen()
    if not now.places:
        return
    history.settle()
    with now.places["tools"], st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _steps()
        _pin()
        if st.button("Link", key="lab-link", icon=":material/link:", help="The address of these settings, to copy"):
            _link()
        _presets()
    with now.places["compared"]:
        compared.show()


def _steps() -> None:
    for label, key, icon, step, hint in (
        ("Undo", "lab-undo", ":material/undo:", -1, "The settings before (Ctrl+Z)"),
        ("Redo", "lab-redo", ":material/redo:", 1, "The settings after (Shift+Ctrl+Z)"),
    ):
        off = not history.can_go(step)
        st.button(label, key=key, icon=icon, help=hint, disabled=off, on_click=history.go, args=(step,))


def _pin() -> None:
    about = "Keep this picture as A; what you change then is B, and both are shown together"
    label = "Pin as A" if record.pinned() is None else "Pin this as A"
    st.button(label, key="lab-pin", icon=":material/keep:", help=about, on_click=record.pin)


def _presets() -> None:
    """One button for each, and the worked example."""
    for index, preset in enumerate(seen().presets):
        st.button(preset.name, key=f"lab-preset-{index}", type="tertiary", help=preset.about, on_click=_take,
                  args=(preset,), disabled=not _changes(preset))  # fmt: skip
    st.button("Reset", key="lab-reset", icon=":material/restart_alt:", type="tertiary", on_click=history.wish,
              args=(None,), help="Every control as this page opens: the worked example")  # fmt: skip


def _take(preset: Preset) -> None:
    """The preset's settings, of those that this page has now."""
    history.wish(_offered(preset))


def _offered(preset: Preset) -> dict[str, Any]:
    controls = seen().controls
    return {key: value for key, value in preset.values(controls).items() if key in controls}


def _changes(preset: Preset) -> bool:
    """Whether the page has the preset's controls and does not stand there already."""
    controls = seen().controls
    return any(not history.same(controls[key].value, value) for key, value in _offered(preset).items())


@st.dialog("Link to these settings")
def _link() -> None:
    """The address with its QR code; it names only what differs from the page's defaults."""
    address = _address()
    st.code(address, language=None, wrap_lines=True)
    picture = _qr(address)
    if picture is None:
        st.caption("Too long for a QR code.")
    else:
        st.image(picture, width=240, caption="The same as a QR code")
    st.caption("It names what differs from this page's own settings, numbers to four digits.")


def _address() -> str:
    query = urlencode(st.query_params.to_dict() | {key: st.query_params.get_all(key) for key in st.query_params}, True)
    own = (st.context.url or "").partition("?")[0]
    return f"{own}?{query}" if query else own


def _qr(text: str) -> bytes | None:
    """A PNG, or None for a text that no QR code holds."""
    import segno

    stream = io.BytesIO()
    try:
        segno.make(text, error="l", micro=False).save(stream, kind="png", scale=4, border=3)
    except segno.DataOverflowError:
        return None
    return stream.getvalue()
