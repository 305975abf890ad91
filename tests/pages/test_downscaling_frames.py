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
from pages.downscaling.frames.ahead import MOST_ERROR, frames_along, pictures_along
from pages.downscaling.frames.movable import moved
from pages.downscaling.model import slider_values
from tests.pages.conftest import FEW_CELLS, until
from tests.pages.reading import elements
from tests.pages.sliders import moved as on_slider

MODELS = ("area_to_point_gp", "bag_gp", "cmp", "shrinkage_cmp")
#: Log10 ratios of the sliders' values; α ends at 2, and at tiny noise a field much smoother is singular.
SLIDERS = {
    "noise": (-0.6, 0.8), "trust": (-0.8, 0.6), "s0": (-0.7, 0.7), "l0": (-0.8, 0.2), "alpha0": (-0.4, 0.1),
    "l1": (-0.4, 0.6),
}  # fmt: skip


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
    low, high = SLIDERS[key]
    found = pictures_along(spec, problem, drawn, key, low, high)
    assert max(found.mean.error, found.spread.error) <= MOST_ERROR * found.unit
    assert (found.mean.low, found.mean.high) == (low, high)
    assert found.spread.low <= 0 <= found.spread.high and found.spread.high - found.spread.low > 0.25 * (high - low)
    store, look = SumsStore(), interactive.sketch(problem)
    for t in np.random.default_rng(7).uniform(low, high, 8):
        now = moved(spec, key, 10**t, problem.spec.covariates)
        preview = interactive.preview(now, problem.data, problem, "k", store, drawn, look)
        mean, sd = problem.physical_mean(preview.mean), problem.physical_sd(preview.sd())
        unit = np.nanmedian(sd)
        off = found.mean.at(t) - mean[:: found.every, :: found.every].ravel()
        assert np.isfinite(off).mean() > 0.9 and np.nanmax(np.abs(off)) <= 0.02 * unit, t
        if found.spread.low <= t <= found.spread.high:
            off = found.spread.at(t) - sd[:: found.sd_every, :: found.sd_every].ravel()
            assert np.nanquantile(np.abs(off), 0.995) <= 0.02 * unit, t


def test_the_browser_gets_the_same_numbers(problem: DownscalingProblem, spec: ModelSpec) -> None:
    """Decoded as frames.js does: mean, spread, and the error, which shares the mean's bases."""
    drawn, never = interactive.picture_or_none(problem, spec), lambda: None
    maps = json.loads(frames_along(spec, problem, drawn, "l0", 0.6, (0.1, 0.8), never))
    assert (maps["map-mean"]["low"], maps["map-mean"]["high"]) == pytest.approx((0.1, 0.8))
    assert maps["map-error"]["bases"] == "map-mean"
    t = 0.1 + 0.6 * 0.7

    def shown(key: str) -> np.ndarray:
        bases = maps[key]["bases"] if isinstance(maps[key]["bases"], list) else maps["map-mean"]["bases"]
        table = uncompacted(maps[key]["coefficients"]).reshape(-1, len(bases))
        low, high = maps[key]["low"], maps[key]["high"]
        assert low <= t <= high
        weights = table[round((t - low) / (high - low) * (len(table) - 1))]
        values = decoded(maps[key]["centre"]) + weights @ np.array([decoded(base) for base in bases])
        return values.reshape(maps[key]["rows"], maps[key]["columns"])

    ratio = 10 ** (t - 0.6)
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
    page = open_page("downscaling", **FEW_CELLS)
    until(page, lambda: "l0" in sent_frames(page), ahead=True)
    before, context = along(page, "map-mean"), sent_frames(page)["l0"]
    assert before["l0"][0] == context and along(page, "map-error")["l0"][0] == context
    on_slider(page, "l0", 0.8)
    after = along(page, "map-mean")
    assert after["l0"][1] == pytest.approx(0.8 * before["l0"][1], rel=0.1)
    assert after["l0"][0] == context == sent_frames(page)["l0"] and after["noise"][0] != before["noise"][0]
    on_slider(page, "s0", 2.0)  # what was sent holds no more
    assert along(page, "map-mean")["l0"][0] != context
    assert sent_frames(page).get("l0") != context and not page.exception
