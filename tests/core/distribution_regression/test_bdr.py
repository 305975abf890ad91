"""Uncertain embeddings, each claim by a second route: the textbook formula, known shrinkage, quadrature, a limit."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.distribution_regression.bdr import UncertainSums, fit_bdr
from deconditioning.distribution_regression.embedding import embed
from deconditioning.distribution_regression.gibbs import NoisePrior
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.landmarks import LandmarkSums, spread_landmarks
from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.distribution_regression.subjects import make_subjects
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term

K = KernelSpec((Term((Factor("rbf", ("x",), (0.5,)),), 1.3),))
GRID = torch.linspace(0, 1, 9, dtype=torch.float64)[:, None]


def uncertain(subjects, count: int = 3, prior: str = "weights", scale: float | None = None) -> UncertainSums:
    return UncertainSums(KernelSums(subjects.bags, ("x",)), spread_landmarks(subjects, count), prior, scale)


def near(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return 1.3 * np.exp(-((a[:, None] - b) ** 2) / (2 * 0.25))


def test_the_posterior_of_an_embedding_is_that_of_a_gaussian_seen_through_noise():
    """R and Σ by sums written out, and ηR(ηR + Σ/m)⁻¹ by dense solves."""
    subjects = simulate(SimulationSpec(9, 12, 0, unequal=True)).subjects
    sums, eta = uncertain(subjects), 0.07
    found = embed(sums, K, eta)
    u, x, owner = sums.landmarks.numpy()[:, 0], subjects.measures.numpy()[:, 0], subjects.owner.numpy()
    v = np.linspace(x.min(), x.max(), 20_001)
    spread = near(u, v) - np.trapezoid(near(u, v), v, axis=1)[:, None] / np.ptp(v)
    r = eta * np.trapezoid(spread[:, None] * spread, v, axis=2) / np.ptp(v)
    groups = [near(x[owner == i], u) for i in range(9)]
    sigma = sum((len(g) - 1) * np.cov(g.T) for g in groups) / (len(x) - 9)
    means = np.array([g.mean(0) for g in groups])
    for i, group in enumerate(groups):
        gain = r @ np.linalg.inv(r + sigma / len(group))
        expected = means.mean(0) + gain @ (means[i] - means.mean(0))
        assert np.abs(found.at_landmarks()[i].numpy() - expected).max() < 1e-7
        assert np.abs(found.covariance(i).numpy() - (r - gain @ r)).max() < 1e-7


def test_a_dirichlet_process_s_shrinkage_is_found_in_its_samples():
    """``Var E_z g = Var g/(1 + α)`` for every g: η is 1/(1 + α), and m measures count m/(m + α)."""
    alpha, m = 6.0, 12
    found = uncertain(simulate(SimulationSpec(500, m, 1, spread=alpha)).subjects).embeddings(K)
    assert found.scale == pytest.approx(1 / (1 + alpha), rel=0.1)
    share = found.reliability * m / (found.reliability * m + 1 - found.reliability)
    assert np.abs(share.numpy() - m / (m + alpha)).max() < 0.05


@pytest.mark.parametrize("open_noise", [False, True])
def test_weights_are_those_of_quadrature_over_the_marginal_posterior(open_noise):
    """Two weights (and σ²) on a fine grid, the embeddings integrated out: ``y_i ~ N(α'μ̃_i, α'C_iα + σ²)``."""
    subjects = simulate(SimulationSpec(30, 4, 3, spread=3.0)).subjects
    sums, y, prior = uncertain(subjects, 2), subjects.outcomes.numpy(), NoisePrior(3.0, 0.03)
    posterior = fit_bdr(
        RegressionSpec(K), sums, subjects.outcomes, subjects.covariates, draws=6000, seed=1,
        noise_prior=prior if open_noise else None,
    )  # fmt: skip
    embeddings = sums.embeddings(K)
    mu, c = embeddings.at_landmarks().numpy(), embeddings.covariance(0).numpy()
    side = np.linspace(-2.5, 2.5, 401)
    at = np.stack(np.meshgrid(side, side, indexing="ij"), -1).reshape(-1, 2)
    noises = np.exp(np.linspace(-7.5, -2.5, 40)) if open_noise else np.array([0.01])
    logs = []
    for noise in noises:
        width = np.einsum("ga,ab,gb->g", at, c, at) + noise
        square = sum((value - at @ row) ** 2 for value, row in zip(y, mu, strict=True))
        log = -0.5 * 1.3 * (at**2).sum(1) - 0.5 * square / width - 0.5 * len(y) * np.log(width)
        logs.append(log - prior.shape * np.log(noise) - prior.rate / noise)  # in log σ²
    share = np.exp(np.array(logs) - np.max(logs))
    share /= share.sum()
    weights = share.sum(0)
    mean = weights @ at
    covariance = (at - mean).T @ ((at - mean) * weights[:, None])
    assert min(share[0].sum(), share[-1].sum()) < 1e-3 or not open_noise
    root = sums.root(K).numpy()
    found = root @ posterior.covariance_of_weights.numpy() @ root.T
    error = np.sqrt(np.diag(covariance) / posterior.drawn.effective)
    assert posterior.drawn.effective > 300
    assert (np.abs(root @ posterior.weights.numpy() - mean) < 4 * error).all()
    assert np.abs(found / covariance - 1).max() < 0.12
    if open_noise:
        assert posterior.drawn.noises.mean() == pytest.approx(float(share.sum(1) @ noises), rel=0.1)


@pytest.mark.parametrize("prior", ["weights", "function"])
def test_many_measures_leave_the_landmarks_regression(prior):
    few = simulate(SimulationSpec(20, 50, 2)).subjects
    many = replace(few, bags=replace(few.bags, sizes=1e9 * few.bags.sizes))  # the same shares, of ever more measures
    sums, spec = uncertain(many, 4, prior), RegressionSpec(K, 0.02, intercept=True)
    plain = fit(spec, LandmarkSums(sums.base, sums.landmarks, prior), many.outcomes, many.covariates)
    found = fit_bdr(spec, sums, many.outcomes, many.covariates, draws=200)
    for mine, theirs in zip(found.moments(GRID, True), plain.moments(GRID, True), strict=True):
        assert float((mine - theirs).abs().max()) < 3e-3
    assert float((found.slopes - plain.slopes).abs().max()) < 3e-3
    assert float((found.covariance(GRID).diagonal() - found.moments(GRID)[1]).abs().max()) < 1e-12


def test_small_bags_are_predicted_nearer_to_the_mean():
    subjects = simulate(SimulationSpec(60, 40, 5, unequal=True, spread=3.0)).subjects
    sums = uncertain(subjects, 10, "function")
    embeddings, sizes = sums.embeddings(K), subjects.bags.sizes.numpy()
    order = np.argsort(sizes)
    kept = [embeddings.share_retained(float(m)) for m in sizes[order]]
    assert 0.5 < kept[0] < kept[-1] - 0.03 and (np.diff(kept) >= 0).all() and kept[-1] < 1
    plain = LandmarkSums(sums.base, sums.landmarks, "function").features(K)
    share = (sums.features(K) - plain.mean(0)).norm(dim=1) / (plain - plain.mean(0)).norm(dim=1)
    small, large = (float(share[torch.as_tensor(order[part])].mean()) for part in (slice(15), slice(-15, None)))
    assert small < large - 0.02 and large < 1


def test_draws_are_the_same_whatever_signs_a_processor_gives_eigenvectors(monkeypatch):
    """Libraries of linear algebra leave them open, and choose their code by the processor."""
    subjects = simulate(SimulationSpec(20, 40, 3)).subjects
    spec, prior = RegressionSpec(K, 0.02, intercept=True), NoisePrior(1.0, 0.02)

    def draws():
        sums = uncertain(subjects, 20, "function")
        found = fit_bdr(spec, sums, subjects.outcomes, subjects.covariates, noise_prior=prior, draws=30)
        return torch.cat([found.noises, *found.moments(GRID)])

    mine, eigh, svd = draws(), torch.linalg.eigh, torch.linalg.svd
    signs = [(-1.0) ** (torch.arange(400) // turn) for turn in (1, 3)]

    def turned(matrix):
        values, vectors = eigh(matrix)
        return values, vectors * signs[0][: len(values)]

    def other(matrix, full_matrices=True):
        left, values, right = svd(matrix, full_matrices=full_matrices)
        return left * signs[1][: len(values)], values, right * signs[1][: len(values), None]

    monkeypatch.setattr(torch.linalg, "eigh", turned)
    monkeypatch.setattr(torch.linalg, "svd", other)
    assert torch.allclose(draws(), mine, rtol=1e-7)


def test_bad_requests_are_a_sentence():
    subjects = simulate(SimulationSpec(5, 8)).subjects
    alone = make_subjects(np.arange(5.0), np.arange(5), np.arange(5.0) ** 2)
    with pytest.raises(InputError, match="give a positive number"):
        uncertain(subjects, scale=0.0).embeddings(K)
    with pytest.raises(InputError, match="a single measure"):
        uncertain(alone).embeddings(K)
    with pytest.raises(InputError, match="at least two draws"):
        fit_bdr(RegressionSpec(K), uncertain(subjects), subjects.outcomes, subjects.covariates, draws=1)
