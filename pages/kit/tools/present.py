"""Present: what a page shows as slides over the window, and as files to take away.

A page of a study has slides of what it was seen to draw (`pages.kit.record`); one that `presents_itself` calls `show`
and `files` with its own.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from deconditioning import __version__
from deconditioning.figures.printed.axes import plain_text
from deconditioning.slides.exhibit import Drawn, Exhibit, presented
from deconditioning.slides.offline import offline_page
from deconditioning.slides.presented import Presented
from deconditioning.slides.printed import powerpoint
from deconditioning.slides.report import report
from pages.kit.chart.prepared import Prepared
from pages.kit.controls import level
from pages.kit.controls.essential import name_of
from pages.kit.layout.escaping import unformatted
from pages.kit.record import page_record
from pages.kit.session import Key
from pages.kit.state import forget
from pages.kit.tools.deck import slides
from pages.kit.tools.link import page_address

#: In the address of a page that opens with its slides.
ASKED = "present"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
#: Keys of pictures that tools draw, and not the page.
_OF_TOOLS = ("lab-", "sweep", "run-")
#: What a title tells a hand on the page, and no audience.
_HINT = " (drag the line)"


def button() -> None:
    """Opens the slides; so does the key P."""
    st.button("Present", key="lab-present", icon=":material/slideshow:", help="Slides of this page (P)",
              on_click=_ask)  # fmt: skip


def open_requested() -> None:
    """Open the slides of a page whose address asks for them; a reload or a copy of the address does not."""
    if ASKED in st.query_params:
        st.query_params.pop(ASKED)
        _ask()


def _ask() -> None:
    """A number each time: a close that is heard of late closes no slides that were asked for after it."""
    st.session_state[Key.PRESENTATIONS] = st.session_state.get(Key.PRESENTATIONS, 0) + 1
    st.session_state[Key.PRESENTING] = (page_record().page, st.session_state.get(Key.PRESENTATIONS))


def is_open() -> bool:
    """Whether slides of this page were asked for and not closed."""
    return bool(
        st.session_state.get(Key.PRESENTING, ("", 0))[0] == page_record().page and st.session_state.get(Key.PRESENTING)
    )


def show(deck: Callable[[], Mapping[str, Any]]) -> None:
    """The slides, where they were asked for."""
    if is_open() and slides(deck(), "lab-slides", st.session_state[Key.PRESENTING][1]):
        forget(Key.PRESENTING)


def files(presented: Presented, name: str, settings: Mapping[str, Any]) -> None:
    """One page that works offline, PowerPoint, PDF; made when asked for."""
    common: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    made: tuple[tuple[str, Callable[[], str | bytes], str, str], ...] = (
        ("One page, HTML", partial(offline_page, presented, settings), "html", "text/html"),
        ("Slides, PPTX", partial(powerpoint, presented), "pptx", _PPTX),
        ("Report, PDF", partial(report, presented), "report.pdf", "application/pdf"),
    )
    for column, (label, make, kind, mime) in zip(st.columns(len(made)), made, strict=True):
        column.download_button(label, make, f"{name}.{kind}", mime, key=f"get-{kind}", **common)


def exhibit() -> Exhibit:
    """What the page was seen to show in this run."""
    now = page_record()
    figures = [figure for key, figure in now.figures.items() if not key.startswith(_OF_TOOLS)]
    figures.sort(key=lambda figure: figure.diagnostic)
    differ = [control for control in now.controls.values() if control.differs]
    return Exhibit(
        now.title,
        now.question,
        tuple(Drawn(_title_of(figure), figure.alt, figure.text, figure.finding) for figure in figures),
        tuple((table.caption, table.written) for table in now.tables.values() if table.written),
        tuple((unformatted(name_of(control)), control.text) for control in differ),
        method=unformatted(now.method[0]),
        source=unformatted(now.method[1]),
        address=page_address(level.in_address()),
        lead=unformatted(now.lead),
    )


def _title_of(figure: Prepared) -> str:
    return plain_text(figure.title).removesuffix(_HINT) or figure.alt.partition(":")[0].rstrip(".")


def take_home() -> None:
    """At the end of a page of a study: its slides as files."""
    now = page_record()
    if now.presents_itself or not now.figures:
        return
    st.subheader("Download", anchor=False)
    texts = {key: control.words for key, control in now.controls.items()}
    words = {key: each[0] if len(each) == 1 else list(each) for key, each in texts.items()}
    settings = {"page": now.page, "settings": words, "version": __version__}
    files(presented(exhibit(), take_away=True), now.page, settings)


def show_page() -> None:
    """The slides of a page of a study, where they were asked for."""
    if not page_record().presents_itself:
        show(lambda: presented(exhibit()).deck())
