"""The two-staged regression by kernels alone: against feature space, against the posterior of the models."""

import pytest
import torch

from core.embeddings.deconditional import (
    conditional_mean_operator,
    deconditional_mean_operator,
    deconditional_weights,
)
from core.errors import InputError
from core.kernels.tiles import evaluate
from core.models.indirect_gp import posterior
from tests.core.models.small import COLUMNS, model, normal, problem

LAMBDA, EPSILON = 1e-2, 3e-3


def features(angles, frequency=2):
    waves = angles[:, None] * torch.arange(1, frequency + 1)
    return torch.cat([torch.ones_like(angles)[:, None], waves.cos(), 0.7 * waves.sin()], dim=1)


@pytest.mark.parametrize(("samples", "targets"), [(3, 2), (4, 30), (60, 3), (50, 40)])
def test_the_kernel_form_is_the_weight_space_form(samples, targets):
    y, query = normal(samples, seed=1), normal(targets, seed=2)
    phi, psi, tilde = features(y + 0.3 * normal(samples, seed=3), 3), features(y), features(query)
    stage_one = conditional_mean_operator(phi, psi, LAMBDA)
    weight_space = deconditional_mean_operator(stage_one, tilde, EPSILON)
    weights = deconditional_weights(phi @ phi.T, psi @ psi.T, psi @ tilde.T, LAMBDA, EPSILON)
    assert weights.shape == (targets, samples)
    assert torch.allclose(tilde.T @ weights @ phi, weight_space, atol=1e-10)


def test_applied_to_targets_it_is_the_posterior_mean_of_the_conditional_mean_process():
    spec, data = model("cmp", regularisation=LAMBDA, mean=0.0, point_noise=0.0), problem(sizes=(1,) * 9, targets=5)
    order = torch.argsort(data.bags.bag)
    x, at = data.bags.inputs[order], normal(6, 3, seed=8)
    k, ell = spec.kernel.build(COLUMNS.inputs), spec.mediator_kernel.build(COLUMNS.mediators)
    with torch.no_grad():
        grams = evaluate(k, x, x), evaluate(ell, data.mediators, data.mediators)
        across = evaluate(ell, data.mediators, data.query_mediators)
        weights = deconditional_weights(*grams, across, LAMBDA, spec.noise / 5)
        found = data.targets @ weights @ evaluate(k, x, at)
    assert torch.allclose(found, posterior(spec, data, COLUMNS).mean(at), atol=1e-10)


def test_without_noise_it_undoes_the_conditional_mean():
    # φ = ψ of the same points: C = I, so that D̂ → I as both regularisations vanish
    psi = features(normal(40, seed=1))
    weights = deconditional_weights(psi @ psi.T, psi @ psi.T, psi @ psi[:20].T, 1e-9, 1e-9)
    assert torch.allclose(psi[:20].T @ weights @ psi, torch.eye(5, dtype=torch.float64), atol=1e-4)


def test_a_singular_first_stage_is_said_instead_of_repaired():
    psi = features(normal(20, seed=1))
    with pytest.raises(InputError, match="singular"):
        deconditional_weights(psi @ psi.T, psi @ psi.T, psi @ psi[:3].T, 0.0, 1e-3)
