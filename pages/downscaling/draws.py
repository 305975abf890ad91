"""Joint draws one after another: what the cells determine is the same in all of them."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from deconditioning.downscaling.draws import COUNT, Draws, posterior_draws
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.flip_book import flip_book
from deconditioning.figures.map_panel import MapScale
from deconditioning.models.spec import ModelSpec
from pages.downscaling import picture
from pages.downscaling.data import Choice
from pages.kit.chart.background import awaited
from pages.kit.chart.flip_book import flip
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain


def show(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: picture.View, scale: MapScale) -> None:
    """The switch, and the flip book under it; computed once the exact picture is there, whose sums it takes."""
    about = f"{COUNT} fields drawn from the posterior, all equally probable; none of them is the mean"
    if not widgets.toggle(f"Show {COUNT} equally plausible fields", key="draws", help=about):
        return
    if not view.exact:
        st.caption("The draws appear after the exact maps …")
        return
    result = awaited(f"draws-{picture.spec_key(choice, spec)}", "draws", _drawing(choice, problem, spec), "Drawing …")
    if result is not None:
        _book(problem, result, scale)


def _drawing(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> Callable[[Callable[[], None]], Draws]:
    data, sums, look = picture.inputs_of_draws(choice, problem, spec)

    def work(check: Callable[[], None]) -> Draws:
        return posterior_draws(spec, data, problem, choice.key, picture.sums_store(), sums, look, check=check)

    return work


def _book(problem: DownscalingProblem, draws: Draws, scale: MapScale) -> None:
    frames = np.concatenate([draws.mean[None], draws.fields])
    book = flip_book(frames, problem.grid, scale, stride=draws.stride)
    names = ("mean", *(f"draw {number} of {len(draws.fields)}" for number in range(1, len(draws.fields) + 1)))
    spread, units = float(np.nanmean(draws.fields.std(0, ddof=1))), plain(problem.units)
    flip(
        book, "draws-book", names=names, alt=f"{COUNT} posterior draws, one at a time, on the colour scale of the maps."
    )
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
