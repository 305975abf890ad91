"""Bags: what holds however points are weighted, ordered, cut and thinned."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.errors import InputError
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags, IndirectData
from tests.anything import bags, positive, seeds
from tests.core.models.small import normal


def same(left: torch.Tensor, right: torch.Tensor) -> bool:
    return torch.allclose(left, right, rtol=1e-12, atol=1e-12)


@given(bags(), seeds)
def test_weights_sum_to_one_and_only_their_proportions_count(any_bags: Bags, seed: int) -> None:
    assert same(any_bags.mean(torch.ones_like(any_bags.weights)), torch.ones(any_bags.count, dtype=torch.float64))
    factor = normal(any_bags.count, seed=seed).abs() + 0.1
    other = Bags(any_bags.inputs, any_bags.bag, any_bags.count, weights=any_bags.weights * factor[any_bags.bag])
    assert same(other.weights, any_bags.weights) and same(other.contamination, any_bags.contamination)


@given(bags(), seeds, positive)
def test_a_mean_is_linear_and_lies_among_its_values(any_bags: Bags, seed: int, factor: float) -> None:
    values, others = normal(len(any_bags.bag), seed=seed), normal(len(any_bags.bag), seed=seed + 1)
    mean = any_bags.mean(values)
    assert same(any_bags.mean(factor * values + others), factor * mean + any_bags.mean(others))
    for bag in range(any_bags.count):
        inside = values[any_bags.bag == bag]
        assert inside.min() - 1e-12 <= mean[bag] <= inside.max() + 1e-12


@given(bags(), seeds)
def test_equal_weights_make_the_contamination_least(any_bags: Bags, seed: int) -> None:
    """``1/n_j ≤ Σ w² ≤ 1``: point noise averages out best over equal weights."""
    assert bool((any_bags.contamination <= 1 + 1e-12).all())
    equal = replace(any_bags, weights=torch.ones_like(any_bags.weights), contamination=None)
    assert bool((any_bags.contamination >= equal.contamination - 1e-12).all())
    assert same(equal.contamination, 1 / any_bags.sizes)


@given(bags(), some.data())
def test_a_subset_has_the_means_of_its_bags_in_its_order(any_bags: Bags, data: some.DataObject) -> None:
    numbers = some.integers(0, any_bags.count - 1)
    chosen = torch.tensor(data.draw(some.lists(numbers, min_size=1, max_size=any_bags.count, unique=True)))
    part = any_bags.subset(chosen)
    assert same(part.mean(part.inputs), any_bags.mean(any_bags.inputs)[chosen])
    assert same(part.contamination, any_bags.contamination[chosen]) and same(part.sizes, any_bags.sizes[chosen])


@given(bags(), some.integers(1, 12))
def test_blocks_hold_every_bag_and_every_point_once(any_bags: Bags, points: int) -> None:
    found = sort_bags(any_bags, points)
    assert [b.first for b in found.blocks[1:]] == [b.last for b in found.blocks[:-1]]
    assert [b.start for b in found.blocks[1:]] == [b.stop for b in found.blocks[:-1]]
    ends = found.blocks[0].first, found.blocks[0].start, found.blocks[-1].last, found.blocks[-1].stop
    assert ends == (0, 0, any_bags.count, len(any_bags.bag))
    assert all(b.stop - b.start <= points or b.last - b.first == 1 for b in found.blocks)
    means = [found.membership(block) @ found.inputs(block) for block in found.blocks]
    assert same(torch.cat(means), any_bags.mean(any_bags.inputs))
    assert torch.equal(any_bags.inputs[found.order], found.bags.inputs)


@given(bags(most=3), some.integers(1, 7))
def test_a_coreset_keeps_every_mean_and_what_a_bag_stands_for(any_bags: Bags, points: int) -> None:
    small = coreset(any_bags, points)
    assert int(torch.bincount(small.bag).max()) <= points
    assert same(small.mean(small.inputs), any_bags.mean(any_bags.inputs))
    assert torch.equal(small.sizes, any_bags.sizes) and torch.equal(small.contamination, any_bags.contamination)
    if points >= int(any_bags.sizes.max()):
        assert same(small.inputs, sort_bags(any_bags).bags.inputs)


def test_few_points_are_chosen_once_for_each_number_and_seed() -> None:
    whole = Bags(normal(60, 2, seed=1), torch.arange(60) // 20, 3)
    first, fewer, other = coreset(whole, 4), coreset(whole, 2), coreset(whole, 4, seed=1)
    assert coreset(whole, 4) is first and coreset(whole, 4, 1) is other
    assert (len(first.inputs), len(fewer.inputs)) == (12, 6) and not torch.equal(first.inputs, other.inputs)


@given(bags(), some.sampled_from(["inputs", "mediators", "query_mediators", "targets"]), some.booleans())
def test_what_is_not_finite_is_a_sentence(any_bags: Bags, where: str, missing: bool) -> None:
    count = any_bags.count
    parts = {
        "mediators": normal(count, 2, seed=0),
        "query_mediators": normal(3, 2, seed=1),
        "targets": normal(3, seed=2),
    }
    bad = torch.nan if missing else torch.inf
    with pytest.raises(InputError, match=f"`{where}` contains missing or infinite values: remove those"):
        if where == "inputs":
            inputs = any_bags.inputs.clone()
            inputs[-1, 0] = bad
            replace(any_bags, inputs=inputs)
        parts[where][..., 0] = bad
        IndirectData(any_bags, **parts)


@pytest.mark.gpu
def test_sums_over_bags_on_a_gpu_are_those_of_the_cpu_to_rounding() -> None:
    """``index_add_`` adds in no fixed order there: sums are compared by tolerance, run against run too."""
    bag = torch.randint(0, 50, (20_000,), generator=torch.Generator().manual_seed(0))
    here = Bags(normal(20_000, 3, seed=1), bag, 50, weights=normal(20_000, seed=2).abs() + 0.1)
    for there in (here.to("cuda"), here.to("cuda")):
        assert same(there.mean(there.inputs).cpu(), here.mean(here.inputs))
        assert same(there.subset(torch.arange(7, device="cuda")).contamination.cpu(), here.contamination[:7])
