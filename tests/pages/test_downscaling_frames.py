"""Maps along a slider, ahead of the hand: as near to the previews as promised, and of the right slider."""

import json
from collections.abc import Callable

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.datasets.entries import find
from deconditioning.downscaling import interactive
from deconditioning.downscaling.presets import preset
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import starting_spec
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.downscaled_maps import SPREADS
from deconditioning.figures.map_frames import decoded
from deconditioning.figures.style import uncompacted
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.story.whole_map import example
from pages.downscaling.frames.ahead import MOST_ERROR, REACH, frames_along, pictures_along
from pages.downscaling.frames.movable import moved
from pages.downscaling.model import slider_values
from tests.pages.conftest import until
from tests.pages.reading import elements
from tests.pages.sliders import moved as on_slider

MODELS = ("area_to_point_gp", "bag_gp", "cmp", "shrinkage_cmp")
SLIDERS = ("noise", "trust", "s0", "l0", "alpha0", "l1")


def small() -> DownscalingProblem:
    """Six by six large cells of the worked example."""
    entry = find("ukv-645m")
    spec = DownscalingSpec.from_dict(entry.default | {"block": [18, 18], "region": [3, 8, 2, 7]})
    return make_problem(entry.open(), spec)


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    return small()


@pytest.fixture(scope="module")
def spec(problem: DownscalingProblem) -> ModelSpec:
    """At the learned values of the worked example, which a page opens with."""
    settings = DownscaleSettings(model="area_to_point_gp")
    learned = preset({"fields": "ukv-645m"}, example("ukv-645m").spec.to_dict(), settings)
    assert learned is not None
    return learned


@pytest.mark.parametrize("name", MODELS)
def test_a_moved_model_is_the_one_whose_sliders_show_it(problem: DownscalingProblem, name: str) -> None:
    start = starting_spec(problem, DownscaleSettings(model=name))
    bags, moving = problem.data.bags.count, 0
    before = slider_values(start, bags)
    straight = {f"s{i}" for i, term in enumerate(start.kernel.terms) if term.factors[0].kind.slopes_for_scales}
    for key, value in before.items():
        if key in straight:
            continue  # their slopes have the slider
        now = slider_values(moved(start, key, 1.7), bags)
        wanted = before | {key: 1.7 * value}
        if moved(start, key, 1.7) == start:
            continue
        moving += 1
        assert now == pytest.approx(wanted, rel=2e-3), key
    assert moving >= 4
    assert moved(start, "no such slider", 3.0) == start


@pytest.mark.parametrize("key", SLIDERS)
def test_between_the_pictures_it_is_within_two_per_cent_of_the_sd(
    problem: DownscalingProblem, spec: ModelSpec, key: str
) -> None:
    drawn = interactive.picture_or_none(problem, spec)
    found, unit, (every, sd_every) = pictures_along(spec, problem, drawn, key, 0.1)
    assert found.error <= MOST_ERROR and (found.low, found.high) == pytest.approx((0.1 - REACH, 0.1 + REACH))
    store, look = SumsStore(), interactive.sketch(problem)
    shape = problem.grid.shape
    pixels = -(-shape[0] // every) * -(-shape[1] // every)
    for t in np.random.default_rng(7).uniform(found.low, found.high, 6):
        preview = interactive.preview(
            moved(spec, key, 10**t, problem.spec.covariates), problem.data, problem, "k", store, drawn, look
        )
        mean = problem.physical_mean(preview.mean)[::every, ::every].ravel()
        sd = problem.physical_sd(preview.sd())[::sd_every, ::sd_every].ravel()
        shown = unit * found.at(t)
        there = np.isfinite(mean) & np.isfinite(shown[:pixels])
        assert there.sum() > 0.9 * np.isfinite(mean).sum()
        middle = np.nanmedian(sd)
        assert np.abs(shown[:pixels] - mean)[there].max() <= 0.02 * middle
        assert np.nanquantile(np.abs(shown[pixels:] - sd), 0.995) <= 0.02 * middle


def test_the_browser_gets_the_same_numbers(problem: DownscalingProblem, spec: ModelSpec) -> None:
    """Decoded as frames.js does: mean, spread, and the error, which shares the mean's bases."""
    drawn, never = interactive.picture_or_none(problem, spec), lambda: None
    sent = json.loads(frames_along(spec, problem, drawn, "l0", 4.0, 0.5, never))
    table = uncompacted(sent["coefficients"]).reshape(-1, sent["rank"])
    assert (sent["low"], sent["high"]) == (0.5 - REACH, 0.5 + REACH)
    maps = sent["maps"]
    assert maps["map-error"]["bases"] == "map-mean"
    k = len(table) // 3
    t = sent["low"] + k / (len(table) - 1) * (sent["high"] - sent["low"])

    def shown(key: str) -> np.ndarray:
        bases = maps[key]["bases"] if isinstance(maps[key]["bases"], list) else maps["map-mean"]["bases"]
        values = decoded(maps[key]["centre"]) + table[k] @ np.array([decoded(base) for base in bases])
        return values.reshape(maps[key]["rows"], maps[key]["columns"])

    ratio = 10**t / 4.0
    look = interactive.sketch(problem)
    preview = interactive.preview(moved(spec, "l0", ratio), problem.data, problem, "k", SumsStore(), drawn, look)
    every, sd_every = look.mean_at.stride, look.sd_at.stride
    mean, sd = problem.physical_mean(preview.mean), problem.physical_sd(preview.sd())
    middle = np.nanmedian(sd)
    assert np.nanmax(np.abs(shown("map-mean") - mean[::every, ::every])) <= 0.02 * middle
    assert np.nanquantile(np.abs(shown("map-spread") - SPREADS * sd[::sd_every, ::sd_every]), 0.995) <= 0.04 * middle
    error = (mean - problem.truth)[::every, ::every]
    assert np.nanmax(np.abs(shown("map-error") - error)) <= 0.02 * middle


def sent_frames(page: AppTest) -> dict[str, str]:
    """Slider → context of the maps that the page has sent ahead."""
    found = [json.loads(proto.json) for proto in elements(page.main) if getattr(proto, "json", None)]
    lists = [data["frames"] for data in found if isinstance(data, dict) and "frames" in data]
    return {each["key"]: each["context"] for frames in lists for each in frames}


def along(page: AppTest, key: str) -> dict[str, list]:
    """What the chart of that key is told of its place on the sliders."""
    found = [json.loads(proto.json) for proto in elements(page.main) if getattr(proto, "json", None)]
    return next(data["along"] for data in found if isinstance(data, dict) and data.get("key") == key)


def test_the_page_sends_them_once_it_is_exact_and_a_moved_slider_keeps_its_own(
    open_page: Callable[..., AppTest],
) -> None:
    page = open_page("downscaling", rows="18", columns="18")
    until(page, lambda: "l0" in sent_frames(page))
    before, context = along(page, "map-mean"), sent_frames(page)["l0"]
    assert before["l0"][0] == context and along(page, "map-error")["l0"][0] == context
    on_slider(page, "l0", 1.5)
    after = along(page, "map-mean")
    assert after["l0"][1] == pytest.approx(1.5 * before["l0"][1], rel=0.1)
    assert after["l0"][0] == context == sent_frames(page)["l0"] and after["noise"][0] != before["noise"][0]
    on_slider(page, "s0", 2.0)  # what was sent holds no more
    assert along(page, "map-mean")["l0"][0] != context
    assert sent_frames(page).get("l0") != context and not page.exception
