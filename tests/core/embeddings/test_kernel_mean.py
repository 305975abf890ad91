"""Kernel means against sums written out, grids, explicit features and limits."""

import math

import numpy as np
import pytest
import torch

from deconditioning.embeddings.kernel_mean import Candidates, KernelMean, empirical, preimages
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from tests.core.models.small import dense, normal

SPEC = KernelSpec((Term((Factor("rbf", ("a", "b"), (0.7, 1.1)),), 1.0),))
KERNEL = SPEC.build(("a", "b"))
LINE = KernelSpec((Term((Factor("rbf", ("a",), (0.5,)),)),)).build(("a",))


def mean(seed: int = 0, count: int = 8) -> KernelMean:
    return KernelMean(normal(count, 2, seed=seed), 0.2 * normal(count, seed=seed + 50) + 1 / count, KERNEL)


def test_values_and_inner_products_are_the_sums_written_out():
    mu, nu, at = mean(0), mean(1), normal(5, 2, seed=9)
    assert torch.allclose(mu.at(at), dense(SPEC, ("a", "b"), at, mu.points) @ mu.weights, atol=1e-12)
    inner = sum(
        float(w * v * dense(SPEC, ("a", "b"), x[None], y[None]))
        for w, x in zip(mu.weights, mu.points, strict=True)
        for v, y in zip(nu.weights, nu.points, strict=True)
    )
    assert mu.inner(nu) == pytest.approx(inner, abs=1e-12) == pytest.approx(nu.inner(mu), abs=1e-12)


def test_the_distance_is_that_of_the_joined_sample_and_vanishes_on_itself():
    mu, nu = mean(0), mean(1)
    joined = KernelMean(torch.cat([mu.points, nu.points]), torch.cat([mu.weights, -nu.weights]), KERNEL)
    assert mu.distance(nu) == pytest.approx(joined.inner(joined) ** 0.5, abs=1e-12)
    assert mu.distance(mu) == pytest.approx(0, abs=1e-7)
    split = KernelMean(mu.points.repeat(2, 1), mu.weights.repeat(2) / 2, KERNEL)
    assert mu.distance(split) == pytest.approx(0, abs=1e-7)


def test_an_embedding_of_a_gaussian_sample_nears_its_closed_form():
    points = normal(4000, 1, seed=3)
    at = torch.linspace(-2, 2, 9).double()[:, None]
    width = 0.25 + 1
    closed = 0.5 / math.sqrt(width) * torch.exp(-0.5 * at[:, 0] ** 2 / width)
    assert torch.allclose(empirical(points, LINE).at(at), closed, atol=0.03)


def test_expectations_are_weighted_sums_of_any_shape():
    mu, values = mean(), normal(8, 3, seed=4)
    assert torch.allclose(mu.expectation(values), (mu.weights[:, None] * values).sum(0))
    assert float(mu.expectation(torch.ones(8).double())) == pytest.approx(mu.total)
    with pytest.raises(InputError, match="give one row per point"):
        mu.expectation(values[:-1])


def test_the_negative_weights_are_summed_and_none_is_plain_zero():
    mu = KernelMean(normal(4, 2, seed=0), torch.tensor([0.75, -0.25, 1.0, -0.5], dtype=torch.float64), KERNEL)
    assert mu.negative == 0.75
    assert f"{empirical(mu.points, KERNEL).negative:g}" == "0"


def test_a_preimage_minimises_the_distance_on_a_grid():
    mu = KernelMean(normal(40, 1, seed=5) * 0.3 + 1.0, torch.full((40,), 1 / 40).double(), LINE)
    found = mu.preimage()
    grid = torch.linspace(-1, 3, 4001).double()[:, None]
    assert found.status == "converged"
    assert float(found.point) == pytest.approx(float(grid[mu.at(grid).argmax()]), abs=1e-3)
    one = KernelMean(torch.tensor([[0.3]]).double(), torch.ones(1).double(), LINE).preimage()
    assert float(one.point) == pytest.approx(0.3)


def test_many_preimages_at_once_are_each_ones_own():
    points = torch.linspace(-2, 2, 9).double()[:, None]
    weights = torch.from_numpy(np.random.default_rng(2).dirichlet(np.ones(9), size=4))
    weights[3] = torch.tensor([1.0, 0, 0, 0, -0.9, 0, 0, 0, 0.0]).double()
    together = preimages(points, weights, LINE, 40)
    assert len({image.steps for image in together}) > 1
    for row, image in zip(weights, together, strict=True):
        alone = KernelMean(points, row, LINE).preimage(40)
        assert (alone.status, alone.steps) == (image.status, image.steps)
        assert torch.allclose(alone.point, image.point, atol=1e-12)


def test_a_preimage_says_how_it_ended():
    wide = KernelMean(normal(40, 1, seed=5), torch.full((40,), 1 / 40).double(), LINE)
    assert wide.preimage(steps=1).status == "stopped"
    apart = KernelMean(torch.tensor([[-40.0], [40.0]]).double(), torch.tensor([0.5, 0.5]).double(), LINE)
    assert apart.preimage().status == "guarded"
    with pytest.raises(InputError, match="No weight is positive"):
        KernelMean(wide.points, -wide.weights, LINE).preimage()
    matern = KernelSpec((Term((Factor("matern32", ("a",), (0.5,)),)),)).build(("a",))
    with pytest.raises(InputError, match="Gaussian"):
        KernelMean(wide.points, wide.weights, matern).preimage()


def test_herding_is_the_greedy_choice_in_an_explicit_feature_space():
    linear = KernelSpec((Term((Factor("linear", ("a", "b"), (1.0,)),)),)).build(("a", "b"))
    points = normal(12, 2, seed=6)
    mu = KernelMean(points, torch.full((12,), 1 / 12).double(), linear)
    target, state, expected = points.mean(0), points.mean(0).clone(), []
    for _ in range(15):
        best = int((points @ state).argmax())
        expected.append(best)
        state = state + target - points[best]
    assert torch.equal(mu.herd(15), points[expected])


def test_herded_samples_near_the_embedding_faster_than_chance():
    mu = KernelMean(normal(30, 2, seed=2), normal(30, seed=52).abs(), KERNEL).normalised()
    far = [mu.distance(empirical(mu.herd(count), KERNEL)) for count in (4, 16, 64)]
    assert far[2] < far[1] < far[0] and far[2] < 0.05
    drawn = mu.points[torch.randint(30, (64,), generator=torch.Generator().manual_seed(0))]
    assert far[2] < mu.distance(empirical(drawn, KERNEL))


def test_herding_takes_the_best_of_the_candidates_and_normalises():
    mu = KernelMean(torch.tensor([[0.0], [1.0]]).double(), torch.tensor([2.0, 1.0]).double(), LINE)
    grid = torch.linspace(-2, 2, 401).double()[:, None]
    first = mu.herd(1, grid)
    assert float(first) == pytest.approx(float(grid[mu.at(grid).argmax()]))
    doubled = KernelMean(mu.points, 2 * mu.weights, LINE)
    assert torch.equal(mu.herd(20, grid), doubled.herd(20, grid))
    with pytest.raises(InputError, match="at least one"):
        mu.herd(0)


def test_candidates_that_have_served_one_embedding_serve_the_next_alike():
    points, grid = normal(30, 2, seed=2), normal(50, 2, seed=8)
    shared = Candidates(grid, KERNEL)
    for seed in (52, 53, 54):
        for at in (points, points.clone(), 0.5 * points):
            mu = KernelMean(at, normal(30, seed=seed).abs(), KERNEL)
            assert torch.equal(shared.herd(mu, 20), mu.herd(20, grid))


def test_lost_mass_and_wrong_shapes_are_said(unchecked):
    mu = mean()
    with pytest.raises(InputError, match="too far from the data"):
        KernelMean(mu.points, mu.weights - mu.weights.mean(), KERNEL).normalised()
    assert KernelMean(mu.points, 5 * mu.weights, KERNEL).normalised().total == pytest.approx(1)
    with pytest.raises(InputError, match="one weight per point"):
        KernelMean(mu.points, mu.weights[:-1], KERNEL)
    with pytest.raises(InputError, match="missing or infinite"):
        KernelMean(mu.points, mu.weights * math.nan, KERNEL)


@pytest.mark.gpu
def test_cuda_gives_the_same_numbers():
    mu, at = mean(), normal(5, 2, seed=9)
    there = KernelMean(mu.points.cuda(), mu.weights.cuda(), SPEC.build(("a", "b")).cuda())
    assert torch.allclose(there.at(at.cuda()).cpu(), mu.at(at), atol=1e-6)
    assert torch.allclose(there.herd(10).cpu(), mu.herd(10))
