"""The maps along each essential slider, computed once the exact picture is there and sent to the browser."""

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.downscaling import interactive
from deconditioning.downscaling.frames import TOLERANCE, Family, family, sampled
from deconditioning.downscaling.interactive import Later
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.errors import Cancelled, Check, InputError, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import SPREADS, MapKey
from deconditioning.figures.map_frames import MapFamily, map_frames
from deconditioning.figures.maps import thinned
from deconditioning.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.downscaling.distribution.view import View, mean_of
from pages.downscaling.frames.along import SliderPosition
from pages.downscaling.frames.movable import moved
from pages.downscaling.picture import FRAMES, picture_of
from pages.kit.chart.background import get_background, session_lane
from pages.kit.chart.frames import Frames, frames_text, send_frames
from pages.kit.record import page_record

Drawn = Picture | PartedPicture | None
#: Windows of a slider, in decades: their middles lie so far apart, and their ends so far from the middle.
STEP, REACH = 0.5, 0.75
#: Decades each way round the slider's value that are tried where a whole window holds models that have no picture, or
#: too many different ones.
_NEAR = 0.3
#: Estimated error, as a share of the sd, beyond which maps are not blended; seconds of computing that they are worth.
MOST_ERROR, _MOST_S = 0.02, 40.0
_SUMS_BYTES = 400_000_000


@dataclass(frozen=True)
class Pair:
    """Families of the mean and the sd at the pixels of a preview's mean and sd, every so many-th each way; ``unit`` is
    the median sd."""

    mean: Family
    spread: Family
    unit: float
    every: int
    sd_every: int


def pictures_along(
    spec: ModelSpec, problem: DownscalingProblem, drawn: Drawn, key: str, low: float, high: float,
    check: Check = never,
) -> Pair:  # fmt: skip
    """Mean and sd where the slider shows its value times 10 to the power of ``low`` to ``high``."""
    store, look = SumsStore(_SUMS_BYTES), interactive.sketch(problem)
    every, sd_every = look.mean_at.stride, look.sd_at.stride

    def preview(t: float) -> tuple[Callable[[], np.ndarray], Callable[[], np.ndarray]]:
        at = moved(spec, key, 10.0**t, problem.spec.covariates)
        result = interactive.preview(at, problem.joint_data, problem, key, store, drawn, look)
        predictive = Later(lambda: physical_map(problem, [(1.0, result.mean, result.sd())], result.cells))
        mean = mean_of(problem, result.mean, predictive)
        return (lambda: thinned(mean(), every).ravel(), lambda: thinned(predictive().sd, sd_every).ravel())

    unit = float(np.nanmedian(preview((low + high) / 2)[1]())) or 1.0
    means, sds = sampled(preview, low, high, tolerance=TOLERANCE * unit, check=check)
    around = min(max(0.0, low), high)
    mean, spread = (family(*part, around, tolerance=TOLERANCE * unit) for part in (means, sds))
    return Pair(mean, spread, unit, every, sd_every)


def frames_along(
    spec: ModelSpec, problem: DownscalingProblem, drawn: Drawn, key: str, at: float, ends: tuple[float, float],
    check: Check, spread: bool = True,
) -> str:  # fmt: skip
    """The same for the browser, between these ``ends`` of log10 of the slider's value, which is ``at`` now; without the
    ``spread`` where its map shows something else."""
    pictures = pictures_along(spec, problem, drawn, key, ends[0] - at, ends[1] - at, check)
    grid, maps = problem.grid, {}

    def map_of(part: Family, every: int, factor: float) -> MapFamily:
        shape = [-(-n // every) for n in grid.shape]
        centre, bases = factor * part.centre.reshape(shape), factor * part.bases.reshape(-1, *shape)
        return MapFamily(centre, bases, part.coefficients, part.low + at, part.high + at, grid, every)

    if pictures.mean.error <= MOST_ERROR * pictures.unit:
        mean = maps[f"map-{MapKey.MEAN}"] = map_of(pictures.mean, pictures.every, 1.0)
        if problem.truth is not None:
            maps[f"map-{MapKey.ERROR}"] = replace(mean, centre=mean.centre - thinned(problem.truth, pictures.every))
    if spread and pictures.spread.error <= MOST_ERROR * pictures.unit:
        maps[f"map-{MapKey.SPREAD}"] = map_of(pictures.spread, pictures.sd_every, SPREADS)
    return frames_text(map_frames(maps)) if maps else ""


def show(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, position: SliderPosition, *, spread: bool
) -> None:
    """Send what is known along the essential sliders; under an exact picture the rest is computed, one by one.

    ``spread``: the map of uncertainty shows the sd.
    """
    if not spec.model.reads(problem.data):
        return
    jobs = {key: _job(position, key, spread) for key in page_record().essentials if key in position.values}

    @st.fragment
    def part() -> None:
        texts = {key: _text(name) for key, name in jobs.items()}
        missing = next((key for key, text in texts.items() if text is None), None)
        if view.exact and missing is not None:
            _request(choice, problem, spec, position, missing, jobs[missing], spread)
        known = [Frames(key, position.contexts[key], text) for key, text in texts.items() if text]
        send_frames(known, more=view.exact and missing is not None)

    part()


def _middle(value: float) -> float:
    return STEP * round(math.log10(value) / STEP)


def _job(position: SliderPosition, key: str, spread: bool) -> str:
    return f"frames {position.contexts[key]} {key} {_middle(position.values[key]):g}{'' if spread else ' mean'}"


def _text(name: str) -> str | None:
    """What a job has made; empty where it failed, None where it is not done."""
    job = get_background().known(name)
    if job is None or not job.done():
        return None
    error = job.exception()
    if error is None:
        return str(job.result())
    return None if isinstance(error, Cancelled) else ""


def _request(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, position: SliderPosition, key: str, name: str,
    spread: bool,
) -> None:  # fmt: skip
    at, (least, most), drawn = math.log10(position.values[key]), position.ends[key], picture_of(choice, problem, spec)
    begun: list[float] = []

    def bounded(check: Check) -> None:
        check()
        if time.monotonic() - begun[0] > _MOST_S:
            raise InputError(
                "It takes too long to compute maps in advance: the page computes the map of each value "
                "when it is needed."
            )

    def work(check: Check) -> str:
        begun.append(time.monotonic())
        for middle, span in ((_middle(position.values[key]), REACH), (at, _NEAR)):
            ends = max(middle - span, least), min(middle + span, most)
            with contextlib.suppress(InputError):  # too large: a nearer stretch is tried
                if text := frames_along(spec, problem, drawn, key, at, ends, lambda: bounded(check), spread):
                    return text
        return ""

    get_background().request(name, session_lane(FRAMES), work, gives_way=True)
