"""Kernels and their bag sums against closed formulas and sums written out."""

import json
import pickle

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.pixel_sums import Picture, is_cheap, term_sums
from deconditioning.errors import InputError
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.fourier import draw_prior
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import diagonal, evaluate
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags
from tests.core.models.small import COLUMNS, KERNEL, dense, normal, problem

NAMES = COLUMNS.inputs
CASES = [
    (name, scales)
    for name, family in FAMILIES.items()
    for scales in (((),) if family.without_scales else ((0.7,), (0.5, 1.5)))
]


def one(family: str, scales: tuple[float, ...], columns=("a", "c")) -> KernelSpec:
    """A kernel of one factor."""
    own = {"alpha": 1.3, "period": 2.0, "mixture": 0.4}
    known = {name: value for name, value in own.items() if name in {each.name for each in FAMILIES[family].parameters}}
    return KernelSpec((Term((Factor(family, columns, scales, known),), 1.7),))


@pytest.mark.parametrize(("family", "scales"), CASES)
def test_families_equal_gpytorch_and_their_closed_formulas(family, scales):
    spec = one(family, scales)
    left, right = normal(9, 3, seed=1), normal(7, 3, seed=2)
    kernel = spec.build(NAMES)
    with torch.no_grad():
        found = evaluate(kernel, left, right)
        assert torch.allclose(found, dense(spec, NAMES, left, right), atol=1e-12)
        assert torch.allclose(found, kernel(left, right).to_dense(), atol=1e-7)  # gpytorch rounds Matérn distances
        assert torch.allclose(diagonal(kernel, left), evaluate(kernel, left, left).diagonal(), atol=1e-12)
    expected = spec.terms[0].factors[0].lengthscales
    assert spec.updated(kernel).terms[0].factors[0].lengthscales == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("spec", [KERNEL, *(one(*case) for case in CASES)])
def test_a_specification_survives_json_and_pickle(spec):
    assert KernelSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    assert pickle.loads(pickle.dumps(spec)) == spec  # noqa: S301


def test_files_of_older_versions_name_two_parameters_of_every_factor():
    older = {"family": "rbf", "columns": ["a"], "lengthscales": [0.7], "alpha": 1.0, "period": 1.0}
    assert KernelSpec.from_dict({"terms": [{"scale": 1.0, "factors": [older]}]}) == KernelSpec(
        (Term((Factor("rbf", ("a",), (0.7,)),)),)
    )
    quadratic = older | {"family": "rational_quadratic", "alpha": 0.3}
    found = KernelSpec.from_dict({"terms": [{"scale": 1.0, "factors": [quadratic]}]}).terms[0].factors[0]
    assert found.numbers == {"alpha": 0.3}


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (lambda: Factor("nonsense", ("a",), (1.0,)), "unknown"),
        (lambda: Factor("rbf", (), (1.0,)), "no columns"),
        (lambda: Factor("rbf", ("a",), (-1.0,)), "positive"),
        (lambda: Factor("rational_quadratic", ("a",), (1.0,), {"alpha": 0.0}), "positive"),
        (lambda: Factor("rbf", ("a",), (1.0,), {"alpha": 1.0}), "no parameter 'alpha'"),
        (lambda: Factor("rbf", ("a", "b", "c"), (1.0, 2.0)), "lengthscales: give one, or one per column"),
        (lambda: Factor("rbf", ("a",), ()), "lengthscales: give one"),
        (lambda: Factor("constant", ("a",), (1.0,)), "got 1 lengthscales: it has none"),
        (lambda: Term((), 1.0), "no factors"),
        (lambda: Term((Factor("rbf", ("a",), (1.0,)),), float("nan")), "scale"),
        (lambda: KernelSpec(()), "no terms"),
        (lambda: one("rbf", (1.0,), ("z",)).build(NAMES), "column 'z'"),
    ],
)
def test_wrong_kernels_are_refused_with_a_sentence(wrong, word):
    with pytest.raises(InputError, match=word):
        wrong()


def membership(bags: Bags) -> torch.Tensor:
    """(N, B) aggregation weights, dense."""
    out = torch.zeros(len(bags.bag), bags.count, dtype=torch.float64)
    out[torch.arange(len(bags.bag)), bags.bag] = bags.weights
    return out


@pytest.mark.parametrize("tile", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("points", [1, 6, 512])
def test_bag_sums_equal_sums_written_out_whatever_the_tile(tile, points):
    bags = problem().bags
    spread, kernel = membership(bags), KERNEL.build(NAMES)
    blocks, other = sort_bags(bags, points), normal(5, 3, seed=3)
    with torch.no_grad():
        expected = spread.T @ dense(KERNEL, NAMES, bags.inputs, bags.inputs) @ spread
        assert torch.allclose(gram(kernel, blocks, tile=tile), expected, atol=1e-12)
        sums = spread.T @ dense(KERNEL, NAMES, bags.inputs, other)
        assert torch.allclose(cross(kernel, blocks, other, tile=tile), sums, atol=1e-12)


@settings(max_examples=25)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=6), st.integers(0, 99))
def test_bag_means_of_any_partition(sizes, seed):
    bag = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    values = normal(len(bag), seed=seed)
    bags = Bags(normal(len(bag), 2, seed=seed + 1), bag, len(sizes))
    expected = torch.stack([part.mean() for part in values.split(sizes)])
    assert torch.allclose(bags.mean(values), expected, atol=1e-12)
    assert torch.allclose(bags.contamination, 1 / torch.tensor(sizes, dtype=torch.float64))


def grid_picture(missing: float) -> Picture:
    """A 24×18 grid in blocks of 6×6, every other block a bag, some pixels missing, uneven weights."""
    height, width, block = 24, 18, 6
    row, column = (v.reshape(-1) for v in torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"))
    keep = torch.rand(len(row), generator=torch.Generator().manual_seed(0)) >= missing
    row, column = row[keep], column[keep]
    r, c = row.double(), column.double()
    inputs = torch.stack([0.1 * r, 0.13 * c, torch.sin(0.3 * r) + 0.2 * normal(len(r), seed=1)], dim=1)
    cell = (row // block) * (width // block) + column // block
    points = torch.nonzero(cell % 2 == 0)[:, 0]
    bag = cell[points] // 2
    bags = Bags(inputs[points], bag, int(bag.max()) + 1, weights=torch.cos(0.2 * inputs[points, 0]))
    return Picture(inputs, NAMES, bags, points, GridLayout(Cells((height, width), row, column), (0.1, 0.13), (0, 1)))


@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize(
    ("term", "route", "cheap"),
    [
        (Term((Factor("matern32", ("a", "b"), (0.5,)),)), "block offsets", True),
        (Term((Factor("rbf", ("a",), (0.5,)), Factor("matern12", ("b", "a"), (0.5, 0.3)))), "block offsets", True),
        (Term((Factor("rbf", ("c",), (0.8,)),)), "Chebyshev interpolation", True),
        (Term((Factor("linear", ("c",), (0.8,)), Factor("periodic", ("c",), (1.0,)))), "Chebyshev interpolation", True),
        (Term((Factor("matern32", ("c",), (0.8,)),)), "direct summation", False),
        (Term((Factor("rbf", ("c", "a"), (0.8,)),)), "direct summation", False),
    ],
)
def test_every_route_to_pixel_sums_gives_the_same_numbers(term, route, cheap, missing):
    picture = grid_picture(missing)
    found = term_sums(term, picture)
    assert found.routes == (route,) and is_cheap(term, picture) is cheap
    spread = membership(picture.bags)
    with torch.no_grad():
        kernel = evaluate(KernelSpec((term,)).build(NAMES), picture.bags.inputs, picture.inputs)
    assert torch.allclose(found.cross.at(slice(None)), spread.T @ kernel, atol=1e-11)
    assert torch.allclose(found.gram, spread.T @ kernel[:, picture.points] @ spread, atol=1e-11)


def test_a_kernel_too_rough_to_interpolate_is_summed_directly():
    found = term_sums(Term((Factor("rbf", ("c",), (2e-3,)),)), grid_picture(0.0))
    assert found.routes == ("direct summation",)


@pytest.mark.usefixtures("few_features")
@pytest.mark.parametrize(("family", "scales"), CASES)
def test_prior_draws_have_the_kernel_as_covariance(family, scales):
    spec, points = one(family, scales), normal(4, 3, seed=5)
    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([draw_prior(spec, NAMES, generator, torch.device("cpu"))(points) for _ in range(600)])
    expected = dense(spec, NAMES, points, points)
    error = (expected.square() + expected.diagonal()[:, None] * expected.diagonal()).div(600).sqrt()
    assert ((torch.cov(draws.T) - expected).abs() < 5.5 * error).all()


def test_a_coreset_of_small_bags_is_the_bags_and_keeps_mass_mean_and_sizes():
    bags = problem((3, 7, 30, 5, 10)).bags
    whole, small = coreset(bags, 30), coreset(bags, 4)
    kernel = KERNEL.build(NAMES)
    with torch.no_grad():
        assert torch.allclose(gram(kernel, sort_bags(whole)), gram(kernel, sort_bags(bags)), atol=1e-12)
    assert torch.equal(small.sizes, bags.sizes) and torch.equal(small.contamination, bags.contamination)
    assert torch.allclose(small.mean(small.inputs), bags.mean(bags.inputs), atol=1e-12)
    assert torch.bincount(small.bag).max() <= 4
