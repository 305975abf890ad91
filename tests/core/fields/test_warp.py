"""Warps of a target and maps in its own units: closed forms, cells' means, limits, and a field of known truth."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as some
from scipy.stats import boxcox_llf

from deconditioning.downscaling.warping.physical_map import physical_draw, physical_map, warped
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.problem.warp import Warp, bounds_of, fit_warp
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.test_shares import problem as across_edges

LOG = Warp("box-cox")
WARPS = (
    LOG, Warp("box-cox", 0.5, 0.2), Warp("box-cox", 1.0), Warp("box-cox", 0.3, 0.1, 0.0, 50.0), Warp("logit", high=1.0),
    Warp("logit", low=-1.0, high=1.0), Warp("logit", high=100.0),
)  # fmt: skip


def field_of(values: np.ndarray, units: str = "mm", **more: str) -> xr.Dataset:
    """A field on a grid of a tenth of a degree, with a covariate."""
    rows, columns = values.shape
    rng = np.random.default_rng(5)
    lines = {
        "lat": ("lat", 40 + 0.1 * np.arange(rows), {"standard_name": "latitude", "units": "degrees_north"}),
        "lon": ("lon", 5 + 0.1 * np.arange(columns), {"standard_name": "longitude", "units": "degrees_east"}),
    }
    other = rng.normal(size=values.shape)
    return xr.Dataset(
        {"rain": (("lat", "lon"), values, {"units": units, **more}), "c": (("lat", "lon"), other, {"units": "1"})},
        lines,
    )


def problem_of(values: np.ndarray, withhold: float = 0.3, **more: str) -> DownscalingProblem:
    fields = fields_from_dataset(field_of(values, **more))
    return make_problem(fields, DownscalingSpec("rain", ("c",), block=(4, 4), withhold=withhold))


@pytest.fixture(scope="module")
def rainy() -> DownscalingProblem:
    rng = np.random.default_rng(2)
    smooth = np.add.outer(np.sin(np.arange(32) / 5), np.cos(np.arange(32) / 7))
    return problem_of(np.exp(smooth + 0.3 * rng.normal(size=(32, 32))), standard_name="rainfall_amount")


@pytest.mark.parametrize("warp", WARPS, ids=lambda warp: warp.formula)
def test_backward_undoes_forward_and_stays_inside(warp: Warp) -> None:
    low, high = max(warp.low, -1.0), min(warp.high, 40.0)
    values = low + (high - low) * np.linspace(0.01, 0.99, 50)
    assert warp.backward(warp.forward(values)) == pytest.approx(values, rel=1e-9)
    assert (np.diff(warp.forward(values)) > 0).all()
    far = warp.backward(np.array([-1e6, -40.0, 0.0, 40.0, 1e6]))
    assert np.isfinite(far).all() and far.min() >= warp.low and far.max() <= warp.high


@settings(max_examples=60, deadline=None)
@given(some.floats(0, 1), some.floats(0, 10), some.lists(some.floats(0.01, 1e4), min_size=1, max_size=20))
def test_any_power_and_shift(power: float, shift: float, values: list[float]) -> None:
    warp = Warp("box-cox", power, shift)
    again = warp.backward(warp.forward(np.array(values)))
    assert again == pytest.approx(np.array(values), rel=1e-6, abs=1e-6 * (1 + shift))
    assert Warp.from_dict(warp.to_dict()) == warp


def test_the_power_is_that_of_the_largest_likelihood() -> None:
    values = np.random.default_rng(4).normal(3, 0.5, 400) ** 2  # its root is Gaussian
    warp = fit_warp("box-cox", values, None)
    powers = np.linspace(0, 1, 101)
    best = powers[np.argmax([boxcox_llf(power, values) for power in powers])]
    assert warp.power == pytest.approx(best, abs=0.011) and warp.power == pytest.approx(0.5, abs=0.15)
    assert fit_warp("box-cox", np.exp(values), None).power == 0.0
    assert fit_warp("log", values, None) == Warp("box-cox")


def test_values_near_zero_are_shifted_and_others_are_not() -> None:
    near = np.array([0.001, 1.0, 2.0, 3.0, 9.0])
    assert fit_warp("log", near, None).shift == pytest.approx(0.1)
    assert fit_warp("log", near + 1, None).shift == 0.0
    zeros = np.array([0.0, 0.0, 0.0, 5.0, 8.0])
    assert np.isfinite(fit_warp("log", zeros, None).forward(zeros)).all()


def test_bounds_are_the_limits_or_the_narrowest_usual_ones() -> None:
    assert bounds_of(np.array([0.2, 0.9]), None) == (0.0, 1.0)
    assert bounds_of(np.array([-0.2, 0.9]), None) == (-1.0, 1.0)
    assert bounds_of(np.array([2.0, 90.0]), None) == (0.0, 100.0)
    assert bounds_of(np.array([2.0, 190.0]), None) is None
    assert bounds_of(np.array([2.0, 90.0]), (0.0, math.inf)) is None
    assert bounds_of(np.array([0.2, 0.3]), (0.0, 100.0)) == (0.0, 100.0)


@pytest.mark.parametrize("kind", ["log", "box-cox"])
def test_negative_values_have_no_logarithm(kind: str) -> None:
    with pytest.raises(InputError, match="not negative, but the smallest coarse value is −1"):
        fit_warp(kind, np.array([-1.0, 2.0]), None)


def test_a_logit_needs_bounds() -> None:
    with pytest.raises(InputError, match="two bounds"):
        fit_warp("logit", np.array([1.0, 250.0]), None)


@pytest.mark.parametrize(
    "wrong", [{}, {"kind": "root"}, {"kind": "box-cox", "power": 2}, {"kind": "logit", "high": -1}]
)
def test_what_is_no_warp_is_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="warp"):
        Warp.from_dict(wrong)


def moments_of(problem: DownscalingProblem, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    """Some standardised means and sds at the pixels."""
    generator = torch.Generator().manual_seed(seed)
    size = len(problem.pixel)
    return torch.randn(size, generator=generator).double(), 0.05 + torch.rand(size, generator=generator).double()


def test_moments_of_a_logarithm_are_those_of_a_log_normal(rainy: DownscalingProblem) -> None:
    problem = replace(warped(rainy, LOG), matched=False)  # unmatched maps have no shift
    mean, sd = moments_of(problem)
    found = physical_map(problem, [(1.0, mean, sd)])
    m = problem.target_scale.backward(problem.on_grid(mean))
    s = problem.target_scale.sd * problem.on_grid(sd)
    assert found.mean == pytest.approx(np.exp(m + s**2 / 2), rel=1e-6)
    assert found.sd == pytest.approx(np.sqrt(np.exp(s**2) - 1) * np.exp(m + s**2 / 2), rel=1e-4)
    assert found.quantile(0.975) == pytest.approx(np.exp(m + 1.959964 * s), rel=1e-6)


@pytest.mark.parametrize("warp", [LOG, Warp("box-cox", 0.4, 0.1), Warp("logit", high=100.0)], ids=lambda w: w.formula)
def test_the_mean_averages_to_the_cells_and_draws_stay_inside(rainy: DownscalingProblem, warp: Warp) -> None:
    problem = warped(rainy, warp)
    mean, sd = moments_of(problem)
    found = physical_map(problem, [(1.0, mean, sd)])
    spread, seen = float(rainy.coarse[rainy.observed].std()), rainy.observed
    assert np.abs(reaggregate(rainy, found.mean) - rainy.coarse)[seen].max() < 1e-6 * spread
    draw = physical_draw(problem, mean + sd)
    assert np.abs(reaggregate(rainy, draw) - rainy.coarse)[seen].max() < 1e-6 * spread
    for values in (found.mean, draw, found.quantile(0.001), found.quantile(0.999)):
        assert values.min() >= warp.low and values.max() <= warp.high
    assert (found.quantile(0.9) >= found.quantile(0.1)).all()


def test_hidden_cells_are_shifted_as_their_neighbours_are(rainy: DownscalingProblem) -> None:
    problem = warped(rainy, LOG)
    mean, sd = moments_of(problem)
    found = physical_map(problem, [(1.0, mean, sd)])
    shift = found.parts[0][1] - problem.target_scale.backward(problem.on_grid(mean))
    of_cells = rainy.shares.mean(shift, rainy.grid.area).reshape(rainy.coarse_shape)
    seen, hidden = of_cells[rainy.observed], of_cells[~rainy.observed]
    assert hidden.min() >= seen.min() - 1e-9 and hidden.max() <= seen.max() + 1e-9
    assert np.ptp(hidden) > 0


def test_a_straight_line_changes_nothing(rainy: DownscalingProblem) -> None:
    """λ = 1 is v − 1: the same standardised targets, and the same map but for the cells that it honours exactly."""
    problem = warped(rainy, Warp("box-cox", 1.0, 0.0, -math.inf))
    assert torch.allclose(problem.data.targets, rainy.data.targets, atol=1e-12)
    mean, sd = (part / 10 for part in moments_of(problem))
    unmatched = (replace(each, matched=False) for each in (problem, rainy))
    found, usual = (physical_map(each, [(1.0, mean, sd)]) for each in unmatched)
    inside = usual.mean > 0.5  # a plain map ends at the limits
    assert found.mean[inside] == pytest.approx(usual.mean[inside], rel=1e-9)
    assert found.sd == pytest.approx(usual.sd, rel=1e-9)


def test_without_a_warp_the_map_is_as_it_was(rainy: DownscalingProblem) -> None:
    other = replace(rainy, standard_name="air_temperature", spec=replace(rainy.spec))
    mean, sd = moments_of(other)
    found = physical_map(other, [(1.0, mean, sd)])
    assert np.array_equal(found.mean, other.physical_mean(mean)) and np.array_equal(found.sd, other.physical_sd(sd))
    assert physical_map(rainy, [(1.0, mean, sd)]).mean.min() >= 0.0
    assert physical_map(rainy, [(1.0, mean, sd)]).quantile(0.01).min() >= 0.0


def test_pixels_across_edges_share_the_shifts() -> None:
    """Cells that cut pixels: their means are honoured with the pixels' shares."""
    plain = across_edges()
    problem = warped(plain, LOG)
    mean, sd = moments_of(problem)
    found = physical_map(problem, [(1.0, mean, sd)])
    spread = float(plain.coarse[plain.observed].std())
    assert np.abs(reaggregate(plain, found.mean) - plain.coarse)[plain.observed].max() < 1e-6 * spread
