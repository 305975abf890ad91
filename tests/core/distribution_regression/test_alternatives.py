"""Densities, landmarks, functional regression and an unknown link, each against a second route."""

import numpy as np
import pytest
import torch

from deconditioning.distribution_regression.density import BANDWIDTHS, DensitySums, bandwidths
from deconditioning.distribution_regression.functional import curve_features, fit_functional
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.landmarks import LandmarkSums, spread_landmarks
from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.distribution_regression.single_index import fit_single_index
from deconditioning.distribution_regression.subjects import make_subjects
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term

K = KernelSpec((Term((Factor("rbf", ("x",), (0.5,)),), 1.7),))
GRID = torch.linspace(-0.3, 1.4, 17, dtype=torch.float64)[:, None]


@pytest.fixture(scope="module")
def subjects():
    return simulate(SimulationSpec(12, 60, 3, unequal=True)).subjects


def test_density_sums_are_the_closed_form_of_gaussians_on_gaussians(subjects):
    sums, h = DensitySums(subjects), bandwidths(subjects).numpy()
    x, owner = subjects.measures.numpy()[:, 0], subjects.owner.numpy()
    member = (owner == np.arange(12)[:, None]) / np.bincount(owner)[:, None]
    width = 0.25 + h[owner][:, None] ** 2 + h[owner] ** 2
    pairs = 1.7 * 0.5 / np.sqrt(width) * np.exp(-((x[:, None] - x) ** 2) / (2 * width))
    assert np.abs(sums.gram(K).numpy() - member @ pairs @ member.T).max() < 1e-12
    width = 0.25 + h[owner][:, None] ** 2
    near = 1.7 * 0.5 / np.sqrt(width) * np.exp(-((x[:, None] - GRID.numpy()[:, 0]) ** 2) / (2 * width))
    assert np.abs(sums.cross(K, GRID).numpy() - member @ near).max() < 1e-12


def test_bandwidths_follow_their_rules(subjects):
    x = subjects.measures.numpy()[subjects.owner.numpy() == 4, 0]
    sd, m = x.std(ddof=1), len(x)
    low, high = np.quantile(x, [0.25, 0.75], method="inverted_cdf")
    wanted = {
        "silverman_0.9": 0.9 * min(sd, (high - low) / 1.34) * m**-0.2,
        "silverman": (4 / 3) ** 0.2 * sd * m**-0.2,
        "scott": sd * m**-0.2,
    }
    for rule in BANDWIDTHS:
        assert float(bandwidths(subjects, rule)[4]) == pytest.approx(wanted[rule], rel=1e-12)
    with pytest.raises(InputError, match="unknown"):
        bandwidths(subjects, "guess")


def test_a_subject_that_does_not_vary_and_reflection_keep_all_mass():
    same = make_subjects(np.array([0.5, 0.5, 0.0, 1.0, 0.2]), np.array([0, 0, 1, 1, 2]), np.arange(3.0))
    for reflect in (False, True):
        sums = DensitySums(same, ends="reflect" if reflect else "open")
        assert float((sums.weights.sum(1) - 1).abs().max()) < 1e-12
        if reflect:
            assert float(sums.grid.min()) >= 0 and float(sums.grid.max()) <= 1
    assert float(sums.weights[0] @ (sums.grid - 0.5).abs()) < 2e-3


@pytest.mark.parametrize("prior", ["weights", "function"])
def test_landmarks_are_regression_in_the_space_of_their_weights(subjects, prior):
    base, landmarks = KernelSums(subjects.bags, ("x",)), spread_landmarks(subjects, 4)
    found = fit(RegressionSpec(K), LandmarkSums(base, landmarks, prior), subjects.outcomes, subjects.covariates)
    features, u, y = base.cross(K, landmarks).numpy(), landmarks.numpy()[:, 0], subjects.outcomes.numpy()
    k_uu = 1.7 * np.exp(-((u[:, None] - u) ** 2) / 0.5)
    precision = 1.7 * np.eye(4) if prior == "weights" else k_uu
    covariance = np.linalg.inv(precision + features.T @ features / 0.01)
    near = 1.7 * np.exp(-((GRID.numpy() - u) ** 2) / 0.5)
    assert np.abs(found.mean(GRID).numpy() - near @ covariance @ features.T @ y / 0.01).max() < 1e-9
    assert np.abs(found.variance(GRID).numpy() - np.einsum("pr,rs,ps->p", near, covariance, near)).max() < 1e-9


def test_landmarks_at_every_value_are_the_full_regression():
    few = make_subjects(np.array([0.0, 0.3, 0.3, 0.9, 0.6]), np.array([0, 0, 1, 1, 2]), np.array([1.0, -1.0, 0.5]))
    base = KernelSums(few.bags, ("x",))
    atoms = torch.tensor([[0.0], [0.3], [0.6], [0.9]], dtype=torch.float64)
    left = fit(RegressionSpec(K), base, few.outcomes, few.covariates)
    right = fit(RegressionSpec(K), LandmarkSums(base, atoms, "function"), few.outcomes, few.covariates)
    assert float((left.mean(GRID) - right.mean(GRID)).abs().max()) < 1e-9


def test_landmarks_of_several_columns_are_centres():
    rng = np.random.default_rng(0)
    two = make_subjects(rng.normal(size=(90, 2)), np.repeat(np.arange(9), 10), rng.normal(size=9), columns=("a", "b"))
    assert spread_landmarks(two, 7).shape == (7, 2)
    with pytest.raises(InputError, match="one column"):
        DensitySums(two)


def test_functional_features_are_means_of_measure_times_spline():
    from scipy.interpolate import BSpline

    rng = np.random.default_rng(1)
    values, owner = rng.normal(size=30), np.repeat([0, 1], [10, 20])
    two = make_subjects(values, owner, np.array([0.0, 1.0]))
    inner = np.linspace(0, 1, 8)
    step = inner[1]
    knots = np.r_[-step * np.arange(3, 0, -1), inner, 1 + step * np.arange(1, 4)]
    time = (np.arange(20) + 0.5) / 20
    expected = BSpline.design_matrix(time, knots, 3).toarray().T @ values[10:] / 20
    assert np.abs(curve_features(two)[1] - expected).max() < 1e-12


def test_functional_regression_sees_time_and_nothing_else():
    rng = np.random.default_rng(2)
    t = (np.arange(200) + 0.5) / 200
    curves = rng.normal(size=(150, 1)) * np.sin(2 * np.pi * t) + 0.3 * rng.normal(size=(150, 200))
    y = curves @ (np.sin(2 * np.pi * t) / 200) + 0.01 * rng.normal(size=150)
    owner = np.repeat(np.arange(150), 200)
    ordered = make_subjects(curves.ravel(), owner, y)
    shuffled = make_subjects(rng.permuted(curves, axis=1).ravel(), owner, y)
    r2 = []
    for data in (ordered, shuffled):
        features, none = curve_features(data), np.empty((150, 0))
        found = fit_functional(features[:100], none[:100], y[:100]).predict(features[100:], none[100:])
        r2.append(1 - ((y[100:] - found) ** 2).sum() / ((y[100:] - y[100:].mean()) ** 2).sum())
    assert r2[0] > 0.95 and r2[1] < 0.2


def test_an_unknown_link_is_found_where_the_outcome_bends():
    drawn = simulate(SimulationSpec(200, 300, 1, spread=3.0))
    linear = drawn.expected
    y = ((linear - linear.mean()) / linear.std()) ** 2 + 0.1 * np.random.default_rng(0).normal(size=200)
    bent = make_subjects(drawn.subjects.measures.numpy(), drawn.subjects.owner.numpy(), y)
    sums = KernelSums(bent.bags, ("x",))
    plain = fit(RegressionSpec(K, 0.01, intercept=True), sums, bent.outcomes, bent.covariates)
    found = fit_single_index(plain.gram, bent.outcomes, plain.fitted()[0] - plain.outcomes.mean(), rank=4)
    error = float((found.left_out - bent.outcomes).square().mean())
    assert error == pytest.approx(found.loss, rel=1e-9)
    assert error < 0.3 * float((plain.left_out() - bent.outcomes).square().mean())
    assert abs(np.corrcoef(found.index.numpy(), linear)[0, 1]) > 0.9
    assert float(found.weights.norm()) == pytest.approx(1.0)
    assert float((found.predict(plain.gram) - found.link(found.index)).abs().max()) < 1e-7
    i = 11
    scale = found.bandwidth * found.index.std()
    near = torch.exp(-0.5 * ((found.index - found.index[i]) / scale) ** 2)
    near[i] = 0
    assert float(found.left_out[i]) == pytest.approx(float(near @ bent.outcomes / near.sum()), rel=1e-9)
