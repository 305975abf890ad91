"""The line of tools above a page: undo, redo, pin as A, star, link, slides, presets, the worked example again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import streamlit as st

from pages.kit import record
from pages.kit.controls import level
from pages.kit.layout.unfold import fold, unfold
from pages.kit.record import Control, page_record, same
from pages.kit.tools import compared, exercises, favourites, history, present, tab
from pages.kit.tools.link import page_address, show_link

Controls = Mapping[str, Control]
_PRESETS = "lab-presets"
_NAMED = "It contains the settings that differ from the defaults of this page, with numbers to four digits."


@dataclass(frozen=True)
class Preset:
    """Named settings that tell something: ``values`` makes them from the page's controls, by their keys.

    Every other control takes its default, but those that it ``keeps``: keys, in which ``*`` stands for anything.
    """

    name: str
    about: str
    values: Callable[[Controls], Mapping[str, Any]]
    keeps: tuple[str, ...] = ()

    def values_for(self, controls: Controls) -> dict[str, Any]:
        """What the page's controls are to hold."""
        begin = history.defaults(controls).items()
        others = {key: value for key, value in begin if not any(fnmatchcase(key, kept) for kept in self.keeps)}
        return others | self.offered(controls)

    def offered(self, controls: Controls) -> dict[str, Any]:
        """Its own settings of those that the page has now."""
        return {key: value for key, value in self.values(controls).items() if key in controls}


def keeping(keys: Sequence[str], *presets: Preset) -> tuple[Preset, ...]:
    """Presets of a page that all keep these controls: what is looked at, not how it is set."""
    return tuple(replace(preset, keeps=tuple(keys)) for preset in presets)


def reserve(presets: Sequence[Preset]) -> None:
    """Keep places for the tools and for what they show; below a page's header, before its first control."""
    present.open_requested()
    now = page_record()
    now.presets = tuple(presets)
    keys = {"task": "lab-exercise", "tools": "lab-tools", "level": "lab-level"}
    now.places = {name: st.container(key=key) for name, key in keys.items()}
    now.places |= {name: st.container(key=f"lab-{name}") for name in ("sweep", "present-here")}


def finish() -> None:
    """At the end of a page's run: keep its state and draw the tools, if it has places for them."""
    now = page_record()
    if not now.places:
        return
    history.settle()
    with now.places["task"]:
        exercises.show()
    with now.places["tools"], st.container(horizontal=True, gap="small", vertical_alignment="center"):
        _steps()
        _pin()
        compared.tools()
        favourites.star()
        unfold("Link", _link, key="lab-link", icon=":material/link:",
               help="A link to these settings, with its QR code")  # fmt: skip
        present.button()
        _presets()
        if now.sweep is not None:
            now.sweep.switch()
    with now.places["level"]:
        level.show_count_of_hidden()
    if now.sweep is not None:
        with now.places["sweep"]:
            now.sweep.panel()
    with now.places["present-here"]:
        present.show_page()
    compared.show()
    present.take_home()
    tab.keep()


def _link() -> None:
    show_link(page_address(level.in_address()), _NAMED)


def _steps() -> None:
    for label, key, icon, step, hint in (
        ("Undo", "lab-undo", ":material/undo:", -1, "Previous settings (Ctrl+Z)"),
        ("Redo", "lab-redo", ":material/redo:", 1, "Next settings (Shift+Ctrl+Z)"),
    ):
        off = not history.can_go(step)
        st.button(label, key=key, icon=icon, help=hint, disabled=off, on_click=history.go, args=(step,))


def _pin() -> None:
    about = "Keep this picture as A. Further changes become B, and both are shown together"
    label = "Pin as A" if record.pinned() is None else "Pin this as A"
    st.button(label, key="lab-pin", icon=":material/keep:", help=about, on_click=record.pin)


def _presets() -> None:
    """A menu of the presets, each with what it shows, and the worked example; it closes when one is chosen."""
    with st.popover("Presets", key=_PRESETS, icon=":material/tune:", on_change="rerun",
                    help="Settings that show typical cases and failures"):  # fmt: skip
        for index, preset in enumerate(page_record().presets):
            _choice(preset.name, f"lab-preset-{index}", preset.values_for, preset.about, off=not _changes(preset))
        _choice("Reset", "lab-reset", history.defaults, "Reset every control to the worked example")


def _choice(name: str, key: str, values: history.ValuesOf, about: str, *, off: bool = False) -> None:
    with st.container(gap=None):
        st.button(name, key=key, type="tertiary", on_click=_take, args=(values,), disabled=off)
        st.caption(about)


def _take(values: history.ValuesOf) -> None:
    fold(_PRESETS)
    history.request(values)


def _changes(preset: Preset) -> bool:
    """Whether the page has the preset's controls and does not stand there already."""
    controls = page_record().controls
    requested = preset.values_for(controls)
    return bool(preset.offered(controls)) and any(
        not same(controls[key].value, value) for key, value in requested.items()
    )
