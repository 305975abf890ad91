"""The local scale: its mode and left-out modes by brute force, what it finds, and how it is read between cells."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from deconditioning.models import local_scale as module
from deconditioning.models.conditioning import condition
from deconditioning.models.local_scale import CANDIDATES, Places, ScalePrior, local_scale, near


def line(count: int = 60, seed: int = 0) -> Places:
    """Cells along a line, with a roughness each."""
    draw = np.random.default_rng(seed)
    position = torch.arange(float(count), dtype=torch.float64)[:, None]
    return Places(position, torch.as_tensor(draw.standard_normal(count)))


def residuals(places: Places, seed: int = 1) -> torch.Tensor:
    """Ten times as large in the second half."""
    scale = torch.where(places.position[:, 0] < len(places.position) / 2, 0.3, 3.0)
    return scale * torch.as_tensor(np.random.default_rng(seed).standard_normal(len(scale)))


def given(residual: torch.Tensor):
    """A conditioning whose left-out residuals, over their sd, are these: targets that know nothing of each other."""
    count = len(residual)
    identity = torch.eye(count, dtype=torch.float64)
    return condition(0.0 * identity, identity, identity, residual)


def prior_of(places: Places, amplitude: float, reach: float) -> np.ndarray:
    """The covariance of log κ², written out."""
    away = np.abs(places.position.numpy() - places.position.numpy().T)
    slope = module.SLOPE**2 * np.outer(places.roughness, places.roughness)
    return 1.0 + slope + amplitude**2 * np.exp(-away / reach)


def fitted(square: torch.Tensor, places: Places, amplitude: float, reach: float):
    """The fit, and the mode of log κ² that it gives."""
    features = module._Features(places.position, amplitude, reach)
    fit = module._laplace(square, candidate := module._candidate(features, ScalePrior(places, places)))
    return fit, (candidate.at_places @ fit.weights).numpy()


@pytest.mark.parametrize("candidate", CANDIDATES)
def test_the_mode_is_that_of_the_log_posterior(candidate):
    places = line()
    square = residuals(places).square()
    fit, mode = fitted(square, places, *candidate)
    prior, r2 = prior_of(places, *candidate), square.numpy()

    def loss(dual):
        """Minus the log posterior of η = K a, and its gradient in a."""
        eta = prior @ dual
        shrunk = r2 * np.exp(-eta)
        return 0.5 * dual @ eta + 0.5 * (eta + shrunk).sum(), prior @ (dual + 0.5 * (1 - shrunk))

    dual = -0.5 * (1 - r2 * np.exp(-mode))  # of a mode η = K a
    assert prior @ dual == pytest.approx(mode, abs=2e-3)
    found = minimize(loss, np.zeros(len(r2)), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    determinant = np.linalg.slogdet(np.eye(len(prior)) + 0.5 * prior)[1]
    assert fit.evidence == pytest.approx(-found.fun - 0.5 * determinant, abs=1e-5) and found.fun < loss(0 * r2)[0]


def test_left_out_modes_are_those_of_a_regression_without_the_target():
    places = line(20)
    square = residuals(places).square()
    fit, mode = fitted(square, places, 0.6, 3.0)
    prior = prior_of(places, 0.6, 3.0)
    shown = mode + (square.numpy() * np.exp(-mode) - 1)
    for j in range(20):
        rest = np.arange(20) != j
        expected = prior[j, rest] @ np.linalg.solve(prior[np.ix_(rest, rest)] + 2 * np.eye(19), shown[rest])
        assert float(fit.left_out[j]) == pytest.approx(expected)


def test_centres_of_many_cells_stand_for_them(monkeypatch):
    """On 36 × 36 cells with a patch of large residuals: a quarter as many centres find the same κ to a tenth."""
    row, column = (v.flatten().double() for v in torch.meshgrid(torch.arange(36), torch.arange(36), indexing="ij"))
    draw = np.random.default_rng(5)
    places = Places(torch.stack([row, column], 1), torch.as_tensor(draw.standard_normal(36**2)))
    scale = torch.where((row - 20).square() + (column - 12).square() < 64, 3.0, 0.7)
    targets = given(scale * torch.as_tensor(draw.standard_normal(36**2)))
    monkeypatch.setattr(module, "CENTRES", 36**2)
    exact = local_scale(targets, ScalePrior(places, places))
    monkeypatch.setattr(module, "CENTRES", 18**2)
    few = local_scale(targets, ScalePrior(places, places))
    assert len(module._centres(places.position)) <= 18**2
    assert (few.amplitude, few.reach) == (exact.amplitude, exact.reach) and few.amplitude > 0
    apart = (few.factor / exact.factor).log()
    assert float(apart.square().mean().sqrt()) < 0.1 and float(exact.factor.log().std()) > 0.4


def test_it_finds_where_residuals_are_large():
    places = line(200)
    found = local_scale(given(residuals(places)), ScalePrior(places, places))
    low, high = found.factor[:90], found.factor[110:]
    assert found.amplitude > 0 and 3 < float(high.median() / low.median()) < 20
    held = (residuals(places, seed=2).abs() < 1.96 * found.factor).double()
    assert held[:90].mean() > 0.85 and 0.85 < held[110:].mean() < 1.0
    flat = local_scale(
        given(torch.as_tensor(np.random.default_rng(3).standard_normal(200))), ScalePrior(places, places)
    )
    assert float(flat.factor.max() / flat.factor.min()) < 3 and 0.8 < float(flat.factor.median()) < 1.25


def test_it_follows_the_roughness_where_that_tells():
    places = line(300)
    residual = torch.exp(places.roughness) * torch.as_tensor(np.random.default_rng(1).standard_normal(300))
    found = local_scale(given(residual), ScalePrior(places, places))
    assert np.corrcoef(found.factor.log().numpy(), places.roughness.numpy())[0, 1] > 0.8


def test_between_cells_it_is_a_mean_and_at_a_lone_cell_its_own():
    places = Places(torch.tensor([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]]).double(), torch.zeros(3).double())
    found = module.LocalScale(places, torch.tensor([1.0, 4.0, 2.0]).double(), 0.0, 1.0)
    where = torch.tensor([[9.0, 9.0], [0.5, 0.0], [0.5, 3.0]]).double()
    read = near(places, where)
    assert read.weight.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert found.at(read).tolist() == pytest.approx([2.0, 2.0, 2.0], abs=1e-6)
