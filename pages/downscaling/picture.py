"""The maps: a picture at once, the exact one as soon as it is there, on scales that do not jump."""

import contextlib
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.downscaling import interactive
from deconditioning.downscaling.further_sources.posterior import SourcePosterior
from deconditioning.downscaling.further_sources.report import best_pixel, left_out_values
from deconditioning.downscaling.interactive import Later
from deconditioning.downscaling.prediction import latent_sd, matched_data
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.errors import InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import (
    LargestValues,
    MapKey,
    all_panels,
    chosen_cell_marks,
    field_scale,
    footprint_marks,
    keys_of,
    largest_values,
    mean_panel,
    named_regions,
)
from deconditioning.figures.map_panel import MapScale, Panel
from deconditioning.figures.maps import add_marks, field_map
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from deconditioning.wording import number
from pages.downscaling import cell_selection
from pages.downscaling.data import Choice, problem_of
from pages.downscaling.distribution.view import View, mean_of
from pages.downscaling.frames.along import SliderPosition, slider_position
from pages.downscaling.model import as_learned, begin, hyperparameters
from pages.downscaling.numbers import rounding
from pages.kit.chart.background import get_background, redraw_when, session_lane
from pages.kit.chart.picture_first import picture_first
from pages.kit.chart.plotly_live import plotly_live
from pages.kit.chart.prepared import Prepared, prepare
from pages.kit.layout.escaping import plain, sentence_of
from pages.kit.layout.page_layout import refusal
from pages.kit.layout.theme import is_dark
from pages.kit.session import Key

_GROUP = "downscaling-maps"
TRUST = "trust"
#: The largest difference of a preview's mean that is not worth a sentence, in mean sds.
_NOTABLE = 0.1
#: The lane of the maps that are computed ahead of a slider (`frames.ahead`).
FRAMES = "frames"
_Along = Mapping[str, tuple[str, float]]
_Shown = tuple[ModelSpec, "View", SliderPosition]


@st.cache_resource(show_spinner=False)
def sums_store() -> SumsStore:
    """Bag sums kept between sliders, shared by all sessions."""
    return SumsStore()


@st.cache_resource(show_spinner=False, max_entries=4)
def _picture(key: str, _problem: DownscalingProblem, _spec: ModelSpec) -> Picture | PartedPicture | None:
    return interactive.picture_or_none(_problem, _spec)


@st.cache_resource(show_spinner=False, max_entries=4)
def _sketch(key: str, _problem: DownscalingProblem) -> interactive.Sketch:
    return interactive.sketch(_problem)


@st.cache_resource(show_spinner="Pseudo-targets for unmatched bags …", max_entries=8)
def _matched(key: str, ell: str, _problem: DownscalingProblem, _spec: ModelSpec) -> IndirectData:
    return matched_data(_problem, _spec)


def data_for(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> IndirectData:
    """The data the model can use; pseudo-targets are computed once per mediator kernel."""
    if spec.model.reads(problem.data):
        return matched_data(problem, spec)
    ell = json.dumps(spec.mediator_kernel.to_dict()) if spec.mediator_kernel else ""
    return _matched(choice.key, ell, problem, spec)


def picture_of(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> Picture | PartedPicture | None:
    """The picture whose sums are kept term by term; None where that is too large."""
    return _picture(interactive.sums_key(choice.key, spec), problem, spec)


def spec_key(choice: Choice, spec: ModelSpec) -> str:
    """One name for a problem and a model at given hyperparameters."""
    text = choice.key + json.dumps(spec.to_dict(), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _exact_job(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> "Future[View]":
    """The exact picture, computed in the background; asking again gives the same job."""
    data, picture, store = data_for(choice, problem, spec), picture_of(choice, problem, spec), sums_store()

    def work(check: Callable[[], None]) -> View:
        result = interactive.exact(spec, data, problem, choice.key, store, picture, check)
        predictive = physical_map(problem, result.parts, result.cells)
        latent = latent_sd(problem, spec, result)
        scale = None if result.scale is None else problem.on_grid(result.scale)
        more: dict[str, Any] = {"left_out": result.left_out, "sd_latent": latent, "scale": scale,
                                "sources": result.sources}  # fmt: skip
        moments = Later(lambda: predictive.mean), Later(lambda: predictive)
        return View(*moments, result.notes, result.evidence, result.jitter, exact=True, **more)

    return get_background().request(spec_key(choice, spec), session_lane("exact"), work)


def quick_view(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> View:
    """The preview at the sliders' own settings."""
    data = data_for(choice, problem, spec)
    look = _sketch(choice.key, problem)
    picture = picture_of(choice, problem, spec)
    preview = interactive.preview(spec, data, problem, choice.key, sums_store(), picture, look)
    predictive = Later(lambda: physical_map(problem, [(1.0, preview.mean, preview.sd())], preview.cells))
    steps: dict[str, Any] = {"every": look.mean_at.stride, "sd_every": look.sd_at.stride}
    mean = mean_of(problem, preview.mean, predictive)
    return View(mean, predictive, preview.approximations, None, 0.0, exact=False, **steps)


def inputs_of_draws(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec
) -> tuple[IndirectData, Picture | PartedPicture | None, interactive.Sketch]:
    """What joint draws are made from: the model's data, the picture of its sums, the pixels of a preview."""
    return data_for(choice, problem, spec), picture_of(choice, problem, spec), _sketch(choice.key, problem)


def _current_view(choice: Choice, problem: DownscalingProblem, spec: ModelSpec) -> View:
    """The exact picture where it is there already, else a preview; the exact one is begun once that is drawn."""
    key = spec_key(choice, spec)
    st.session_state[Key.SHOWN_PICTURE] = key
    job = get_background().known(key)
    if job is not None and job.done() and job.exception() is None:
        return job.result()
    for lane in ("exact", FRAMES):
        get_background().drop(session_lane(lane), unless=key)
    name, view = st.session_state.get(Key.PREVIEW, ("", None))
    if name != key:
        view = quick_view(choice, problem, spec)
        st.session_state[Key.PREVIEW] = (key, view)
    return view


def await_exact(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, shown: View) -> None:
    """Under a preview: says so, and redraws the page when the exact picture is there."""
    key = spec_key(choice, spec)
    if shown.exact:
        name, preview = st.session_state.pop(Key.PREVIEW, ("", None))
        sentence = "Exact: the posterior of all pixels, no longer the preview."
        if name == key:
            (mean, sd), units = _differences(preview, shown), plain(problem.units)
            if mean > _NOTABLE * np.nanmean(shown.sd):
                sentence += (
                    f" The preview differed from it by at most {number(mean, 2)} {units} in the mean and "
                    f"on average by {number(sd, 2)} {units} in the sd."
                )
        for more in filter(None, (sentence, *map(sentence_of, shown.approximations), rounding(choice.key, problem))):
            st.caption(more)
        return

    def moved() -> bool:
        return st.session_state.get(Key.SHOWN_PICTURE) != key

    def ready() -> bool:
        return not moved() and (job := _exact_job(choice, problem, spec)).done() and job.exception() is None

    def waiting() -> None:
        job = get_background().known(key)
        if moved():
            st.caption("The sliders have moved …")
        elif job is not None and job.done() and isinstance(error := job.exception(), InputError):
            refusal(error)
        else:
            st.caption(_preview_words(shown.approximations))

    redraw_when(ready, waiting, every=0.4)


#: What the library says of a preview that computes mean and sd at every pixel from exact sums.
_WHOLE = "preview: mean exact at every pixel, sd at every pixel"


def _preview_words(approximations: Sequence[str]) -> str:
    """What a preview leaves out, if anything."""
    said = "Preview" if tuple(approximations) == (_WHOLE,) else f"P{sentence_of('; '.join(approximations))[1:]}"
    return f"{said}. The exact maps follow."


def _differences(preview: View, exact: View) -> tuple[float, float]:
    """Largest difference of the means and average one of the sds, over the pixels that the preview computed."""
    coarse = (slice(None, None, preview.sd_every),) * 2
    largest = np.nanmax(np.abs(preview.thin(preview.mean) - preview.thin(exact.mean)))
    return float(largest), float(np.nanmean(np.abs(preview.sd[coarse] - exact.sd[coarse])))


@dataclass(frozen=True)
class Maps:
    """What the maps of a problem share: their places on the page, by key, the scale of the field, and the places of the
    sources whose marks are ``shown``, the stations kept for testing behind all of them."""

    places: dict[str, DeltaGenerator]
    scale: MapScale
    problem: DownscalingProblem
    shown: frozenset[int]

    @classmethod
    def of(cls, problem: DownscalingProblem, shown: frozenset[int] = frozenset()) -> "Maps":
        """Places in rows of three (of two without a truth), the last one for what the intervals held."""
        keys = list(keys_of(problem))
        keys.insert(keys.index(MapKey.MEAN) + 1, TRUST)  # in a narrow window below the mean, in a wide one last
        with st.container(key="lab-maps-three" if MapKey.TRUTH in keys else "lab-maps-two"):
            places = {key: st.container(key=f"lab-map-{key}") for key in keys}
        return cls(places, field_scale(problem), problem, shown)

    def draw(self, panel: Panel, along: _Along, every: int = 1, sources: SourcePosterior | None = None) -> None:
        """One map in its place; ``along`` says where it stands on each slider (`frames.along`), ``sources`` is what the
        posterior says of stations and other further sources."""
        figure, problem = field_map(panel, every=every, **_look(is_dark())), self.problem
        best = None if sources is None else best_pixel(problem, sources.explained)
        left_out = [] if sources is None else left_out_values(problem, sources)
        add_marks(figure, footprint_marks(problem, panel.key, self.scale, best, left_out, self.shown))
        self.show(panel.key, figure, along)

    def show(self, key: str, figure: Any, along: _Along | None = None) -> None:
        """A figure in the place of that key; what is pointed at on it is looked into, or done by hand."""
        with self.places[key] if key != MapKey.MEAN else contextlib.nullcontext():
            point = plotly_live(
                figure, f"map-{key}", group=_GROUP, clickable=cell_selection.mode() == "look", later=key != MapKey.MEAN,
                on_click=_whole_page, cells=cell_selection.lattice(self.problem, key == MapKey.OBSERVED),
                on_cells=partial(_by_hand, self.problem, key), along=along,
            )  # fmt: skip
        if _is_new(key, point):
            st.session_state[Key.SHOWN_CELL] = point


def _look(dark: bool) -> dict[str, Any]:
    return {"height": 430, "dark": dark}


@st.cache_resource(show_spinner=False, max_entries=8)
def _observed_maps(
    key: str, dark: bool, shown: frozenset[int], _panels: list[Panel], _problem: DownscalingProblem
) -> dict[str, Prepared]:
    """The maps that no slider changes, written out: the coarse observation and the truth, where it is known."""
    observed_panels = [panel for panel in _panels if panel.key in (MapKey.OBSERVED, MapKey.TRUTH)]
    figures = {panel.key: field_map(panel, **_look(dark)) for panel in observed_panels}
    observed = next(panel for panel in observed_panels if panel.key == MapKey.OBSERVED)
    footprints = footprint_marks(_problem, MapKey.OBSERVED, observed.scale, shown=shown)
    add_marks(figures[MapKey.OBSERVED], footprints + chosen_cell_marks(_problem))
    figures[MapKey.OBSERVED]["layout"]["meta"] |= named_regions(_problem)
    return {name: prepare(figure) for name, figure in figures.items()}


@st.cache_resource(show_spinner=False, max_entries=32)
def _usual(key: str, _problem: DownscalingProblem, _view: Callable[[], View]) -> LargestValues:
    """How far spread and error reach at the values where the sliders begin."""
    view = _view()
    return largest_values(_problem, view.mean, view.sd, every=view.every, sd_every=view.sd_every)


def _whole_page() -> None:
    """A click concerns all of the page, also one into the fragment of the posterior mean."""
    st.rerun()


def _by_hand(problem: DownscalingProblem, key: str, events: list[list[float]]) -> None:
    """What was pointed at on the map of that key concerns all of the page, also where that is a fragment."""
    cell_selection.pointed(problem, events)
    if key == MapKey.MEAN:
        st.rerun()


def posterior(choice: Choice, problem: DownscalingProblem, start: ModelSpec, maps: Maps) -> _Shown:
    """The sliders and the posterior mean, which is what a moved slider is about: drawn before the maps beside it."""

    def draw() -> _Shown:
        with st.sidebar:
            single = hyperparameters(problem, start)
        spec = as_learned(problem, single)
        view, position = _current_view(choice, problem, spec), slider_position(choice, problem, start, single)
        maps.draw(mean_panel(problem, maps.scale, view.mean), position.by_slider(), view.every, view.sources)
        return spec, view, position

    with maps.places[MapKey.MEAN]:
        return picture_first(draw)


def panels_of(
    choice: Choice, settings: DownscaleSettings, start: ModelSpec, spec: ModelSpec, view: View, maps: Maps
) -> list[Panel]:
    """Every map of the view, as it is drawn here and printed."""
    problem = maps.problem
    usual = _usual_reaches(choice, settings, start, view if start == spec else None, problem)
    limits = largest_values(problem, view.mean, view.sd, every=view.every, sd_every=view.sd_every)
    return all_panels(problem, maps.scale, view.mean, view.sd, limits.steady(usual))


def _usual_reaches(
    choice: Choice, settings: DownscaleSettings, start: ModelSpec, view: View | None, problem: DownscalingProblem
) -> LargestValues:
    """How far spread and error reach where the sliders begin, given the ``view`` there if that is what is shown.

    Cells hidden or revealed by hand leave that as it is, so that the colours of what they change stay comparable.
    """
    if choice.as_drawn != choice:
        with contextlib.suppress(InputError):  # the cells that the seed draws may make no problem
            choice = choice.as_drawn
            problem, view = problem_of(choice), None
            start = begin(choice, problem, settings)
    shown = view
    return _usual(spec_key(choice, start), problem, lambda: shown or quick_view(choice, problem, start))


def draw_maps(choice: Choice, panels: list[Panel], view: View, maps: Maps, along: _Along) -> tuple[float, float] | None:
    """Coarse observation, truth, 2 sd and error; returns the point that was clicked."""
    for key, figure in _observed_maps(choice.key, is_dark(), maps.shown, panels, maps.problem).items():
        maps.show(key, figure)
    every: dict[str, int] = {MapKey.SPREAD: view.sd_every, MapKey.ERROR: view.every}
    for panel in panels:
        if panel.key in every:
            maps.draw(panel, along, every[panel.key], view.sources)
    return st.session_state.get(Key.SHOWN_CELL)


def _is_new(name: str, point: tuple[float, float] | None) -> bool:
    before = st.session_state.get(Key.CLICK.of(name))
    st.session_state[Key.CLICK.of(name)] = point
    return point is not None and point != before
