"""Present: slides of what is on the maps, over the whole window, and as files to take away."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from core.downscaling.one_scale_up import OneScaleUp
from core.fields import DownscalingProblem
from core.figures.panel import Panel
from core.metrics import Trust
from core.models.spec import ModelSpec
from core.slides.assembled import assembled
from core.slides.deck import Shown, downscaling_deck
from core.slides.offline import offline_page
from core.slides.printed import powerpoint, report
from pages.downscaling.data import Choice, fields_of
from pages.downscaling.picture import View
from pages.kit import level
from pages.kit.deck import slides
from pages.kit.link import own_address
from pages.kit.record import seen
from pages.kit.state import forget, recall, remember

#: The number of times that slides were asked for, and that of the ones that are open.
_TIMES, _OPEN = "_presented", "_presenting"
_PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"


def button() -> None:
    """Opens the slides; so does the key P."""
    st.button("Present", key="lab-present", icon=":material/slideshow:", help="Slides of these maps (P)",
              on_click=_ask)  # fmt: skip


def _ask() -> None:
    """A number each time: a close that is heard of late closes no slides that were asked for after it."""
    remember(_TIMES, recall(_TIMES, 0) + 1)
    remember(_OPEN, recall(_TIMES))


def shown_now(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, panels: list[Panel], found: Trust | str,
    checked: OneScaleUp | None,
) -> Shown:  # fmt: skip
    """What is on the page, its table of scores among it, as slides and files take it."""
    scores, address = _scores(spec.model), own_address(level.in_address())
    fields = fields_of(choice.source.fields)
    return assembled(problem, fields, spec.model, panels, scores, found, checked, address=address)


def _scores(model: str) -> Mapping[str, Mapping[str, float | None]]:
    return next((table.rows for table in seen().tables.values() if model in table.rows), {})


def show(shown: Shown, view: View) -> None:
    """The slides, where they were asked for; they wait for the exact picture."""
    if not recall(_OPEN):
        return
    if not view.exact:
        st.caption("The slides follow the exact picture …")
        return
    if slides(downscaling_deck(shown), "lab-slides", recall(_OPEN)):
        forget(_OPEN)


def files(shown: Shown, name: str, settings: Mapping[str, Any]) -> None:
    """One page that works offline, PowerPoint, PDF; made when asked for."""
    common: dict[str, Any] = {"on_click": "ignore", "width": "stretch"}
    made: tuple[tuple[str, Callable[[], str | bytes], str, str], ...] = (
        ("One page, HTML", partial(offline_page, shown, settings), "html", "text/html"),
        ("Slides, PPTX", partial(powerpoint, shown), "pptx", _PPTX),
        ("Report, PDF", partial(report, shown), "report.pdf", "application/pdf"),
    )
    for column, (label, make, kind, mime) in zip(st.columns(len(made)), made, strict=True):
        column.download_button(label, make, f"{name}.{kind}", mime, key=f"get-{kind}", **common)
