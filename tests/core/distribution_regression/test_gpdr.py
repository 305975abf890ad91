"""The posterior (6)-(7): invariances, ordinary regression as a limit, covariates, low rank, learned and drawn noise."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deconditioning import linalg
from deconditioning.distribution_regression.gibbs import NoisePrior, draw_noise, effective_size, with_noise_draws
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.distribution_regression.spectrum import fit_spectral, learn, learn_noise, log_evidence, spectrum
from deconditioning.distribution_regression.subjects import make_subjects, subset
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term

K = KernelSpec((Term((Factor("rbf", ("x",), (0.5,)),)),))
GRID = torch.linspace(0, 1, 21, dtype=torch.float64)[:, None]


def drawn(count: int = 25, measures: int = 30, seed: int = 0, covariates: int = 0):
    """Simulated subjects, with covariates that matter where asked for."""
    subjects = simulate(SimulationSpec(count, measures, seed, unequal=True)).subjects
    if not covariates:
        return subjects
    extra = np.random.default_rng(seed).normal(size=(count, covariates))
    outcomes = subjects.outcomes.numpy() + extra @ np.arange(1, covariates + 1)
    return make_subjects(subjects.measures.numpy(), subjects.owner.numpy(), outcomes, covariates=extra)


def regression(subjects, spec: RegressionSpec | None = None):
    return fit(
        spec or RegressionSpec(K), KernelSums(subjects.bags, subjects.columns), subjects.outcomes, subjects.covariates
    )


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), repeats=st.integers(1, 3))
def test_order_and_repetition_of_measures_do_not_matter(seed, repeats):
    subjects = drawn(8, 12)
    rng = np.random.default_rng(seed)
    values, owner = np.tile(subjects.measures.numpy(), (repeats, 1)), np.tile(subjects.owner.numpy(), repeats)
    order = rng.permutation(len(owner))
    other = make_subjects(values[order], owner[order], subjects.outcomes.numpy())
    for mine, theirs in zip(regression(subjects).moments(GRID), regression(other).moments(GRID), strict=True):
        assert float((mine - theirs).abs().max()) < 1e-12


def test_an_affine_transformation_of_the_measures_changes_no_prediction():
    subjects, scale, shift = drawn(), -37.0, 1000.0
    moved = make_subjects(scale * subjects.measures.numpy() + shift, subjects.owner.numpy(), subjects.outcomes.numpy())
    wide = KernelSpec((Term((Factor("rbf", ("x",), (0.5 * abs(scale),)),)),))
    here, there = regression(subjects), regression(moved, RegressionSpec(wide))
    for mine, theirs in zip(here.moments(GRID), there.moments(scale * GRID + shift), strict=True):
        assert float((mine - theirs).abs().max()) < 1e-10
    assert float((here.left_out() - there.left_out()).abs().max()) < 1e-10


def test_any_invertible_transformation_is_a_prior_on_the_composed_function():
    """From w = h(x) alone, ``f̃ = f∘h⁻¹`` has the kernel K(h⁻¹, h⁻¹): here by sums over w written out."""
    subjects = drawn(12, 20)
    w, owner, y = np.exp(3 * subjects.measures.numpy()[:, 0]), subjects.owner.numpy(), subjects.outcomes.numpy()

    def composed(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return np.exp(-((np.log(a)[:, None] / 3 - np.log(b) / 3) ** 2) / (2 * 0.25))

    member = (owner == np.arange(12)[:, None]) / np.bincount(owner)[:, None]
    solved = np.linalg.solve(member @ composed(w, w) @ member.T + 0.01 * np.eye(12), y)
    s = np.exp(3 * GRID.numpy()[:, 0])
    expected = (member @ composed(w, s)).T @ solved
    assert np.abs(regression(subjects).mean(GRID).numpy() - expected).max() < 1e-10


@pytest.mark.parametrize("family", ["rbf", "matern52", "matern12"])
def test_dirac_distributions_give_ordinary_regression(family):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, Matern

    rng = np.random.default_rng(3)
    x, y = rng.random(30), rng.normal(size=30)
    repeats = rng.integers(1, 50, 30)
    subjects = make_subjects(np.repeat(x, repeats), np.repeat(np.arange(30), repeats), y)
    own = KernelSpec((Term((Factor(family, ("x",), (0.3,)),)),))
    theirs = RBF(0.3) if family == "rbf" else Matern(0.3, nu={"matern52": 2.5, "matern12": 0.5}[family])
    other = GaussianProcessRegressor(theirs, alpha=0.01, optimizer=None).fit(x[:, None], y)
    mean, sd = other.predict(GRID.numpy(), return_std=True)
    found, variance = regression(subjects, RegressionSpec(own)).moments(GRID)
    assert np.abs(found.numpy() - mean).max() < 1e-10
    assert np.abs(variance.numpy() - sd**2).max() < 1e-10


def test_covariates_are_the_limit_of_a_wide_prior_on_their_slopes():
    subjects = drawn(covariates=2)
    found = regression(subjects, RegressionSpec(K, 0.02, intercept=True))
    design, y = np.c_[np.ones(25), subjects.covariates.numpy()], subjects.outcomes.numpy()
    wide = 1e7
    m, ell = found.gram.numpy(), found.sums.cross(K, GRID).numpy()
    covariance = m + wide * design @ design.T + 0.02 * np.eye(25)
    assert np.abs(found.mean(GRID).numpy() - ell.T @ np.linalg.solve(covariance, y)).max() < 1e-6
    variance = 1 - np.einsum("ip,ip->p", ell, np.linalg.solve(covariance, ell))
    assert np.abs(found.variance(GRID).numpy() - variance).max() < 1e-6
    slopes = wide * design.T @ np.linalg.solve(covariance, y)
    assert np.abs(found.slopes.numpy() - slopes).max() < 1e-5
    left = np.diag(wide * np.eye(3) - wide**2 * design.T @ np.linalg.solve(covariance, design))
    assert np.abs(found.slope_covariance.diagonal().numpy() - left).max() < 1e-5
    assert np.abs(found.slopes.numpy()[1:] - [1, 2]).max() < 0.2
    mean, spread = found.fitted()
    whole = m + wide * design @ design.T
    assert np.abs(mean.numpy() - whole @ np.linalg.solve(covariance, y)).max() < 1e-5
    assert np.abs(spread.numpy() - np.diag(whole - whole @ np.linalg.solve(covariance, whole))).max() < 1e-5


@pytest.mark.parametrize("covariates", [0, 2])
def test_left_out_predictions_are_those_of_refitting(covariates):
    subjects = drawn(12, 20, covariates=covariates)
    spec = RegressionSpec(K, 0.02, intercept=bool(covariates))
    found = regression(subjects, spec)
    for i in (0, 7):
        rest = np.delete(np.arange(12), i)
        without = regression(subset(subjects, rest), spec)
        one = found.design[i : i + 1]
        mean, _ = without.predict(found.gram[rest, i : i + 1], found.gram.diagonal()[i : i + 1], one)
        assert float(mean) == pytest.approx(float(found.left_out()[i]), abs=1e-9)


def test_variance_stays_within_the_prior_and_draws_have_the_posterior_moments():
    found = regression(drawn())
    mean, variance = found.moments(torch.linspace(-3, 4, 60, dtype=torch.float64)[:, None])
    assert float(variance.min()) >= 0 and float(variance.max()) <= 1 + 1e-12
    sampled = found.sample(GRID, 4000, torch.Generator().manual_seed(0))
    mean, variance = found.moments(GRID)
    assert float((sampled.mean(0) - mean).abs().max()) < 4 * float(variance.max() / 4000) ** 0.5
    assert float((sampled.var(0) / variance - 1).abs().max()) < 0.1


@pytest.mark.parametrize("covariates", [0, 1])
def test_the_spectrum_says_what_cholesky_says(covariates):
    subjects = drawn(covariates=covariates)
    spec = RegressionSpec(K, 0.03, intercept=bool(covariates))
    dense, spectral = regression(subjects, spec), fit_spectral(
        spec, KernelSums(subjects.bags, ("x",)), subjects.outcomes, subjects.covariates
    )  # fmt: skip
    for mine, theirs in zip(dense.moments(GRID), spectral.moments(GRID), strict=True):
        assert float((mine - theirs).abs().max()) < 1e-11
    assert float((dense.covariance(GRID) - spectral.covariance(GRID)).abs().max()) < 1e-11
    assert float((dense.fitted()[0] - spectral.fitted()).abs().max()) < 1e-11
    assert log_evidence(spectral.spectrum, 1.0, 0.03) == pytest.approx(dense.evidence, rel=1e-10)


def test_low_rank_is_the_minimiser_of_equation_15():
    subjects = drawn(60, 40)
    sums, rank = KernelSums(subjects.bags, ("x",)), 4
    m, y = sums.gram(K).numpy(), subjects.outcomes.numpy()
    values, vectors = np.linalg.eigh(m)
    u, d = vectors[:, -rank:], np.diag(values[-rank:])
    # normal equations of ‖y − U D w‖²/σ² + wᵀ D w
    w = np.linalg.solve(d @ u.T @ u @ d / 0.01 + d, d @ u.T @ y / 0.01)
    found = fit_spectral(RegressionSpec(K), sums, subjects.outcomes, subjects.covariates, rank=rank)
    assert np.abs(found.mean(GRID).numpy() - sums.cross(K, GRID).numpy().T @ u @ w).max() < 1e-9
    full = fit_spectral(RegressionSpec(K), sums, subjects.outcomes, subjects.covariates)
    assert bool((found.variance(GRID) >= full.variance(GRID) - 1e-12).all())
    whole = fit_spectral(RegressionSpec(K), sums, subjects.outcomes, subjects.covariates, rank=60)
    assert float((whole.mean(GRID) - full.mean(GRID)).abs().max()) < 1e-10


def test_lanczos_finds_the_leading_eigenvectors():
    a = torch.randn(90, 90, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    matrix = a @ a.T
    values, vectors = linalg.leading_eigen(matrix, 5)
    exact = torch.linalg.eigvalsh(matrix).flip(0)[:5]
    assert float((values - exact).abs().max()) < 1e-9
    assert float((matrix @ vectors - vectors * values).abs().max()) < 1e-8


def test_learned_noise_scale_and_lengthscale_have_the_highest_evidence():
    subjects = drawn(150, 100)
    sums = KernelSums(subjects.bags, ("x",))
    found = spectrum(sums.gram(K), subjects.outcomes, subjects.covariates)
    best = learn_noise(found)
    assert log_evidence(found, 1.0, best) >= max(log_evidence(found, 1.0, v) for v in np.logspace(-5, 0, 200)) - 1e-6
    learned = learn(RegressionSpec(K), sums, subjects.outcomes, subjects.covariates)
    top = regression(subjects, learned.spec).evidence
    assert not learned.warnings
    assert top == pytest.approx(learned.evidence, abs=1e-6)
    factor, term = learned.spec.kernel.terms[0].factors[0], learned.spec.kernel.terms[0]
    for length, scale, noise in [(1.3, 1, 1), (0.75, 1, 1), (1, 1.5, 1), (1, 0.7, 1), (1, 1, 1.3), (1, 1, 0.8)]:
        moved = Factor("rbf", ("x",), (factor.lengthscales[0] * length,))
        spec = RegressionSpec(KernelSpec((Term((moved,), term.scale * scale),)), learned.spec.noise * noise)
        assert regression(subjects, spec).evidence < top


def test_gibbs_draws_have_the_moments_of_the_exact_noise_posterior():
    subjects, prior = drawn(40, 40), NoisePrior(2.0, 0.02)
    posterior = fit_spectral(
        RegressionSpec(K), KernelSums(subjects.bags, ("x",)), subjects.outcomes, subjects.covariates
    )
    chain = draw_noise(posterior, prior, draws=6000, burn_in=200, seed=1)
    v = np.logspace(-4, 0, 4000)
    log_density = np.array([log_evidence(posterior.spectrum, 1.0, float(s)) for s in v])
    log_density += -(prior.shape + 1) * np.log(v) - prior.rate / v
    density = np.exp(log_density - log_density.max()) * np.gradient(v)
    mean = float((v * density).sum() / density.sum())
    sd = math.sqrt(float(((v - mean) ** 2 * density).sum() / density.sum()))
    error = sd / math.sqrt(chain.effective)
    assert chain.effective > 500
    assert abs(chain.noises.mean() - mean) < 4 * error
    assert chain.noises.std() == pytest.approx(sd, rel=0.1)
    mixed = with_noise_draws(posterior, chain)
    means = torch.stack([regression(subjects, RegressionSpec(K, float(s))).mean(GRID) for s in chain.noises[:200:10]])
    some = with_noise_draws(posterior, type(chain)(chain.noises[:200:10], 1.0))
    assert float((some.mean(GRID) - means.mean(0)).abs().max()) < 1e-10
    assert float(mixed.variance(GRID).min()) > 0


def test_gibbs_noise_does_not_depend_on_the_outcomes_unit():
    noises = []
    for unit in (1.0, 0.01):
        subjects = drawn(40, 40)
        subjects = replace(subjects, outcomes=unit * subjects.outcomes)
        kernel = KernelSpec((Term(K.terms[0].factors, unit**2),))
        spec = RegressionSpec(kernel, 0.01 * unit**2)
        sums = KernelSums(subjects.bags, ("x",))
        found = fit_spectral(spec, sums, subjects.outcomes, subjects.covariates)
        drawn_noise = draw_noise(found, NoisePrior.of(subjects.outcomes.numpy()), draws=300, seed=2)
        noises.append(float(drawn_noise.noises.mean()) / unit**2)
    assert noises[0] == pytest.approx(noises[1], rel=1e-6)


def test_effective_size_of_an_autoregression():
    rng, x, chain = np.random.default_rng(0), 0.0, []
    for _ in range(20_000):
        x = 0.6 * x + rng.standard_normal()
        chain.append(x)
    assert effective_size(np.array(chain)) == pytest.approx(20_000 * 0.4 / 1.6, rel=0.2)


@pytest.mark.parametrize(
    ("make", "word"),
    [
        (lambda: make_subjects(np.ones(3), np.zeros(3, int), np.array([1.0])), "There is 1 subject"),
        (lambda: make_subjects(np.arange(3.0), np.array([0, 0, 1]), np.array([1.0, 2.0, 3.0])), "no measurement"),
        (lambda: make_subjects(np.arange(3.0), np.arange(3), np.ones(3)), "nothing to explain"),
        (lambda: make_subjects(np.array([1.0, np.nan]), np.arange(2), np.arange(2.0)), "missing or infinite"),
        (lambda: make_subjects(np.arange(2.0), np.array([0, 2]), np.arange(2.0)), "index of its subject"),
        (lambda: RegressionSpec(K, noise=0.0), "positive variance"),
        (lambda: spectrum(torch.eye(3), torch.ones(3), torch.empty(3, 0), rank=9), "Rank 9"),
        (lambda: NoisePrior(0.0, 1.0), "two positive"),
    ],
)  # fmt: skip
def test_bad_input_is_a_sentence(make, word):
    with pytest.raises(InputError, match=word):
        make()


def test_covariates_that_determine_each_other_are_refused():
    subjects = drawn()
    twice = make_subjects(
        subjects.measures.numpy(), subjects.owner.numpy(), subjects.outcomes.numpy(), covariates=np.ones((25, 1))
    )
    with pytest.raises(InputError, match="combinations of each other"):
        regression(twice, RegressionSpec(K, intercept=True))


def test_with_an_intercept_the_function_less_its_mean_is_what_is_known():
    subjects, spec, wide = drawn(covariates=1), RegressionSpec(K, 0.02, intercept=True), 1e7
    sums = KernelSums(subjects.bags, ("x",))
    found = regression(subjects, spec)
    design, y = np.c_[np.ones(25), subjects.covariates.numpy()], subjects.outcomes.numpy()
    m, ell = found.gram.numpy(), sums.cross(K, GRID).numpy()
    covariance = m + wide * design @ design.T + 0.02 * np.eye(25)
    between = ell - m.mean(1, keepdims=True)  # of the outcomes and f(s) − Σ_i E_i f/n
    prior = 1 - 2 * ell.mean(0) + m.mean()
    mean, variance = found.moments(GRID, centred=True)
    assert np.abs(mean.numpy() - between.T @ np.linalg.solve(covariance, y)).max() < 1e-6
    left = prior - np.einsum("ip,ip->p", between, np.linalg.solve(covariance, between))
    assert np.abs(variance.numpy() - left).max() < 1e-6
    spectral = fit_spectral(spec, sums, subjects.outcomes, subjects.covariates).moments(GRID, centred=True)
    assert float((spectral[0] - mean).abs().max()) < 1e-10 and float((spectral[1] - variance).abs().max()) < 1e-10
    moved = fit(spec, sums, subjects.outcomes + 1000.0, subjects.covariates).moments(GRID, centred=True)
    assert float((moved[0] - mean).abs().max()) < 1e-8
