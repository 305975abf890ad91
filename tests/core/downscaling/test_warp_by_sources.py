"""A warp chosen by further sources too: their left-out values against dense algebra, and what the choice is worth."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from scipy.stats import norm

from deconditioning.downscaling.run import downscale
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.starting import completed, starting_spec
from deconditioning.downscaling.warping import choice, left_out_sources
from deconditioning.downscaling.warping.choice import choose_warp
from deconditioning.downscaling.warping.left_out_sources import left_out_crps
from deconditioning.downscaling.warping.physical_map import warped
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import Cancelled
from deconditioning.fields.footprints.stations import with_further_stations, with_stations
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.models.learning.learning import Learned
from tests.core.downscaling.test_sources_behind_warp import LOG, gauges, log_normal, rain, soundings
from tests.core.downscaling.test_stations import Dense

pytestmark = pytest.mark.usefixtures("short_chain")
SETTINGS = DownscaleSettings("area_to_point_gp", local_scale=False, average=False, integrate=False, restarts=1)


@pytest.fixture(scope="module")
def joined() -> DownscalingProblem:
    return with_stations(with_further_stations(rain(), soundings(rain())), gauges(rain(), 9))


def unlearned(problem: DownscalingProblem, settings: DownscaleSettings, _: object) -> tuple[Learned, None]:
    return Learned(starting_spec(problem, settings), 0.0, (), False), None


@pytest.mark.parametrize("warp", [None, LOG])
def test_the_crps_is_that_of_dense_algebra_without_each_value(
    joined: DownscalingProblem, warp, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the integral of (F(x) − 1{x > v})² over the target's own units, for each value by itself."""
    monkeypatch.setattr(left_out_sources, "learn_single", unlearned)
    found = joined if warp is None else warped(joined, warp)
    spec = starting_spec(found, completed(found, SETTINGS))
    dense, cells = Dense(found, spec), found.data.bags.count
    values, losses = np.concatenate([each.measured.value for each in found.sources]), []
    for number, value in enumerate(values, start=cells):
        rest = torch.arange(len(dense.s)) != number
        solved = torch.linalg.solve(dense.s[rest][:, rest], dense.s[rest, number])
        mean = float(solved @ dense.targets[rest]) + spec.mean
        sd = float((dense.s[number, number] - solved @ dense.s[rest, number]).sqrt())
        centre, spread = found.target_scale.backward(np.array(mean)), sd * found.target_scale.sd
        ends = norm.ppf([1e-9, 1 - 1e-9], centre, spread)
        known = value if warp is None else np.log(value)
        x = np.linspace(
            min(ends[0], known), max(ends[1], known), 400_001
        )  # F in units of the model; the integral over those of the target
        below, units = norm.cdf(x, centre, spread), x if warp is None else np.exp(x)
        losses.append(np.trapezoid((below - (units >= value)) ** 2, units))
    assert left_out_crps(found, SETTINGS, NoReport()) == pytest.approx(np.mean(losses), rel=2e-3)


def test_few_cells_are_warped_where_stations_say_so() -> None:
    """16 cells cannot be tested one scale up; 40 gauges can, and the map is better at 300 others."""
    both = log_normal(1.0, True).problem.plain
    alone = choose_warp(replace(both, sources=()), SETTINGS, NoReport())
    assert alone.problem.warp is None and "cannot be tested one scale up" in alone.problem.notes[-1]
    chosen = choose_warp(both, SETTINGS, NoReport())
    assert chosen.problem.warp is not None and chosen.checked is None
    assert "for left-out values of further sources its CRPS is" in chosen.problem.notes[-1]
    scores = [
        downscale(both, SETTINGS.replace(warp=warp)).diagnostics["stations"]["scored"]["crps"]
        for warp in (chosen.settings.warp, "none")
    ]
    assert scores[0] < 0.95 * scores[1]


def test_sources_decide_only_where_cells_cannot(monkeypatch: pytest.MonkeyPatch) -> None:
    found = rain(24, 32)
    found, settings = with_stations(found, gauges(found, 20)), DownscaleSettings("area_to_point_gp", integrate=False)
    monkeypatch.setattr(choice, "left_out_crps", lambda *_: pytest.fail("asked"))
    chosen = choose_warp(found, settings, NoReport())
    assert chosen.problem.warp is not None and chosen.checked is not None and "one scale up" in chosen.problem.notes[-1]
    few = with_stations(rain(), gauges(rain(), 20))
    monkeypatch.setattr(choice, "left_out_crps", lambda problem, *_: 1.0 if problem.warp is None else 2.0)
    other = choose_warp(few, settings, NoReport())
    assert other.problem.warp is None and "uses the target without a warp: for left-out" in other.problem.notes[-1]


def test_few_values_other_models_and_a_stop(joined: DownscalingProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    few = with_stations(rain(), gauges(rain(), 7))
    assert left_out_crps(few, SETTINGS, NoReport()) is None and left_out_crps(rain(), SETTINGS, NoReport()) is None
    monkeypatch.setattr(left_out_sources, "_MOST", 20)
    assert left_out_crps(joined, SETTINGS, NoReport()) is None
    monkeypatch.setattr(left_out_sources, "_MOST", 1000)
    stopped = (Learned(starting_spec(joined, completed(joined, SETTINGS)), 0.0, (), True), None)
    monkeypatch.setattr(left_out_sources, "learn_single", lambda *_: stopped)
    with pytest.raises(Cancelled):
        left_out_crps(joined, SETTINGS, NoReport())
