"""Joint draws one after another, in place of the mean map: what the cells determine is the same in all of them."""

from collections.abc import Callable

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.downscaling.drawn.draw_spectra import DrawSpectra, draw_spectra
from deconditioning.downscaling.drawn.effective_resolution import at_resolution
from deconditioning.downscaling.draws import COUNT, Draws, posterior_draws
from deconditioning.fields.problem.coordinates import steps_in_km
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import MapKey
from deconditioning.figures.flip_book import flip_book
from deconditioning.figures.map_panel import MapScale
from deconditioning.figures.scores import power_spectra
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec
from deconditioning.wording import number
from pages.downscaling import picture
from pages.downscaling.data import Choice
from pages.downscaling.distribution.view import View
from pages.kit.chart.background import awaited
from pages.kit.chart.flip_book import flip
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.controls import widgets
from pages.kit.layout.escaping import plain
from pages.kit.layout.theme import is_dark

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
    return widgets.toggle("Show equally plausible fields", key="draws", place=place)


def show(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, maps: picture.Maps
) -> None:  # fmt: skip
    """The flip book in the place of the mean map, and under all maps what it tells; computed once the exact picture is
    there, whose sums it takes."""
    kilometres = resolution(problem)
    with maps.places[MapKey.MEAN]:
        if not view.exact:
            st.caption("The draws appear after the exact maps …")
            return
        name = f"draws-{picture.spec_key(choice, spec)}"
        steps = _steps(name)
        work, words = _drawing(choice, problem, spec, steps), f"Drawing {COUNT} fields …"
        made = awaited(name, "draws", work, words, steps.share)
        result, spectra = (None, None)
        if made is not None:
            draws = made.around(problem, view.mean)
            result, spectra = _shown(name, kilometres, problem, draws, view.predictive)
        if result is not None:
            _book(problem, result, maps.scale)
    if result is not None:
        _remark(problem, result)
    if spectra is not None:
        _spectra(problem, spectra)


def resolution(problem: DownscalingProblem) -> float | None:
    """The effective resolution in km that a person states for the draws; None for that of the model."""
    step = max(steps_in_km(problem.grid))
    stated = widgets.number_input(
        "Effective resolution (km); 0: that of the model", 0.0, float(f"{100 * step:.2g}"), 0.0, key="effective",
        step=float(f"{step:.1g}"),
        help="The wavelength below which the true field is known to be smooth: a fluctuation of that wavelength keeps "
        "half of its power in the draws, shorter ones keep less. Models and analyses are smooth below four to eight "
        f"steps of their grid; a step of this one is {number(step, 2)} km. This affects the draws, their sd and the "
        "downloaded file.",
    )  # fmt: skip
    return float(stated) or None


@st.cache_resource(show_spinner=False, max_entries=8)
def _shown(
    key: str, kilometres: float | None, _problem: DownscalingProblem, _draws: Draws, _predictive: Predictive
) -> tuple[Draws, DrawSpectra | None]:
    """The draws of that ``key`` at an effective resolution, and their power spectra."""
    if kilometres is None:
        return _draws, draw_spectra(_problem, _draws, _predictive)
    shown = at_resolution(_problem, _draws, kilometres)
    return shown, draw_spectra(_problem, shown)


def _spectra(problem: DownscalingProblem, spectra: DrawSpectra) -> None:
    """How rough the draws are at each wavelength, beside the mean and the truth."""
    st.caption(spectra.sentence)
    with st.expander("Power spectra of the draws"):
        figure = power_spectra(spectra.wavenumber, spectra.power, units=plain(problem.units), dark=is_dark())
        plotly_live(figure, "draw-spectra", later=True)
        st.markdown(
            "Power against wavenumber, after a plane is subtracted and a window applied. The coarse cells determine "
            "the field at wavelengths above twice the cell size; at shorter wavelengths the draws extrapolate the "
            "roughness that the model learned between the cells. If you state an effective resolution, shorter "
            "wavelengths are damped."
        )


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
            f" Over every measured cell, the average of each draw is within {number(draws.off, 2)} {units} of the "
            "average of the posterior mean: all draws agree with the same coarse values."
        )
    )
    st.caption(
        "Where the draws stay the same, the field is well known; where they flicker, it is uncertain. At a pixel the "
        f"draws vary by {number(spread, 2)} {units} (sd, on average).{held} The random numbers stay the same while you "
        "move sliders. The space bar plays and pauses; the arrow keys step through the draws."
    )
