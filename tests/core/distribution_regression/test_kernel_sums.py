"""Kernel sums over repeated measures: every route against brute force, merging, refusals with a cost."""

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.bag_sums.line_sums import sort_line, sorted_cross, sorted_gram
from deconditioning.bag_sums.routes import Route
from deconditioning.distribution_regression.gpdr import RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, simulate
from deconditioning.distribution_regression.subjects import make_subjects, merged_bags, subset
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags


def kernel(family: str, scale: float, columns: tuple[str, ...] = ("x",), variance: float = 1.0) -> KernelSpec:
    return KernelSpec((Term((Factor(family, columns, (scale,)),), variance),))


def some_subjects(seed: int = 0, count: int = 9, distinct: bool = True):
    """Unequal numbers of measures, some values repeated."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 40, count)
    values = rng.normal(size=sizes.sum())
    values = values if distinct else np.round(values, 1)
    return make_subjects(values, rng.permutation(np.repeat(np.arange(count), sizes)), rng.normal(size=count))


@pytest.mark.parametrize("family", ["matern12", "matern32", "matern52", "mixed_matern"])
@pytest.mark.parametrize("scale", [1e-3, 0.2, 30.0])
def test_sorted_sums_are_the_dense_ones(family, scale):
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(700, generator=generator, dtype=torch.float64)
    x[:40] = x[100:140]  # ties across bags
    bag = torch.cat([torch.arange(11), torch.randint(0, 11, (689,), generator=generator)])
    bags = Bags(x[:, None], bag, 11)
    points = torch.cat([torch.linspace(-6, 6, 31, dtype=torch.float64), x[:9]])
    spec = kernel(family, scale)
    decay, spec = spec.terms[0].factors[0].kind.decay(spec.terms[0].factors[0]), spec.build(("x",))
    line = sort_line(x, bag, bags.weights, 11)
    with torch.no_grad():
        dense, across = gram(spec, sort_bags(bags)), cross(spec, sort_bags(bags), points[:, None])
    assert float((sorted_gram(line, decay) - dense).abs().max()) < 1e-13
    assert float((sorted_cross(line, decay, points) - across).abs().max()) < 1e-13


@pytest.mark.parametrize(
    ("spec", "route"),
    [
        (kernel("rbf", 0.7), Route.CHEBYSHEV),
        (kernel("rational_quadratic", 0.9), Route.CHEBYSHEV),
        (kernel("matern52", 0.4, variance=3.0), Route.SORTED),
        (kernel("rbf", 1e-3), Route.DIRECT),  # too rough for 512 nodes
        (KernelSpec((*kernel("rbf", 1.0).terms, *kernel("matern12", 0.5, variance=0.3).terms)), Route.CHEBYSHEV),
        (KernelSpec((Term((Factor("matern32", ("x",), (1.0,)), Factor("rbf", ("x",), (1.0,)))),)), Route.DIRECT),
    ],
)
def test_every_route_is_the_tiled_sum(spec, route):
    subjects = some_subjects()
    sums, bags = KernelSums(subjects.bags, ("x",)), sort_bags(subjects.bags)
    assert sums.routes(spec)[0].route is route
    built, points = spec.build(("x",)), torch.linspace(-4, 4, 23, dtype=torch.float64)[:, None]
    with torch.no_grad():
        assert float((sums.gram(spec) - gram(built, bags)).abs().max()) < 1e-12
        assert float((sums.cross(spec, points) - cross(built, bags, points)).abs().max()) < 1e-12
        assert torch.equal(sums.prior(spec, points, points).diagonal(), sums.prior_variance(spec, points))


def test_merging_repeated_values_changes_nothing():
    subjects = some_subjects(distinct=False)
    raw = Bags(subjects.measures, subjects.owner, subjects.count)
    assert len(subjects.bags.inputs) < len(raw.inputs)
    assert torch.equal(subjects.bags.sizes, raw.sizes)
    assert float((subjects.bags.mean(subjects.bags.inputs**3) - raw.mean(raw.inputs**3)).abs().max()) < 1e-14
    pairs = np.unique(np.c_[subjects.owner.numpy(), subjects.measures.numpy()], axis=0)
    assert len(pairs) == len(subjects.bags.inputs)


def test_merging_several_columns_keeps_their_pairs():
    values = torch.tensor([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [2.0, 2.0]], dtype=torch.float64)
    bags = merged_bags(values, torch.tensor([0, 0, 0, 1]), 2)
    assert bags.inputs.tolist() == [[1, 2], [1, 3], [2, 2]]
    assert bags.weights.tolist() == pytest.approx([2 / 3, 1 / 3, 1])


@pytest.mark.parametrize("distinct", [False, True])
def test_the_posterior_at_n_40_m_200_is_brute_force(distinct):
    drawn = simulate(SimulationSpec(40, 200, 5, distinct=distinct)).subjects
    x, y = drawn.measures.numpy().reshape(40, 200), drawn.outcomes.numpy()
    s = np.linspace(0, 1, 13)
    m = np.empty((40, 40))
    for i in range(40):  # every pair of measures, one by one
        m[i] = np.exp(-((x[i][:, None] - x.ravel()) ** 2) / (2 * 0.25)).mean(0).reshape(40, 200).mean(1)
    ell = np.exp(-((x[:, :, None] - s) ** 2) / (2 * 0.25)).mean(1)
    inverse = np.linalg.inv(m + 0.01 * np.eye(40))
    found = fit(RegressionSpec(kernel("rbf", 0.5)), KernelSums(drawn.bags, ("x",)), drawn.outcomes, drawn.covariates)
    mean, variance = found.moments(torch.from_numpy(s)[:, None])
    assert np.abs(mean.numpy() - ell.T @ inverse @ y).max() < 1e-10
    assert np.abs(variance.numpy() - (1 - np.einsum("ip,ij,jp->p", ell, inverse, ell))).max() < 1e-10
    assert np.abs(found.gram.numpy() - m).max() < 1e-12


def test_tiled_sums_that_would_take_long_are_refused_with_their_cost():
    rng = np.random.default_rng(0)
    subjects = make_subjects(
        rng.normal(size=(4000, 2)), np.repeat(np.arange(20), 200), rng.normal(size=20), columns=("a", "b")
    )
    sums = KernelSums(subjects.bags, ("a", "b"), most_seconds=0.01)
    with pytest.raises(InputError, match=r"4,000 distinct measures .* pairs, about"):
        sums.gram(kernel("rbf", 1.0, ("a", "b")))
    small = subset(subjects, np.arange(3))
    assert KernelSums(small.bags, ("a", "b")).gram(kernel("rbf", 1.0, ("a", "b"))).shape == (3, 3)
