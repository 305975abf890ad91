"""Sums through a few points a bag: the same as gpytorch's kernel in float64, for every family and uneven bags."""

import pytest
import torch

from deconditioning.bag_sums.preview import each, few_point_sums, few_points
from deconditioning.errors import Cancelled
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags

NAMES = ("a", "b", "c")


def bags(sizes: list[int], seed: int = 0) -> Bags:
    """Bags of given sizes with uneven weights, their points in no order."""
    generator = torch.Generator().manual_seed(seed)
    bag = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    bag = bag[torch.randperm(len(bag), generator=generator)]
    raw = torch.rand(len(bag), dtype=torch.float64, generator=generator) + 0.1
    weights = raw / torch.zeros(len(sizes), dtype=torch.float64).index_add(0, bag, raw)[bag]
    return Bags(torch.randn(len(bag), 3, dtype=torch.float64, generator=generator), bag, len(sizes), weights=weights)


@pytest.mark.parametrize(
    "factors",
    [
        (Factor("rbf", ("a", "b", "c"), (0.5, 0.8, 1.1)),),
        (Factor("matern12", ("a", "c"), (0.7,)),),
        (Factor("matern32", ("a", "b"), (0.4, 0.9)),),
        (Factor("matern52", ("c",), (0.6,)),),
        (Factor("rational_quadratic", ("a", "b"), (0.7,), {"alpha": 0.8}),),
        (Factor("rbf", ("a",), (0.5,)), Factor("matern32", ("b", "c"), (1.2,))),
        (Factor("periodic", ("a",), (0.9,), {"period": 2.0}), Factor("rbf", ("b",), (0.8,))),
        (Factor("linear", ("b",), (1.5,)),),
        (Factor("constant", ("a", "b"), ()),),
    ],
    ids=lambda factors: " × ".join(factor.family for factor in factors),
)
def test_sums_are_those_of_gpytorch(factors: tuple[Factor, ...]) -> None:
    given, term = bags([3, 1, 4, 2, 4]), Term(factors, scale=7.0)
    x = torch.randn(700, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    found = few_point_sums(term, NAMES, few_points(given), x)
    kernel = KernelSpec((Term(term.factors),)).build(NAMES)
    spread = torch.zeros(5, 14, dtype=torch.float64)
    spread[given.bag, torch.arange(14)] = given.weights
    with torch.no_grad():
        direct = spread @ kernel(given.inputs, x).to_dense()
        gram = spread @ kernel(given.inputs).to_dense() @ spread.T
        prior = kernel(x, diag=True)
    assert found.cross.at(slice(None)).dtype == torch.float32 and found.gram.dtype == torch.float64
    assert torch.allclose(found.cross.at(slice(None)).double(), direct, atol=2e-5 * float(direct.abs().max()))
    assert torch.allclose(found.gram, gram, atol=1e-12)
    assert torch.allclose(found.prior.double(), prior, rtol=1e-6)
    dual = torch.linspace(-1, 1, 5, dtype=torch.float64)
    assert torch.allclose(found.cross.across(dual).double(), dual @ direct, atol=4e-5 * float(direct.abs().max()))


def test_sums_of_a_degenerate_term_are_kept_as_a_product() -> None:
    """A slider that moves another term must not push these out of the cache."""
    x = torch.randn(5000, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    sums = few_point_sums(Term((Factor("linear", ("a", "b"), (1.0, 1.0)),)), NAMES, few_points(bags([4] * 50)), x)
    assert sums.cross.nbytes < 0.1 * 4 * 50 * len(x)


def test_k_means_centres_stand_for_a_bag_better_than_its_first_points() -> None:
    given, term = bags([40] * 6), Term((Factor("rbf", NAMES, (1.0, 1.0, 1.0)),))
    x = torch.randn(300, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(2))
    whole = few_point_sums(term, NAMES, few_points(given), x).cross.at(slice(None))
    rank = torch.zeros_like(given.bag)
    for j in range(6):
        rank[given.bag == j] = torch.arange(40)
    first = rank < 4
    plain = Bags(given.inputs[first], given.bag[first], 6)
    errors = [
        float((few_point_sums(term, NAMES, few_points(few), x).cross.at(slice(None)) - whole).square().mean().sqrt())
        for few in (coreset(given, 4), plain)
    ]
    assert errors[0] < 0.8 * errors[1]


def test_a_cancelled_sum_stops() -> None:
    def check() -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        few_point_sums(
            Term((Factor("rbf", ("a",), (1.0,)),)),
            NAMES,
            few_points(bags([2, 2])),
            torch.zeros(10, 3).double(),
            check=check,
        )


def test_every_item_is_worked_on_once_and_errors_arrive() -> None:
    seen: list[int] = []
    each(seen.append, range(100))
    assert sorted(seen) == list(range(100))
    with pytest.raises(ZeroDivisionError):
        each(lambda item: 1 // item, range(3))


def test_threads_that_share_a_kernel_do_not_see_each_other() -> None:
    factors = (Factor("periodic", ("a",), (0.9,), {"period": 2.0}), Factor("linear", ("b",), (1.5,)))
    tiles = Tiles(KernelSpec((Term(factors),)).build(NAMES), torch.randn(30, 3).double(), torch.randn(40, 3).double())
    alone, found = tiles(slice(None), slice(None)).clone(), {}

    def fill(item: int) -> None:
        found[item] = tiles(slice(None), slice(None)).clone()

    each(fill, range(1000))
    assert all(torch.equal(tile, alone) for tile in found.values())
