"""Joint draws one after another, in place of the mean map: what the cells determine is the same in all of them."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.draws import COUNT, Draws, posterior_draws
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import MEAN
from deconditioning.figures.flip_book import flip_book
from deconditioning.figures.map_panel import MapScale
from deconditioning.models.spec import ModelSpec
from pages.downscaling import picture
from pages.downscaling.data import Choice
from pages.kit.chart.background import awaited
from pages.kit.chart.flip_book import flip
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain

#: Steps of a drawing, roughly: the bar waits at 95 % where there are more.
_STEPS = 60


class _Steps:
    """Counts the steps of a drawing, so that a bar can show how far it is."""

    def __init__(self, expected: int) -> None:
        self.done, self.expected = 0, expected

    def counted(self, check: Callable[[], None]) -> Callable[[], None]:
        """The same check, counted."""

        def counting() -> None:
            self.done += 1
            check()

        return counting

    def share(self) -> float:
        """Of the steps, those that are done."""
        return min(self.done / self.expected, 0.95)


@st.cache_resource(show_spinner=False, max_entries=32)
def _steps(key: str) -> _Steps:
    """Those of one drawing, whose end is not known beforehand."""
    return _Steps(_STEPS)


def switch(place: DeltaGenerator) -> bool:
    """Whether draws are shown in place of the posterior mean."""
    about = f"{COUNT} fields drawn from the posterior, all equally probable; none of them is the mean"
    return widgets.toggle(f"Show {COUNT} equally plausible fields", key="draws", place=place, help=about)


def show(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: picture.View, maps: picture.Maps
) -> None:  # fmt: skip
    """The flip book in the place of the mean map, and under all maps what it tells; computed once the exact picture is
    there, whose sums it takes."""
    with maps.places[MEAN]:
        if not view.exact:
            st.caption("The draws appear after the exact maps …")
            return
        name = f"draws-{picture.spec_key(choice, spec)}"
        steps = _steps(name)
        work, words = _drawing(choice, problem, spec, steps), f"Drawing {COUNT} fields …"
        result = awaited(name, "draws", work, words, steps.share)
        if result is not None:
            _book(problem, result, maps.scale)
    if result is not None:
        _remark(problem, result)


def _drawing(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, steps: _Steps
) -> Callable[[Callable[[], None]], Draws]:  # fmt: skip
    data, sums, look = picture.inputs_of_draws(choice, problem, spec)

    def work(check: Callable[[], None]) -> Draws:
        counted = steps.counted(check)
        return posterior_draws(spec, data, problem, choice.key, picture.sums_store(), sums, look, check=counted)

    return work


def _book(problem: DownscalingProblem, draws: Draws, scale: MapScale) -> None:
    frames = np.concatenate([draws.mean[None], draws.fields])
    book = flip_book(frames, problem.grid, scale, stride=draws.stride)
    names = ("mean", *(f"draw {number} of {len(draws.fields)}" for number in range(1, len(draws.fields) + 1)))
    st.html('<p class="lab-map-title">Equally plausible fields, one at a time</p>')
    flip(
        book, "draws-book", names=names, alt=f"{COUNT} posterior draws, one at a time, on the colour scale of the maps."
    )


def _remark(problem: DownscalingProblem, draws: Draws) -> None:
    spread, units = float(np.nanmean(draws.fields.std(0, ddof=1))), plain(problem.units)
    held = (
        ""
        if draws.off is None
        else (
            f" Over every measured cell, the average of each draw is within {draws.off:.2g} {units} of the average of "
            "the posterior mean: all draws agree with the same coarse values."
        )
    )
    st.caption(
        "Where the draws stay the same, the field is well known; where they flicker, it is uncertain. At a pixel the "
        f"draws vary by {spread:.2g} {units} (sd, on average).{held} The random numbers stay the same while you move "
        "sliders. The space bar plays and pauses; the arrow keys step through the draws."
    )
