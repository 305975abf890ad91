"""Smooth kernels through products of the features of their columns, against every kernel value written out."""

import pytest
import torch

from deconditioning.bag_sums import pixel_sums
from deconditioning.bag_sums.low_rank import choice, separable, sorted_pixels
from deconditioning.bag_sums.low_rank.certified import BOUND, Certified
from deconditioning.bag_sums.low_rank.separable import Separable, certify_separable, separate_columns
from deconditioning.bag_sums.pixel_sums import picture_sums
from deconditioning.errors import never
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.observations import Bags
from tests.core.bag_sums.test_routes import EVERY, planet, written_out
from tests.core.kernels.test_kernels import membership
from tests.core.models.small import normal

NAMES = ("steps", "far", "plain", "same", "wide")
CASES = {
    "two columns": (Factor("rbf", ("steps", "plain"), (1.0, 2.0)),),
    "a far value": (Factor("rbf", ("far", "plain"), (2.0,)),),
    "a constant column": (Factor("rbf", ("steps", "same"), (1.0,)),),
    "constant columns alone": (Factor("rbf", ("same",), (1.0,)), Factor("constant", ("plain",), ())),
    "two families": (Factor("rational_quadratic", ("wide",), (5.0,)), Factor("rbf", ("steps",), (2.0,))),
    "a family that joins its columns": (
        Factor("rational_quadratic", ("steps", "plain"), (4.0,), {"alpha": 2.0}),
        Factor("rbf", ("wide",), (9.0,)),
    ),
    "a column of two factors": (
        Factor("linear", ("plain", "wide"), (9.0,)), Factor("rbf", ("plain", "steps"), (2.0,)),
    ),
    "repeated": (Factor("periodic", ("plain", "wide"), (2.0,), {"period": 3.0}),),
    "long": (Factor("rbf", ("steps", "plain", "wide"), (50.0,)),),
}  # fmt: skip


def hostile(count: int = 900) -> torch.Tensor:
    """Values that repeat, one far outside, one column without variation."""
    inputs = normal(count, 5, seed=3)
    inputs[:600, 0] = inputs[:600, 0].round()
    inputs[7, 1], inputs[:, 3] = 40.0, 3.0
    inputs[:, 4] *= 4
    return inputs


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several sorted tiles and blocks, and products wherever they can be had."""
    monkeypatch.setattr(sorted_pixels, "_SORTED", 400)
    monkeypatch.setattr(sorted_pixels, "_BLOCK", 90)


@pytest.mark.parametrize("case", CASES)
def test_every_kernel_value_and_every_sum_is_within_the_bound(case: str) -> None:
    inputs, term = hostile(), Term(CASES[case])
    known = certify_separable(term, NAMES, inputs, 3000)
    assert known is not None and 0 <= known.error <= BOUND
    assert known.rank < 1000 and known.features(inputs).shape == (known.rank, len(inputs))
    with torch.no_grad():
        dense, features = evaluate(KernelSpec((term,)).build(NAMES), inputs, inputs), known.features(inputs)
    rounding = 1e-13 * float(dense.abs().max())
    assert float((dense - features.T @ features).abs().max()) <= known.error + rounding
    assert torch.allclose(known.left_out(inputs), (dense - features.T @ features).diagonal(), rtol=0, atol=rounding)
    bags = Bags(inputs, torch.arange(len(inputs)) % 7, 7, weights=1 + normal(len(inputs), seed=5).abs())
    total = torch.ones(7, len(inputs), dtype=torch.float64)
    known.add_sums(total, known.bag_means(bags), inputs, -0.7, never)
    assert float((total - 1 + 0.7 * membership(bags).T @ dense).abs().max()) <= BOUND + rounding


def test_a_point_that_was_not_certified_is_recognised() -> None:
    inputs = hostile()
    known = certify_separable(Term(CASES["two columns"]), NAMES, inputs, 3000)
    assert known is not None
    outside = inputs[:3].clone()
    outside[0, 0], outside[1, 2] = 30.0, -30.0
    left = known.left_out(outside).detach()
    assert float(left[:2].min()) > 0.99 and float(left[2]) <= BOUND


@pytest.mark.parametrize(
    ("factors", "most"),
    [
        ((Factor("rbf", ("steps", "plain"), (0.004,)),), 3000),  # hardly two points are alike
        ((Factor("rbf", ("steps", "plain", "wide"), (1.0,)),), 100),
        ((Factor("rational_quadratic", ("steps", "plain"), (4.0,)),), 3000),  # no product of columns
        ((Factor("rational_quadratic", ("steps", "plain"), (4.0,)), Factor("rbf", ("plain",), (4.0,))), 3000),
        ((Factor("rbf", ("plain",), (1.0,)),), 3000),
    ],
)
def test_what_is_no_product_or_needs_too_many_is_left_to_others(factors: tuple[Factor, ...], most: int) -> None:
    assert certify_separable(Term(factors), NAMES, hostile(), most) is None


def test_where_many_products_are_small_together_more_of_them_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """At first none below the whole bound is: what they leave out together exceeds it, whatever points join."""
    inputs, term = hostile(), Term(CASES["two columns"])
    monkeypatch.setattr(separable, "_LOOKED", 30.0)
    known = certify_separable(term, NAMES, inputs, 3000)
    assert known is not None and float(known.left_out(inputs).max()) <= BOUND
    monkeypatch.setattr(separable, "_SHRINK", 1.0)
    assert certify_separable(term, NAMES, inputs, 3000) is None


def test_columns_are_separated_as_far_as_the_families_allow() -> None:
    factors = (
        Factor("rbf", ("a", "b", "c"), (1.0, 2.0, 3.0)),
        Factor("rational_quadratic", ("b", "d"), (4.0,)),
        Factor("periodic", ("e",), (5.0,), {"period": 2.0}),
    )
    found = [{name for f in term.factors for name in f.columns} for term in separate_columns(Term(factors, 3.0))]
    assert sorted(map(sorted, found)) == [["a"], ["b", "d"], ["c"], ["e"]]
    inputs, names = normal(40, 5, seed=1), ("a", "b", "c", "d", "e")
    parts = [evaluate(KernelSpec((t,)).build(names), inputs, inputs) for t in separate_columns(Term(factors, 3.0))]
    whole = evaluate(KernelSpec((Term(factors),)).build(names), inputs, inputs)
    assert torch.allclose(torch.stack(parts).prod(0), whole, rtol=0, atol=1e-14)


def test_the_cheaper_of_products_and_points_is_taken() -> None:
    inputs = normal(3000, 7, seed=2)
    inputs[:, 3:] = inputs[:, :3] @ normal(3, 4, seed=4)  # seven columns, but a space of three
    names = tuple("abcdefg")
    many, few = Term((Factor("rbf", names, (20.0,)),)), Term((Factor("rbf", names[:2], (2.0,)),))
    assert isinstance(choice.few_features(many, names, inputs, 400, 30_000), Certified)
    assert isinstance(choice.few_features(few, names, inputs, 400, 30_000), Separable)
    assert choice.few_features(few, names, inputs, 400, 1) is None


def test_a_pictures_sums_are_those_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pixel_sums, "FEW", 0)
    monkeypatch.setattr(choice, "_WORTH", 1e6)
    monkeypatch.setattr(choice, "most_points", lambda bags, cost: 0)
    kernel = KernelSpec((Term((Factor("rbf", ("c", "d"), (1.0, 0.8)),), 0.7),))
    picture = planet(0.1)
    found, again = picture_sums(kernel, picture), picture_sums(kernel, picture)
    cross, gram = written_out(kernel, picture)
    assert found.routes == ("few points, error below 1e-10",)
    assert torch.allclose(found.cross.at(EVERY), cross, rtol=0, atol=1e-10)
    assert torch.allclose(found.gram, gram, rtol=0, atol=1e-10)
    assert torch.equal(found.gram, again.gram)


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_gives_the_same(case: str) -> None:
    inputs, there = hostile(), torch.device("cuda")
    term, bags = Term(CASES[case]), Bags(inputs, torch.arange(len(inputs)) % 7, 7)
    totals = []
    for device in (torch.device("cpu"), there):
        known = certify_separable(term, NAMES, inputs.to(device), 3000)
        assert known is not None and known.error <= BOUND and known.first.points.device.type == device.type
        total = torch.zeros(7, len(inputs), dtype=torch.float64, device=device)
        known.add_sums(total, known.bag_means(bags.to(device)), inputs.to(device), 1.0, never)
        totals.append(total.cpu())
        moved = known.to(there)
        assert torch.allclose(
            moved.features(inputs.to(there)).cpu(), known.features(inputs.to(device)).cpu(), atol=1e-9
        )
    assert torch.allclose(*totals, rtol=0, atol=2 * BOUND)
