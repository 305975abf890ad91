"""What every page looks like: its header, explanations, panels, and the device at its foot."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from html import escape
from pathlib import Path

import streamlit as st

from deconditioning.errors import InputError
from pages.kit.chart.background import redraw_when
from pages.kit.chart.warm_up import is_warm, warm_up
from pages.kit.controls import level
from pages.kit.controls.address import drop_impossible
from pages.kit.controls.dragging import follow_drags
from pages.kit.controls.essential import Essentials
from pages.kit.controls.program_values import apply_values
from pages.kit.layout.escaping import sentence_of
from pages.kit.layout.frame import frame
from pages.kit.layout.glossary import explain_words
from pages.kit.layout.mathematics import in_parts
from pages.kit.layout.theme import palette_css
from pages.kit.pages import GROUPS, PAGES
from pages.kit.record import page_record, record_lead, record_method, record_title
from pages.kit.tools.toolbar import Preset, reserve

_NONE: Essentials = {}
_CSS = Path(__file__).with_name("page_layout.css").read_text(encoding="utf-8")


def page_header(
    title: str,
    sentence: str,
    presets: Sequence[Preset] | None = None,
    essentials: Essentials = _NONE,
) -> None:
    """Title and the question that the page answers, in one line. Call it first on every page.

    A page with ``presets`` has controls: the line of tools stands below its header (`pages.kit.tools.toolbar`), the
    switch between its ``essentials`` and all of them at their head (`pages.kit.controls.level`).
    """
    warm_up()
    drop_impossible()
    apply_values()
    if essentials:
        level.choose(essentials)
    frame(level.shown())
    follow_drags()
    explain_words()
    st.html(f"<style>{palette_css()}{_CSS}{level.style()}{_current_page()}</style>")
    record_title(title, sentence)
    with st.container(horizontal=True, vertical_alignment="center", key="lab-head"):
        st.title(title, anchor=False, width="content")
        st.markdown(sentence, width="content")
    if presets is not None:
        reserve(presets)


def _current_page() -> str:
    """The style that marks the group of this page in the navigation; empty on pages that are not listed there."""
    path = page_record().page or PAGES[0].url_path
    at = next((n for n, pages in enumerate(GROUPS.values(), 1) if path in [page.url_path for page in pages]), 0)
    group = f'[data-testid="stTopNav"] > :nth-child({at}) button'
    return f"{group} {{ box-shadow: inset 0 -2px 0 var(--lab-teal); border-radius: 0; }}" if at else ""


def foot() -> None:
    """Below every page: the device with its memory."""
    with st.container(key="lab-foot"):
        if is_warm():
            _device()
        else:
            redraw_when(is_warm, _starting, every=0.7)


def _device() -> None:
    st.html(f'<div class="lab-device" role="status">{escape(_device_sentence())}</div>', width="content")


def _starting() -> None:
    """Until the numerics are imported, or have failed to."""
    sentence = "Device: starting…" if warm_up().is_alive() else "Device unknown: PyTorch could not be loaded"
    st.html(f'<div class="lab-device" role="status">{sentence}</div>', width="content")


def _device_sentence() -> str:
    """The device, its free and total memory, and what this app holds, such as "CPU, 2 cores · 5.1 of 7.8 GB free"."""
    import psutil

    from deconditioning.device import choose, describe

    device = describe(choose())
    memory_of_app = psutil.Process().memory_info().rss
    memory = f"{device.free_bytes / 1e9:.1f} of {device.total_bytes / 1e9:.1f} GB free"
    return f"{device.label} · {memory} · this app {memory_of_app / 1e9:.1f} GB"


@contextmanager
def refusals() -> Iterator[None]:
    """What is refused inside becomes a sentence on the page, and a word that nothing is lost."""
    try:
        yield
    except InputError as error:
        refusal(error)
        st.caption("Nothing is lost: change the control on the left and the page will recover.")


def refusal(error: object) -> None:
    """A sentence on what was refused; it may quote a file, an address or a person, and is shown as it is."""
    st.error(sentence_of(error))


def warnings(sentences: Iterable[object]) -> None:
    """What to beware of, in one box: a list where there are several; nothing where there are none."""
    lines = [sentence_of(sentence) for sentence in sentences]
    if lines:
        st.warning(lines[0] if len(lines) == 1 else "\n".join(f"- {line}" for line in lines))


def lead(sentence: str, help: str | None = None) -> None:
    """What the page shows, in a sentence of Markdown; slides begin with it."""
    st.markdown(sentence, help=help)
    record_lead(sentence)


def explain(sentence: str, equation: str = "", source: str = "", *, label: str = "The equation") -> None:
    """One sentence beside a picture; below it an expander with the equation (Markdown with $…$) and its source.

    All three are Markdown: names and units from files go through `words.plain`.
    """
    st.markdown(sentence)
    if source:
        record_method(sentence, source)
    if equation or source:
        with st.expander(label):
            for part in in_parts(equation):
                st.markdown(part)
            if source:
                st.caption(f"Source: {source}")


def notes(sentences: Iterable[str], label: str = "How the data were processed") -> None:
    """The choices made for the user while reading the data, as a list in an expander; nothing where there are none."""
    lines = [f"- {sentence_of(sentence)}" for sentence in sentences]
    if lines:
        with st.expander(f"{label} ({len(lines)})"):
            st.markdown("\n".join(lines))


def evidence(*keys: str) -> AbstractContextManager[object]:
    """An expander for stored studies of the papers' results, with their commands and times.

    It is open at first where the address has one of the ``keys`` of the controls inside.
    """
    named = any(key in st.query_params for key in keys)
    return st.expander("Compared with the papers", expanded=named, icon=":material/fact_check:")
