"""The maps along each essential slider, computed once the exact picture is there and sent to the browser."""

import math

import numpy as np
import streamlit as st

from deconditioning.bag_sums.by_term import PartedPicture
from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.downscaling import interactive
from deconditioning.downscaling.frames import Family, family
from deconditioning.errors import Check, InputError, never
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.figures.downscaled_maps import ERROR, MEAN, SPREAD, SPREADS
from deconditioning.figures.map_frames import MapFamily, map_frames
from deconditioning.figures.maps import thinned
from deconditioning.models.spec import ModelSpec
from pages.downscaling.data import Choice
from pages.downscaling.frames.along import Standing
from pages.downscaling.frames.movable import moved
from pages.downscaling.picture import FRAMES, View, picture_of
from pages.kit.chart.background import get_background, session_lane
from pages.kit.chart.frames import Frames, frames_text, send_frames
from pages.kit.controls.essential import essential

Drawn = Picture | PartedPicture | None
#: Windows of a slider, in decades: their middles lie so far apart, and their ends so far from the middle.
STEP, REACH = 0.5, 0.75
#: Estimated error, as a share of the sd, beyond which maps are not blended.
MOST_ERROR = 0.02


def pictures_along(
    spec: ModelSpec, problem: DownscalingProblem, drawn: Drawn, key: str, shift: float, check: Check = never
) -> tuple[Family, float, tuple[int, int]]:
    """Mean and sd at log10 ratios of the slider's value from ``shift`` − `REACH` to ``shift`` + `REACH`.

    Each picture is the mean, then `SPREADS` times the sd, at the pixels of a preview, over a unit, which is returned
    with the family: the median sd. Returned last: every how many pixels mean and sd are.
    """
    store, look = SumsStore(), interactive.sketch(problem)
    every, sd_every = look.mean_at.stride, look.sd_at.stride

    def preview(t: float) -> tuple[np.ndarray, np.ndarray]:
        at = moved(spec, key, 10.0**t, problem.spec.covariates)
        result = interactive.preview(at, problem.data, problem, key, store, drawn, look)
        mean, sd = problem.physical_mean(result.mean), SPREADS * problem.physical_sd(result.sd())
        return thinned(mean, every), thinned(sd, sd_every)

    unit = float(np.nanmedian(preview(shift)[1])) / SPREADS or 1.0

    def picture(t: float) -> np.ndarray:
        mean, spread = preview(t)
        return np.concatenate([mean.ravel() / unit, spread.ravel() / (SPREADS * unit)])

    rounded = math.prod(-(-n // sd_every) for n in problem.grid.shape)
    found = family(picture, shift - REACH, shift + REACH, rounded=rounded, check=check)
    return found, unit, (every, sd_every)


def frames_along(
    spec: ModelSpec, problem: DownscalingProblem, drawn: Drawn, key: str, value: float, middle: float, check: Check,
) -> str:  # fmt: skip
    """The same for the browser, at log10 values round ``middle``; empty where no curve holds."""
    found, unit, (every, sd_every) = pictures_along(spec, problem, drawn, key, middle - math.log10(value), check)
    if found.error > MOST_ERROR:
        return ""
    grid = problem.grid
    shape, coarse = ([-(-n // each) for n in grid.shape] for each in (every, sd_every))
    pixels = math.prod(shape)
    centre, bases = unit * found.centre, unit * found.bases
    mean, means = centre[:pixels].reshape(shape), bases[:, :pixels].reshape(-1, *shape)
    maps = {
        f"map-{MEAN}": MapFamily(mean, means, grid, every),
        f"map-{SPREAD}": MapFamily(
            SPREADS * centre[pixels:].reshape(coarse), SPREADS * bases[:, pixels:].reshape(-1, *coarse), grid, sd_every
        ),
    }
    if problem.truth is not None:
        maps[f"map-{ERROR}"] = MapFamily(mean - thinned(problem.truth, every), means, grid, every)
    return frames_text(map_frames(maps, middle - REACH, middle + REACH, found.coefficients))


def show(choice: Choice, problem: DownscalingProblem, spec: ModelSpec, view: View, stands: Standing) -> None:
    """Send what is known along the essential sliders; under an exact picture the rest is computed, one by one."""
    if not spec.model.reads(problem.data):
        return
    wanted = {key: _job(stands, key) for key in stands.values if essential(key) is not None}

    @st.fragment
    def part() -> None:
        texts = {key: _text(name) for key, name in wanted.items()}
        missing = next((key for key, text in texts.items() if text is None), None)
        if view.exact and missing is not None:
            _request(choice, problem, spec, stands, missing, wanted[missing])
        known = [Frames(key, stands.contexts[key], text) for key, text in texts.items() if text]
        send_frames(known, more=view.exact and missing is not None)

    part()


def _middle(value: float) -> float:
    return STEP * round(math.log10(value) / STEP)


def _job(stands: Standing, key: str) -> str:
    return f"frames {stands.contexts[key]} {key} {_middle(stands.values[key]):g}"


def _text(name: str) -> str | None:
    """What a job has made; empty where it failed, None where it is not done."""
    job = get_background().known(name)
    if job is None or not job.done():
        return None
    error = job.exception()
    if error is None:
        return str(job.result())
    return "" if isinstance(error, InputError) else None


def _request(
    choice: Choice, problem: DownscalingProblem, spec: ModelSpec, stands: Standing, key: str, name: str
) -> None:
    value, drawn = stands.values[key], picture_of(choice, problem, spec)

    def work(check: Check) -> str:
        return frames_along(spec, problem, drawn, key, value, _middle(value), check)

    get_background().request(name, session_lane(FRAMES), work)
