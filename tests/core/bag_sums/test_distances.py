"""K̄ from tables of the points' distances against every pair of points, and its gradient."""

from dataclasses import replace

import pytest
import torch

from deconditioning.bag_sums import distances
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.distances import over_many, tabulate_points
from deconditioning.bag_sums.moving import over_pairs
from deconditioning.bag_sums.radii import ERROR
from deconditioning.errors import Cancelled
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags

ISOTROPIC = [name for name, family in FAMILIES.items() if family.isotropic]
NAMES = ("u", "v", "height")


@pytest.fixture(autouse=True)
def _always_worth_it(monkeypatch):
    monkeypatch.setattr(distances, "LEAST_PAIRS", 0)


def scattered() -> Bags:
    """Twelve bags of one to six weighted points, two of which lie at the same place."""
    generator = torch.Generator().manual_seed(3)
    sizes = torch.randint(1, 7, (12,), generator=generator)
    bag = torch.arange(12).repeat_interleave(sizes)
    inputs = torch.rand(len(bag), 3, generator=generator, dtype=torch.float64) + bag[:, None] % 4
    inputs[-1] = inputs[0]
    weights = torch.rand(len(bag), generator=generator, dtype=torch.float64) + 0.2
    weights = weights / torch.zeros(12).double().index_add_(0, bag, weights)[bag]
    order = torch.randperm(len(bag), generator=generator)
    return Bags(inputs[order], bag[order], 12, weights=weights[order])


def one(name: str, columns: tuple[str, ...], scale: float, own: dict[str, float] | None = None) -> KernelSpec:
    """One factor with one lengthscale."""
    return KernelSpec((Term((Factor(name, columns, (scale,), own or {}),), 1.3),))


def both(spec: KernelSpec, bags: Bags) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """K̄ and the gradients of a sum of its entries, by tables and by pairs."""
    weight = torch.rand(bags.count, bags.count, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    results = []
    for make in (over_many, over_pairs):
        kernel = spec.build(NAMES)
        gram = make(bags)(kernel)
        (gram * (weight + weight.T)).sum().backward()
        results.append([gram.detach(), *(p.grad for p in kernel.parameters() if p.grad is not None)])
    return results[0], results[1]


@pytest.mark.parametrize("name", ISOTROPIC)
@pytest.mark.parametrize("columns", [("u", "v"), ("height",), NAMES])
def test_isotropic_families_agree_with_all_pairs(name, columns):
    bags = scattered()
    owns = [{}] + [{own.name: end} for own in FAMILIES[name].parameters for end in (own.low, own.high)]
    for scale in (0.05, 0.8, 20.0):
        for own in owns:
            found, expected = both(one(name, columns, scale, own), bags)
            assert float((found[0] - expected[0]).abs().max()) <= 1.3 * 1.3 * ERROR, (scale, own)
            assert torch.allclose(found[0], found[0].T, atol=1e-15, rtol=1e-14)


def test_gradients_agree_with_those_of_all_pairs():
    """Places by a table, a height interpolated, several lengthscales by pairs, a straight line by its features."""
    parts = [
        one("powered_exponential", ("u", "v"), 0.7, {"alpha": 1.4}),
        one("rbf", ("height",), 0.4),
        KernelSpec((Term((Factor("matern32", ("u", "height"), (0.5, 2.0)),), 0.6),)),
        one("linear", ("height",), 1.0),
    ]
    spec = KernelSpec(tuple(part.terms[0] for part in parts))
    found, expected = both(spec, scattered())
    assert len(found) == len(expected) > 7
    for ours, theirs in zip(found, expected, strict=True):
        assert torch.allclose(ours, theirs, atol=1e-5, rtol=1e-5)


def test_a_smooth_term_of_one_column_is_interpolated_to_rounding():
    """Shorter lengthscales take more nodes; those that 512 do not serve go by pairs."""
    bags = scattered()
    gram = over_many(bags)
    for scale in (2.0, 0.05, 1e-3):
        spec = one("rbf", ("height",), scale)
        with torch.no_grad():
            expected = over_pairs(bags)(spec.build(NAMES))
            assert torch.allclose(gram(spec.build(NAMES)), expected, atol=1e-11, rtol=0)
    assert len(gram.shares) == 2 and not gram.tables


def test_a_table_is_made_once_for_its_columns():
    gram, spec = over_many(scattered()), one("matern12", ("u", "v"), 1.0)
    with torch.no_grad():
        gram(spec.build(NAMES))
        (kept,) = gram.tables.values()
        gram(one("matern52", ("u", "v"), 0.3).build(NAMES))
    assert list(gram.tables.values()) == [kept]


def test_a_table_that_takes_too_much_memory_is_not_made(monkeypatch):
    """Pairs of points serve then."""
    bags, spec = scattered(), one("matern12", ("u", "v"), 1.0)
    entries = tabulate_points(sort_bags(bags), (0, 1)).table._nnz()
    monkeypatch.setattr(distances, "MOST_ENTRIES", entries - 1)
    assert tabulate_points(sort_bags(bags), (0, 1)) is None
    with torch.no_grad():
        expected = over_pairs(bags)(spec.build(NAMES))
        assert torch.allclose(over_many(bags)(spec.build(NAMES)), expected, atol=1e-15)


def test_few_points_go_by_pairs(monkeypatch):
    bags = scattered()
    monkeypatch.setattr(distances, "LEAST_PAIRS", len(bags.inputs) ** 2 + 1)
    assert not hasattr(over_many(bags), "tables")


def test_points_at_one_place_are_one():
    """Every distance zero: K̄ is the variance."""
    bags = Bags(torch.ones(6, 3).double(), torch.arange(3).repeat_interleave(2), 3)
    with torch.no_grad():
        found = over_many(bags)(one("matern12", ("u", "v"), 0.5).build(NAMES))
    assert torch.allclose(found, torch.full((3, 3), 1.3).double(), atol=1e-14)


@pytest.mark.parametrize("values", [(0.0, 3.7), (-0.6, 1.7), (0.0, 0.01), (0.0, 1000.0), (0.0, 1.0, 1.5)])
@pytest.mark.parametrize("name", ["matern12", "matern32", "powered_exponential"])
def test_a_column_of_few_values_such_as_a_mask(name, values):
    """All distances that are not zero are one number, or few."""
    bags = scattered()
    mask = torch.tensor(values).double()[torch.arange(len(bags.inputs)) % len(values)]
    bags = replace(bags, inputs=torch.cat([bags.inputs[:, :2], mask[:, None]], 1))
    for scale in (0.3, 2.0, 500.0):
        found, expected = both(one(name, ("height",), scale), bags)
        assert float((found[0] - expected[0]).abs().max()) <= 1.7 * ERROR, (scale, values)


def test_making_a_table_can_be_cancelled():
    def check() -> None:
        raise Cancelled("stop")

    with pytest.raises(Cancelled):
        tabulate_points(sort_bags(scattered()), (0, 1), check)


@pytest.mark.gpu
def test_a_gpu_gives_the_same():
    bags, spec = scattered(), one("powered_exponential", ("u", "v"), 0.7, {"alpha": 1.4})
    kernel = spec.build(NAMES).cuda()
    found = over_many(bags.to(torch.device("cuda")))(kernel)
    found.sum().backward()
    assert torch.allclose(found.detach().cpu(), over_pairs(bags)(spec.build(NAMES)), atol=1.7 * ERROR)
    assert all(torch.isfinite(p.grad).all() for p in kernel.parameters() if p.grad is not None)


@pytest.mark.gpu
def test_products_of_the_sparse_table_on_a_gpu_are_those_of_the_cpu_to_rounding():
    """Sums in another order: near, not the same bits, twice over."""
    bags = scattered()
    here = tabulate_points(sort_bags(bags), (0, 1))
    there = tabulate_points(sort_bags(bags.to("cuda")), (0, 1))
    assert here is not None and there is not None
    values = here.radii.neg().exp()
    grams, gradients = [], []
    for table, device in ((here, "cpu"), (there, "cuda"), (there, "cuda")):
        given = values.detach().clone().to(device).requires_grad_(True)
        gram = table.gram(given)
        (gram * torch.arange(144, dtype=torch.float64, device=device).reshape(12, 12)).sum().backward()
        grams.append(gram.detach().cpu())
        gradients.append(given.grad.cpu())
    for found, gradient in zip(grams[1:], gradients[1:], strict=True):
        assert found.dtype == torch.float64 and torch.allclose(found, grams[0], rtol=1e-12, atol=1e-14)
        assert torch.allclose(gradient, gradients[0], rtol=1e-12, atol=1e-12)
