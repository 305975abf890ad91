"""The kernel of a field in space: what it is made of, and that without its smooth term it is regression kriging."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.area_to_point import (
    INVERSE_LOCAL_SLOPE,
    area_to_point_kernel,
    cell_width,
    held_to,
    is_local_slopes,
)
from deconditioning.models.catalogue import GENERAL, MODELS, REGRESSION_KRIGING, named
from deconditioning.models.defaults import usual_model
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.learning.parameters import ParameterVector, kernel_parameters
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData
from tests.core.models.small import dense, normal

NAMES = ("y", "x", "c", "d")
PLACE = ("y", "x")


def squares(cells: int = 4, pixels: int = 3) -> Bags:
    """Cells of pixels × pixels points on a grid in steps of 0.1, with two covariates."""
    along = torch.arange(cells * pixels).double()
    row, column = (v.flatten() for v in torch.meshgrid(along, along, indexing="ij"))
    bag = (row // pixels * cells + column // pixels).long()
    return Bags(torch.cat([0.1 * torch.stack([row, column], 1), normal(len(bag), 2, seed=1)], 1), bag, cells**2)


def kernel(bags: Bags, names: tuple[str, ...] = NAMES, place: tuple[str, ...] = PLACE, **changes) -> KernelSpec:
    options = {"spatial": "powered_exponential", "covariates": "rbf", **changes}
    return area_to_point_kernel(bags, names, place, **options)


def families(spec: KernelSpec) -> list[list[tuple[str, tuple[str, ...]]]]:
    return [[(factor.family, factor.columns) for factor in term.factors] for term in spec.terms]


def test_a_cell_is_as_wide_as_a_square_of_its_spread():
    bags = squares(pixels=3)
    assert cell_width(bags.inputs[:, :2], bags) == pytest.approx(0.1 * math.sqrt(3**2 - 1))
    many = squares(cells=2, pixels=40)
    assert cell_width(many.inputs[:, :2], many) == pytest.approx(4.0, rel=1e-3)
    one = Bags(normal(5, 2, seed=2), torch.arange(5), 5)
    assert cell_width(one.inputs, one) == 1.0, "cells of one point have no width"


def test_the_terms_are_a_rough_one_of_the_place_a_smooth_one_of_the_covariates_lines_and_a_mean():
    bags = squares()
    whole = kernel(bags)
    rough, smooth = ("powered_exponential", PLACE), ("rbf", ("c", "d"))
    lines, mean = ("linear", ("c", "d")), ("constant", PLACE)
    assert families(whole) == [[rough], [smooth], [lines], [mean]]
    assert families(kernel(bags, covariates=None)) == [[rough], [lines], [mean]]
    assert families(kernel(bags, structure="product")) == [[rough, smooth], [lines], [mean]]
    plain = Bags(bags.inputs[:, :2], bags.bag, bags.count)
    assert families(kernel(plain, PLACE)) == [[rough], [mean]]
    assert whole.terms[0].factors[0].lengthscales == pytest.approx((4 * 0.1 * math.sqrt(8),))
    assert families(kernel(bags, spatial="matern32", covariates="linear")) == [[("matern32", PLACE)], [lines], [mean]]
    with pytest.raises(InputError, match="add the coordinates"):
        kernel(bags, place=())


def test_what_learning_holds_on_to():
    """Log-normal priors of width one, that of the exponent narrower; the mean's variance is no hyperparameter."""
    bags = squares()
    where = normal(16, 1, seed=3)
    data = IndirectData(bags, where, where, normal(16, seed=4))
    spec = ModelSpec("area_to_point_gp", kernel(bags), noise=1e-6)
    found = Trainable(spec, data, Columns(NAMES), hold=("noise", "point_noise"))
    names = found.vector.names
    assert names == (
        "k1 variance", "k1 lengthscale [y+x]", "k1 alpha [y+x]", "k2 variance", "k2 lengthscale [c]",
        "k2 lengthscale [d]", "k3 slope variance [c]", "k3 slope variance [d]",
    )  # fmt: skip
    start = found.vector.get()
    assert float(found.log_prior(1.0)) == 0
    for index, name in enumerate(names):
        moved = start.copy()
        moved[index] -= 0.2
        found.vector.set(moved)
        width = 0.35 if "alpha" in name else 1.0
        assert float(found.log_prior(0.5)) == pytest.approx(-0.5 * (0.2 / (0.5 * width)) ** 2), name
    assert found.learned().kernel.terms[-1] == spec.kernel.terms[-1]


@pytest.mark.parametrize("changes", [{}, {"structure": "product", "covariates": "linear"}, {"covariates": None}])
def test_priors_stay_where_they_are_wherever_learning_starts(changes):
    bags = squares()
    start = kernel(bags, **changes)
    moved = start
    for _ in range(2):  # also from what was learned before
        built = moved.build(NAMES)
        vector = ParameterVector(tuple(kernel_parameters("k", moved, built)))
        vector.set(vector.get() + 0.3)
        moved = moved.updated(built)
    assert moved != start
    centre = held_to(moved, bags, NAMES, PLACE)
    for term, expected in zip(centre.terms, start.terms, strict=True):
        assert term.scale == pytest.approx(expected.scale)
        for factor, other in zip(term.factors, expected.factors, strict=True):
            assert (factor.family, factor.columns) == (other.family, other.columns)
            assert (*factor.lengthscales, *factor.numbers.values()) == pytest.approx(
                (*other.lengthscales, *other.numbers.values())
            )
    where = normal(16, 1, seed=3)
    data = IndirectData(bags, where, where, normal(16, seed=4))
    spec, hold = ModelSpec("area_to_point_gp", moved, noise=1e-6), ("noise", "point_noise")
    count = len(vector.names)
    free = sum(0.6**2 / (0.35 if "alpha" in name else 1.0) ** 2 for name in vector.names)
    found = Trainable(spec, data, Columns(NAMES), hold=hold, held_to=centre)
    assert len(found.vector.names) == count and float(found.log_prior(1.0)) == pytest.approx(-0.5 * free)
    assert float(Trainable(spec, data, Columns(NAMES), hold=hold).log_prior(1.0)) == 0


def test_with_slopes_and_a_mean_that_are_not_known_at_all_it_is_regression_kriging():
    """Universal kriging from area to point: weights that reproduce the trend, and the variance of what they miss."""
    bags, points = squares(), normal(7, 4, seed=5)
    rough = KernelSpec((Term((Factor("powered_exponential", PLACE, (0.5,), {"alpha": 0.8}),), 0.7),))
    wide = (
        *rough.terms, Term((Factor("linear", ("c", "d"), (1e-4, 1e-4)),)), Term((Factor("constant", PLACE, ()),), 1e8)
    )  # fmt: skip
    z, where = normal(16, seed=6), normal(16, 1, seed=3)
    data = IndirectData(bags, where, where, z)
    found = posterior(ModelSpec("regression_kriging", KernelSpec(wide), noise=1e-3), data, Columns(NAMES))
    spread = torch.zeros(len(bags.bag), 16).double()
    spread[torch.arange(len(bags.bag)), bags.bag] = bags.weights
    between = spread.T @ dense(rough, NAMES, bags.inputs, bags.inputs) @ spread + 1e-3 * torch.eye(16).double()
    across = spread.T @ dense(rough, NAMES, bags.inputs, points)
    trend, there = (torch.cat([torch.ones(len(v), 1).double(), v[:, 2:]], 1) for v in (spread.T @ bags.inputs, points))
    system = torch.cat([torch.cat([between, trend], 1), torch.cat([trend.T, torch.zeros(3, 3).double()], 1)])
    right = torch.cat([across, there.T])
    solved = torch.linalg.solve(system, right)
    weights = solved[:16]
    assert torch.allclose(trend.T @ weights, there.T), "the trend is reproduced"
    mean, variance = found.mean_and_variance(points)
    assert torch.allclose(mean, weights.T @ z, atol=1e-5)
    assert torch.allclose(variance, 0.7 - (solved * right).sum(0), atol=1e-5)


def test_models_of_fields_in_space_are_told_from_general_ones():
    assert set(MODELS) - set(GENERAL) == {"area_to_point_gp", "regression_kriging", "partial_cmp"}
    assert usual_model(True, True).name == "area_to_point_gp" and usual_model(True, False).name == "bag_gp"
    assert usual_model(False, True).name == "area_to_point_gp" and usual_model(False, False).name == "shrinkage_cmp"
    known, guessed = (REGRESSION_KRIGING.start(matched) for matched in (True, False))
    assert known.noise < 1e-5 and set(known.hold) == {"noise", "point_noise"}
    assert guessed == replace(known, local_scale=False) and named("partial_cmp").start(matched=False) == replace(
        known, ridge=0.04
    )


def test_local_slopes_multiply_lines_by_a_correlation_of_the_place():
    bags = squares()
    whole, product = kernel(bags, local_slopes=True), kernel(bags, local_slopes=True, structure="product")
    assert families(whole)[3] == [("matern12", PLACE), ("linear", ("c", "d"))] and is_local_slopes(whole.terms[3])
    assert families(product) == families(kernel(bags, structure="product"))
    assert [is_local_slopes(term) for term in (*whole.terms, *product.terms)].count(True) == 1
    reach, lines = whole.terms[3].factors
    assert reach.lengthscales == (pytest.approx(4 * cell_width(bags.inputs[:, :2], bags)),)
    assert lines.lengthscales == (INVERSE_LOCAL_SLOPE,) * 2
    plain = Bags(bags.inputs[:, :2], bags.bag, bags.count)
    assert families(kernel(plain, PLACE, local_slopes=True)) == families(kernel(plain, PLACE))


def test_the_posterior_with_local_slopes_is_that_of_the_written_out_covariance():
    bags, reach, sds = squares(cells=3, pixels=2), 0.3, (0.5, 1.5)
    term = Term((Factor("matern12", PLACE, (reach,)), Factor("linear", ("c", "d"), tuple(1 / sd for sd in sds))))
    spec = ModelSpec(named("area_to_point_gp"), KernelSpec((term,)), noise=0.01)
    targets, cells = normal(9, 1, seed=3)[:, 0], torch.arange(9)[:, None].double()
    data = IndirectData(bags, cells, cells, targets)
    x, c = bags.inputs[:, :2].numpy(), bags.inputs[:, 2:].numpy() * np.array(sds)
    k = np.exp(-np.linalg.norm(x[:, None] - x[None], axis=2) / reach) * (c @ c.T)
    average = np.equal.outer(np.arange(9), bags.bag.numpy()) / 4
    inverse = np.linalg.inv(average @ k @ average.T + 0.01 * np.eye(9))
    across = k @ average.T
    mean, variance = posterior(spec, data, Columns(NAMES, (), PLACE)).mean_and_variance(bags.inputs)
    assert mean.numpy() == pytest.approx(across @ inverse @ targets.numpy(), abs=1e-7)
    assert variance.numpy() == pytest.approx(np.diag(k - across @ inverse @ across.T), abs=1e-7)


@pytest.mark.parametrize("sd", [0.4, 0.1])
def test_learning_recovers_the_sd_of_local_slopes(sd):
    """Values of 400 points drawn from k: the estimate is within a third, so that the two sds are told apart."""
    points, generator = 400, torch.Generator().manual_seed(1)
    inputs = torch.cat([torch.rand(points, 2, generator=generator).double() * 5, normal(points, 1, seed=5)], 1)
    bags, names = Bags(inputs, torch.arange(points), points), ("y", "x", "c")
    terms = [Term((Factor("matern12", PLACE, (1.0,)), Factor("linear", ("c",), (1 / each,)))) for each in (sd, 0.2)]
    rough = Term((Factor("matern12", PLACE, (2.0,)),), 0.2)
    truth, start = (ModelSpec(named("area_to_point_gp"), KernelSpec((rough, each)), noise=1e-3) for each in terms)
    drawn = drawn_from_the_prior(truth, bags, names, generator)
    cells = torch.arange(points)[:, None].double()
    options = LearningOptions(restarts=1, prior_sd=1.0, hold=("noise", "point_noise"))
    found = learn(start, IndirectData(bags, cells, cells, drawn), Columns(names, (), PLACE), options).spec
    slope = found.kernel.terms[1].factors[1].lengthscales[0]
    assert 1 / slope == pytest.approx(sd, rel=0.34)


def drawn_from_the_prior(spec: ModelSpec, bags: Bags, names: tuple[str, ...], generator: torch.Generator) -> Tensor:
    """Values of the points drawn from the prior, with noise."""
    covariance = spec.kernel.build(names)(bags.inputs).to_dense().detach() + spec.noise * torch.eye(bags.count)
    return torch.linalg.cholesky(covariance) @ torch.randn(bags.count, generator=generator, dtype=torch.float64)
