"""Derivatives of K̄ from one pass: equal to autograd through the plain kernel matrix, whatever the tile."""

from dataclasses import replace

import pytest
import torch

from deconditioning.bag_sums import direct, gradients
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross_with_gradient, diagonal, gram
from deconditioning.bag_sums.gradients import fits, gaussian_gram, in_one_pass
from deconditioning.errors import never
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import part_of
from deconditioning.observations import Bags

NAMES = ("a", "b", "c")


def factor(family, columns, *lengthscales):
    own = {each.name: 0.7 for each in FAMILIES[family].parameters}
    return Factor(family, columns, lengthscales, own)


SPECS = {
    "rbf, one lengthscale each": KernelSpec((Term((factor("rbf", ("a", "b"), 0.6, 1.1),), 1.4),)),
    "rbf, a shared lengthscale": KernelSpec((Term((factor("rbf", ("a", "b"), 0.6),), 1.4),)),
    "matern12": KernelSpec((Term((factor("matern12", ("a", "c"), 0.8, 0.5),), 0.6),)),
    "matern32": KernelSpec((Term((factor("matern32", ("a", "c"), 0.8, 0.5),), 0.6),)),
    "matern52": KernelSpec((Term((factor("matern52", ("b",), 0.8),), 2.0),)),
    "rational quadratic": KernelSpec((Term((factor("rational_quadratic", ("a", "b"), 0.8, 0.5),), 1.3),)),
    "a sum of products": KernelSpec(
        (
            Term((factor("matern32", ("a", "b"), 0.7), factor("rbf", ("c",), 0.9)), 1.2),
            Term((factor("rational_quadratic", ("c",), 0.7), factor("matern12", ("a",), 0.9)), 0.4),
        )
    ),
    "powered exponential": KernelSpec((Term((factor("powered_exponential", ("a", "b"), 0.8, 0.5),), 1.3),)),
    "mixed Matérn": KernelSpec((Term((factor("mixed_matern", ("a", "b"), 0.8, 0.5),), 1.3),)),
    "local slopes": KernelSpec(
        (
            Term((factor("rbf", ("c",), 0.9),), 0.3),
            Term((factor("matern12", ("a", "b"), 0.8), Factor("linear", ("c", "a"), (0.7, 1.9)))),
        )
    ),
    "with a linear factor": KernelSpec((Term((factor("linear", ("a",), 0.7), factor("rbf", ("c",), 0.9)), 1.2),)),
}


#: Sizes of bags that differ much, which are summed tile by tile, and that are nearly the same.
UNEVEN, NEARLY_EVEN = (1, 4, 7, 2, 5), (4, 3, 4, 4, 4)


def bags_and_weight(sizes=UNEVEN):
    generator = torch.Generator().manual_seed(0)
    sizes = torch.tensor(sizes)
    bag = torch.repeat_interleave(torch.arange(5), sizes)[torch.randperm(19, generator=generator)]
    inputs = torch.randn(19, 3, generator=generator, dtype=torch.float64)
    inputs[3] = inputs[8]  # a pair at distance zero off the diagonal
    weights = 0.2 + torch.rand(19, generator=generator, dtype=torch.float64)
    return Bags(inputs, bag, 5, weights=weights), torch.randn(5, 5, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("points", "tile"), [(512, 1 << 20), (6, 8), (1, 1)])
@pytest.mark.parametrize("sizes", [UNEVEN, NEARLY_EVEN])
def test_value_and_derivatives_equal_autograd_through_the_whole_matrix(name, points, tile, sizes):
    bags, weight = bags_and_weight(sizes)
    kernel, plain = (SPECS[name].build(NAMES) for _ in range(2))
    assert in_one_pass(kernel)
    found = gram(kernel, sort_bags(bags, points), tile=tile)
    (found * weight).sum().backward()
    spread = torch.zeros(19, 5, dtype=torch.float64)
    spread[torch.arange(19), bags.bag] = bags.weights
    expected = spread.T @ plain(bags.inputs).to_dense() @ spread  # gpytorch's own matrix
    (expected * weight).sum().backward()
    assert torch.allclose(found, expected, rtol=0, atol=1e-7 if name in ("matern12", "local slopes") else 1e-9)
    for ours, theirs in zip(kernel.parameters(), plain.parameters(), strict=True):
        if theirs.grad is None:
            continue
        assert torch.allclose(ours.grad, theirs.grad, rtol=1e-6, atol=1e-7)


def test_bags_of_nearly_the_same_size_are_filled_up_and_others_are_not():
    uneven, nearly_even = (sort_bags(bags_and_weight(sizes)[0]) for sizes in (UNEVEN, NEARLY_EVEN))
    assert uneven.even is None and nearly_even.even.points.shape == (5, 4, 3)
    assert nearly_even.even.weights[1, 3] == 0
    assert nearly_even.even.weights.sum() == pytest.approx(float(nearly_even.bags.weights.sum()))


@pytest.mark.parametrize(("rows", "tile", "most_sums"), [(4, 4, 10**6), (8, 12, 1), (200, 40_000, 10**6)])
def test_products_of_matrices_do_not_depend_on_their_size(rows, tile, most_sums, monkeypatch):
    monkeypatch.setattr(gradients, "_ROWS", rows)
    monkeypatch.setattr(gradients, "_TILE", tile)
    monkeypatch.setattr(gradients, "_MOST_SUMS", most_sums)
    bags, kernel = sort_bags(bags_and_weight(NEARLY_EVEN)[0]), SPECS["rbf, one lengthscale each"].build(NAMES)
    total, slopes = gradients.gram_with_gradients(kernel, bags, 1 << 20, never)
    monkeypatch.setattr(gradients, "is_gaussian", lambda term: False)
    expected, expected_slopes = gradients.gram_with_gradients(kernel, bags, 1 << 20, never)  # tile by tile
    assert torch.allclose(total, expected, rtol=0, atol=1e-14)
    assert torch.allclose(slopes, expected_slopes, rtol=0, atol=1e-13)


@pytest.mark.parametrize("shrink", [1.0, 1e-3])
def test_without_gradient_products_of_matrices_give_what_tiles_give(shrink, monkeypatch):
    """And not where points are too many lengthscales apart."""
    bags = sort_bags(bags_and_weight(NEARLY_EVEN)[0])
    gaussian, rough = (SPECS[name].terms for name in ("rbf, one lengthscale each", "matern32"))
    shrunk = replace(gaussian[0].factors[0], lengthscales=(0.6 * shrink, 1.1 * shrink))
    kernel = KernelSpec((replace(gaussian[0], factors=(shrunk,)), *rough)).build(NAMES)
    with torch.no_grad():
        assert (gaussian_gram(kernel.kernels[0], bags.even, never) is None) == (shrink < 1)
        found = gram(kernel, bags)
        monkeypatch.setattr(direct, "is_gaussian", lambda term: False)
        assert torch.allclose(found, gram(kernel, bags), rtol=0, atol=1e-13)
        parts = [gram(part_of(kernel, (index,)), bags) for index in range(2)]
        assert torch.allclose(found, sum(parts), rtol=0, atol=1e-13)
    assert part_of(kernel, (1,)) is part_of(kernel, (1,)) and part_of(kernel, (0, 1)) is kernel


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("sizes", [UNEVEN, NEARLY_EVEN])
def test_derivatives_equal_central_differences(name, sizes):
    bags, weight = bags_and_weight(sizes)
    kernel, blocks = SPECS[name].build(NAMES), sort_bags(bags)
    (gram(kernel, blocks) * weight).sum().backward()
    for parameter in kernel.parameters():
        if parameter.grad is None:
            continue
        for index in range(parameter.numel()):
            sides = []
            for step in (1e-5, -1e-5):
                with torch.no_grad():
                    parameter.view(-1)[index] += step
                    sides.append(float((gram(kernel, blocks) * weight).sum()))
                    parameter.view(-1)[index] -= step
            assert float(parameter.grad.view(-1)[index]) == pytest.approx((sides[0] - sides[1]) / 2e-5, abs=2e-8)


def test_derivatives_too_many_to_keep_take_the_other_route():
    kernel = SPECS["matern32"].build(NAMES)
    assert fits(kernel, 4000**2) and not fits(kernel, 5000**2)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(("points", "tile"), [(512, 1 << 20), (6, 8)])
def test_diagonal_and_cross_sums_equal_autograd_through_the_whole_matrix(name, points, tile):
    bags, _ = bags_and_weight()
    other = torch.randn(4, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64)
    weight = torch.randn(5, 5, generator=torch.Generator().manual_seed(6), dtype=torch.float64)
    kernel, plain = (SPECS[name].build(NAMES) for _ in range(2))
    blocks = sort_bags(bags, points)
    found = diagonal(kernel, blocks, tile=tile), cross_with_gradient(kernel, blocks, other, tile=tile)
    ((found[0] * weight[0]).sum() + (found[1] * weight[:, 1:]).sum()).backward()
    spread = torch.zeros(19, 5, dtype=torch.float64)
    spread[torch.arange(19), bags.bag] = bags.weights
    within = (spread.T @ plain(bags.inputs).to_dense() @ spread).diagonal()
    across = spread.T @ plain(bags.inputs, other).to_dense()
    ((within * weight[0]).sum() + (across * weight[:, 1:]).sum()).backward()
    for ours, theirs in zip(found, (within, across), strict=True):
        assert torch.allclose(ours, theirs, rtol=0, atol=1e-7 if name in ("matern12", "local slopes") else 1e-9)
    for ours, theirs in zip(kernel.parameters(), plain.parameters(), strict=True):
        assert torch.allclose(ours.grad, theirs.grad, rtol=1e-6, atol=1e-7)


def test_cross_sums_follow_the_points_they_are_read_at():
    bags, weight = bags_and_weight()
    other = torch.randn(5, 3, generator=torch.Generator().manual_seed(5), dtype=torch.float64, requires_grad=True)
    kernel, blocks = SPECS["a sum of products"].build(NAMES), sort_bags(bags, 6)

    def value(at):
        return (cross_with_gradient(kernel, blocks, at, tile=8) * weight).sum()

    value(other).backward()
    step = torch.zeros_like(other)
    step[3, 0] = 1e-5
    with torch.no_grad():
        slope = float(value(other + step) - value(other - step)) / 2e-5
    assert float(other.grad[3, 0]) == pytest.approx(slope, rel=1e-6)
