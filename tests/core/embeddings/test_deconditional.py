"""The two-staged regression by kernels alone: against feature space, against the posterior of the models."""

import itertools

import pytest
import torch

from deconditioning.embeddings.deconditional import (
    bayes_gap,
    conditional_mean_operator,
    conditional_operator_of_moments,
    deconditional_mean_operator,
    deconditional_operator_of_moment,
    deconditional_weights,
    estimator_weights,
    feature_weights,
    posterior_embedding,
    posterior_weights,
)
from deconditioning.errors import InputError
from deconditioning.kernels.fourier import draw_features
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.models.indirect_gp import posterior
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


def estimator_problem(n, m):
    y, query = normal(n, seed=1), normal(m, seed=2)
    phi, psi, tilde = features(y + 0.3 * normal(n, seed=3), 3), features(y), features(query)
    return phi, psi, tilde, normal(m, seed=4)


@pytest.mark.parametrize(("n", "m"), [(5, 9), (12, 4), (8, 8)])
def test_the_estimator_has_one_value_in_all_its_forms(n, m):
    phi, psi, tilde, targets = estimator_problem(n, m)
    gram, ridge = phi @ phi.T, m * EPSILON
    spread = torch.linalg.solve(psi @ psi.T + n * LAMBDA * torch.eye(n).double(), psi @ tilde.T)
    alpha = estimator_weights(gram, spread, targets, ridge)
    by_points = torch.linalg.solve(spread @ spread.T @ gram + ridge * torch.eye(n).double(), spread @ targets)
    assert torch.allclose(phi.T @ by_points, phi.T @ alpha, atol=1e-9)  # definition 4.4, alternative form
    assert torch.allclose(feature_weights(phi, psi, tilde, targets, LAMBDA, EPSILON), phi.T @ alpha, atol=1e-9)
    weights = deconditional_weights(gram, psi @ psi.T, psi @ tilde.T, LAMBDA, EPSILON)
    assert torch.allclose(gram @ weights.T @ targets, gram @ alpha, atol=1e-9)


def test_the_weights_solve_the_chained_losses():
    phi, psi, tilde, targets = estimator_problem(12, 7)
    n, m, found = 12, 7, feature_weights(*estimator_problem(12, 7), LAMBDA, EPSILON)

    def best_v(w):
        """argmin (1/n) Σ (wᵀφ_i − vᵀψ_i)² + λ‖v‖² as one least-squares problem."""
        left = torch.cat([psi / n**0.5, LAMBDA**0.5 * torch.eye(psi.shape[1]).double()])
        right = torch.cat([phi @ w / n**0.5, torch.zeros(psi.shape[1]).double()])
        return torch.linalg.lstsq(left, right[:, None]).solution[:, 0]

    def loss(w):
        return (targets - tilde @ best_v(w)).square().sum() / m + EPSILON * w.square().sum()

    least = loss(found)
    for direction in torch.cat([torch.eye(len(found)).double(), normal(5, len(found), seed=9)]):
        ends = [loss(found + step * direction) for step in (1e-4, -1e-4)]
        assert min(ends) > least
        assert float(ends[0] - ends[1]) == pytest.approx(0, abs=1e-9)


def test_fourier_features_near_the_kernel_form():
    spec, n = KernelSpec((Term((Factor("rbf", ("a",), (0.8,)),), 1.3),)), 30
    kernel = spec.build(("a",))
    y = 2 * normal(n, 1, seed=1)
    x, query = y + 0.3 * normal(n, 1, seed=2), 2 * normal(20, 1, seed=3)
    targets = query[:, 0].sin()
    draw = draw_features(spec, ("a",), torch.Generator().manual_seed(0), count=1500)
    w = feature_weights(draw(x), draw(y), draw(query), targets, LAMBDA, EPSILON)
    with torch.no_grad():
        grams = evaluate(kernel, x, x), evaluate(kernel, y, y), evaluate(kernel, y, query)
        exact = targets @ deconditional_weights(*grams, LAMBDA, EPSILON) @ evaluate(kernel, x, x)
    assert torch.allclose(draw(x) @ w, exact, atol=0.1)


def test_where_x_is_a_function_of_y_the_operator_is_the_reverse_conditional_mean():
    """Theorem 6.1: X = r(Y) on a finite set, exact second moments; r is not invertible."""
    classes, r = torch.eye(6).double(), torch.tensor([0, 0, 1, 1, 1, 2])
    prior = torch.tensor([0.1, 0.2, 0.1, 0.25, 0.15, 0.2]).double()
    phi, second = torch.eye(3).double()[r], torch.diag(prior)
    forth = conditional_operator_of_moments(phi.T @ second @ classes, second, 1e-13)  # C_X|Y
    found = deconditional_operator_of_moment(forth, second, 1e-13)
    evidence = phi.T @ second @ phi
    posterior_of_y = (second @ phi) @ torch.linalg.inv(evidence)  # C_Y|X: columns p(y | x)
    assert torch.allclose(found, posterior_of_y, atol=1e-9)
    assert torch.allclose(forth @ posterior_of_y @ evidence, evidence, atol=1e-9)


def test_the_gap_of_theorem_6_1_is_that_of_its_probability_tables():
    """Delta kernels make operators tables of probabilities: ``‖P(x|y) P(y|x) D − D‖ / ‖D‖``, D = diag p(x)."""
    counts = torch.tensor([[3, 1, 0, 2], [1, 4, 2, 0], [0, 1, 5, 1]])  # pairs with this x (down) and y (across)
    joint = counts.double() / counts.sum()
    marginal = torch.diag(joint.sum(1))
    round_trip = (joint / joint.sum(0)) @ (joint.T / joint.sum(1))
    wanted = float((round_trip @ marginal - marginal).norm() / marginal.norm())
    x, y = (torch.repeat_interleave(part.flatten(), counts.flatten()) for part in torch.meshgrid(
        torch.arange(3), torch.arange(4), indexing="ij"))  # fmt: skip
    inputs, within = ((part[:, None] == part).double() for part in (x, y))
    assert bayes_gap(inputs, within, 1e-9, 1e-9) == pytest.approx(wanted, rel=1e-5) and wanted > 0.3
    of_y = torch.tensor([0, 1, 1, 2])[y]  # X = r(Y): nothing is left of it once Y is known
    assert bayes_gap((of_y[:, None] == of_y).double(), within, 1e-9, 1e-9) < 1e-6


def test_the_gap_grows_with_the_noise_of_the_simulator():
    spec = KernelSpec((Term((Factor("rbf", ("a",), (0.5,)),)),))
    kernel, n = spec.build(("a",)), 60
    y, noise = torch.linspace(-2, 2, n).double()[:, None], normal(n, 1, seed=1)
    with torch.no_grad():
        within = evaluate(kernel, y, y)
        gaps = [bayes_gap(evaluate(kernel, x, x), within, 1e-3, 1e-3) for x in (y + sd * noise for sd in (0, 0.3, 1))]
    assert gaps[0] < 0.05 < gaps[1] < gaps[2] < 1


def test_with_the_same_mediators_and_no_regularisation_it_is_the_reverse_conditional_mean():
    """Theorem 6.2, and no such limit without λ → 0."""
    spec = KernelSpec((Term((Factor("matern32", ("a",), (0.7,)),)),))
    kernel, n = spec.build(("a",)), 25
    y = torch.linspace(-2, 2, n).double()[:, None]
    x = y + 0.3 * normal(n, 1, seed=1)
    with torch.no_grad():
        inputs, within = evaluate(kernel, x, x), evaluate(kernel, y, y)
    reverse = torch.linalg.inv(inputs + n * EPSILON * torch.eye(n).double())
    far = []
    for lam in (1e-2, 1e-4, 1e-6, 1e-9):
        gap = deconditional_weights(inputs, within, within, lam, EPSILON) - reverse
        far.append(float(torch.trace(gap.T @ within @ gap @ inputs)))
    assert all(later < earlier / 2 for earlier, later in itertools.pairwise(far)) and far[-1] < 1e-8


def test_a_posterior_embedding_is_the_operator_applied_to_a_feature():
    phi, psi, tilde, _ = estimator_problem(9, 6)
    linear = KernelSpec((Term((Factor("linear", tuple("abcde"), (1.0,)),)),)).build(tuple("abcde"))
    weights = deconditional_weights(phi @ phi.T, psi @ psi.T, psi @ tilde.T, LAMBDA, EPSILON)
    found = posterior_embedding(weights, phi @ phi[0], tilde, linear)
    operator = deconditional_mean_operator(conditional_mean_operator(phi, psi, LAMBDA), tilde, EPSILON)
    assert torch.allclose(found.at(psi), psi @ operator @ phi[0], atol=1e-9)


def test_posterior_weights_are_a_column_of_the_operator() -> None:
    rng = torch.Generator().manual_seed(5)
    x, y, query = (torch.randn(n, 1, generator=rng, dtype=torch.float64) for n in (12, 12, 7))

    def gauss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.exp(-0.5 * (a - b.T) ** 2)

    at = gauss(x, torch.tensor([[0.3]], dtype=torch.float64))[:, 0]
    grams = gauss(x, x), gauss(y, y), gauss(y, query)
    found = posterior_weights(*grams, at, 1e-3, 1e-2)
    assert torch.allclose(found, deconditional_weights(*grams, 1e-3, 1e-2) @ at, atol=1e-10)
