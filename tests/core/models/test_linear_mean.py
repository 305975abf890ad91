"""A prior mean linear in the covariates: coefficients integrated out are coefficients estimated, in every model."""

from dataclasses import replace

import pytest
import torch

from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.area_to_point import INVERSE_SLOPE, MEAN_VARIANCE, with_linear_mean
from deconditioning.models.indirect_gp import posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from tests.core.models.small import COLUMNS, KERNEL, dense, model, problem
from tests.core.models.test_indirect_gp import POINTS, pixel_weights

MODELS = ["shrinkage_cmp", "cmp", "bag_gp"]
#: Variances of b₀ and of the slope of the covariate c, as the kernel has them.
PRIOR = torch.tensor([MEAN_VARIANCE, INVERSE_SLOPE**-2], dtype=torch.float64)


def design(inputs: torch.Tensor) -> torch.Tensor:
    """One, and the covariate: the others are coordinates."""
    return torch.stack([torch.ones_like(inputs[:, 0]), inputs[:, 2]], dim=1)


def by_coefficients(name: str, precision: torch.Tensor):
    """Posterior mean and covariance at points from a Gaussian prior of this ``precision`` on (b₀, b_c), no such kernel.

    Regression of the targets on ``H = Wᵀh̄`` with errors of covariance S, then the residual's own prediction.
    """
    data, spec = problem(targets=9, matched=name == "bag_gp"), model(name, 5e-2, mean=0.0)
    weights, inputs = pixel_weights(name, data, spec.regularisation), data.bags.inputs
    s = (
        weights.T
        @ (dense(KERNEL, COLUMNS.inputs, inputs, inputs) + spec.point_noise * torch.eye(len(inputs)))
        @ weights
    )
    s = s + spec.noise * torch.eye(len(s), dtype=torch.float64)
    h, own = weights.T @ design(inputs), design(POINTS)
    spread = torch.linalg.inv(precision + h.T @ torch.linalg.solve(s, h))
    coefficients = spread @ h.T @ torch.linalg.solve(s, data.targets)
    gain = torch.linalg.solve(s, weights.T @ dense(KERNEL, COLUMNS.inputs, inputs, POINTS)).T
    left = own - gain @ h
    mean = own @ coefficients + gain @ (data.targets - h @ coefficients)
    prior = dense(KERNEL, COLUMNS.inputs, POINTS, POINTS) - gain @ weights.T @ dense(
        KERNEL, COLUMNS.inputs, inputs, POINTS
    )
    return data, spec, mean, prior + left @ spread @ left.T


@pytest.mark.parametrize("name", MODELS)
def test_the_posterior_is_that_of_estimated_coefficients(name):
    data, spec, mean, covariance = by_coefficients(name, torch.diag(1 / PRIOR))
    found = posterior(replace(spec, kernel=with_linear_mean(KERNEL, COLUMNS.inputs, ("a", "b"))), data, COLUMNS)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-8)
    assert torch.allclose(found.covariance(POINTS), covariance, atol=1e-8)


@pytest.mark.parametrize("name", MODELS)
def test_with_wide_priors_it_is_generalised_least_squares(name):
    data, spec, mean, _ = by_coefficients(name, torch.zeros(2, 2, dtype=torch.float64))
    wide = [Term((Factor("linear", ("c",), (1e-4,)),)), Term((Factor("constant", ("c",), ()),), 1e8)]
    found = posterior(replace(spec, kernel=KernelSpec((*KERNEL.terms, *wide))), data, COLUMNS)
    assert torch.allclose(found.mean(POINTS), mean, atol=1e-4)


def test_targets_that_follow_the_covariate_are_continued_beyond_the_data():
    data = problem(targets=9, matched=True)
    lines = replace(data, targets=0.2 + 0.4 * data.bags.mean(data.bags.inputs)[:, 2])
    far = POINTS.clone()
    far[:, 2] += 8.0
    spec = model("bag_gp", noise=1e-4, point_noise=0.0, mean=0.0)
    small = KernelSpec(tuple(replace(term, scale=0.01 * term.scale) for term in KERNEL.terms))
    plain, linear = (
        posterior(replace(spec, kernel=kernel), lines, COLUMNS).mean(far)
        for kernel in (small, with_linear_mean(small, COLUMNS.inputs, ("a", "b")))
    )
    truth = 0.2 + 0.4 * far[:, 2]
    assert float((linear - truth).square().mean()) < 0.05 * float((plain - truth).square().mean())


def test_learning_moves_slopes_and_leaves_the_unknown_mean():
    spec = replace(model("shrinkage_cmp"), kernel=with_linear_mean(KERNEL, COLUMNS.inputs, ("a", "b")))
    learned = learn(spec, problem(targets=9), COLUMNS, LearningOptions(restarts=1, steps=5)).spec.kernel
    assert learned.terms[-1] == spec.kernel.terms[-1] and learned.terms[-2] != spec.kernel.terms[-2]


def test_without_covariates_the_mean_alone_is_unknown():
    only_place = with_linear_mean(KernelSpec(KERNEL.terms[:1]), ("a", "b"), ("a", "b"))
    assert [term.factors[0].family for term in only_place.terms] == ["matern32", "constant"]
