"""The local scale: its mode and left-out modes by brute force, what it finds, and how it is read between cells."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from deconditioning.models import local_scale as module
from deconditioning.models.conditioning import condition
from deconditioning.models.local_scale import CANDIDATES, Places, local_scale, near


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


@pytest.mark.parametrize("candidate", CANDIDATES)
def test_the_mode_is_that_of_the_log_posterior(candidate):
    places = line()
    square = residuals(places).square()
    fit = module._laplace(square, places, *candidate)
    prior, r2 = module._covariance(places, places, *candidate).numpy(), square.numpy()

    def loss(dual):
        """Minus the log posterior of η = K a, and its gradient in a."""
        eta = prior @ dual
        shrunk = r2 * np.exp(-eta)
        return 0.5 * dual @ eta + 0.5 * (eta + shrunk).sum(), prior @ (dual + 0.5 * (1 - shrunk))

    value, gradient = loss(fit.dual.numpy())
    found = minimize(loss, np.zeros(len(r2)), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15})
    assert np.abs(gradient).max() < 1e-3 and value == pytest.approx(found.fun, abs=1e-6) and found.fun < loss(0 * r2)[0]
    determinant = np.linalg.slogdet(np.eye(len(prior)) + 0.5 * prior)[1]
    assert fit.evidence == pytest.approx(-value - 0.5 * determinant, abs=1e-5)


def test_left_out_modes_are_those_of_a_regression_without_the_target():
    places = line(20)
    square = residuals(places).square()
    fit = module._laplace(square, places, 0.6, 3.0)
    prior = module._covariance(places, places, 0.6, 3.0).numpy()
    mode = prior @ fit.dual.numpy()
    shown = mode + (square.numpy() * np.exp(-mode) - 1)
    for j in range(20):
        rest = np.arange(20) != j
        expected = prior[j, rest] @ np.linalg.solve(prior[np.ix_(rest, rest)] + 2 * np.eye(19), shown[rest])
        assert float(fit.left_out[j]) == pytest.approx(expected)


def test_it_finds_where_residuals_are_large():
    places = line(200)
    found = local_scale(given(residuals(places)), places, places)
    low, high = found.factor[:90], found.factor[110:]
    assert found.amplitude > 0 and 3 < float(high.median() / low.median()) < 20
    held = (residuals(places, seed=2).abs() < 1.96 * found.factor).double()
    assert held[:90].mean() > 0.85 and 0.85 < held[110:].mean() < 1.0
    flat = local_scale(given(torch.as_tensor(np.random.default_rng(3).standard_normal(200))), places, places)
    assert float(flat.factor.max() / flat.factor.min()) < 3 and 0.8 < float(flat.factor.median()) < 1.25


def test_it_follows_the_roughness_where_that_tells():
    places = line(300)
    residual = torch.exp(places.roughness) * torch.as_tensor(np.random.default_rng(1).standard_normal(300))
    found = local_scale(given(residual), places, places)
    assert np.corrcoef(found.factor.log().numpy(), places.roughness.numpy())[0, 1] > 0.8


def test_between_cells_it_is_a_mean_and_at_a_lone_cell_its_own():
    places = Places(torch.tensor([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]]).double(), torch.zeros(3).double())
    found = module.LocalScale(places, torch.tensor([1.0, 4.0, 2.0]).double(), 0.0, 1.0)
    where = torch.tensor([[9.0, 9.0], [0.5, 0.0], [0.5, 3.0]]).double()
    read = near(places, where)
    assert read.weight.sum(1).tolist() == pytest.approx([1, 1, 1])
    assert found.at(read).tolist() == pytest.approx([2.0, 2.0, 2.0], abs=1e-6)
