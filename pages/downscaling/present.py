"""What is on the maps as slides, over the whole window and as files to take away."""

from collections.abc import Mapping

import streamlit as st

from deconditioning.downscaling.checks.scale_up_result import OneScaleUp
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.map_panel import Panel
from deconditioning.metrics.intervals import Trust
from deconditioning.models.spec import ModelSpec
from deconditioning.slides.assembled import assembled
from deconditioning.slides.deck import Shown, downscaling_deck
from pages.downscaling.data import Choice, fields_of
from pages.downscaling.distribution.view import View
from pages.kit.controls import level
from pages.kit.record import page_record
from pages.kit.tools import present
from pages.kit.tools.link import page_address


def shown_now(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, panels: list[Panel], result: Trust | str,
    checked: OneScaleUp | None,
) -> Shown:  # fmt: skip
    """What is on the page, its table of scores among it, as slides and files take it."""
    scores, address = _scores(spec.model.name), page_address(level.in_address())
    fields = fields_of(choice.source.fields)
    return assembled(problem, fields, spec.model, panels, scores, result, checked, address=address)


def _scores(model: str) -> Mapping[str, Mapping[str, float | None]]:
    return next((table.rows for table in page_record().tables.values() if model in table.rows), {})


def show(shown: Shown, view: View) -> None:
    """The slides, where they were asked for; they wait for the exact picture."""
    if view.exact:
        present.show(lambda: downscaling_deck(shown))
    elif present.is_open():
        st.caption("The slides appear after the exact maps …")
