"""What holds for every kernel and its bag sums, whatever it is made of."""

import json
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as some

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, diagonal, gram
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import diagonal as point_diagonal
from deconditioning.kernels.tiles import evaluate
from deconditioning.observations import Bags
from tests.anything import NAMES, bags, kernels, positive, seeds
from tests.core.models.small import normal

few = settings(max_examples=30)


def close(left: torch.Tensor, right: torch.Tensor, spec: KernelSpec) -> bool:
    """Equal to rounding, for a kernel of this variance on inputs of a few units."""
    return torch.allclose(left, right, rtol=1e-9, atol=1e-9 * max(1.0, float(right.abs().max()), spec.variance))


@few
@given(kernels())
def test_a_specification_survives_json_and_a_kernel(spec: KernelSpec) -> None:
    assert KernelSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec
    back = spec.updated(spec.build(NAMES))
    for term, again in zip(spec.terms, back.terms, strict=True):
        assert again.scale == pytest.approx(term.scale, rel=1e-12)
        for factor, other in zip(term.factors, again.factors, strict=True):
            assert (other.family, other.columns) == (factor.family, factor.columns)
            assert other.lengthscales == pytest.approx(factor.lengthscales, rel=1e-12)
            assert other.numbers == pytest.approx(factor.numbers, rel=1e-12)


@few
@given(kernels(), seeds)
def test_a_gram_matrix_is_symmetric_and_no_combination_has_a_negative_variance(spec: KernelSpec, seed: int) -> None:
    inputs, kernel = normal(9, len(NAMES), seed=seed), spec.build(NAMES)
    with torch.no_grad():
        found = evaluate(kernel, inputs, inputs)
        assert close(found, found.T, spec) and close(point_diagonal(kernel, inputs), found.diagonal(), spec)
    assert float(torch.linalg.eigvalsh(0.5 * (found + found.T))[0]) >= -1e-9 * float(found.diagonal().sum())


@few
@given(kernels(), seeds, positive)
def test_scales_are_variances_and_terms_add_up(spec: KernelSpec, seed: int, factor: float) -> None:
    left, right = normal(4, len(NAMES), seed=seed), normal(5, len(NAMES), seed=seed + 1)
    larger = KernelSpec(tuple(replace(term, scale=factor * term.scale) for term in spec.terms))
    units = [spec.unit(index) for index in range(len(spec.terms))]
    with torch.no_grad():
        parts = [term.scale * evaluate(u.build(NAMES), left, right) for term, u in zip(spec.terms, units, strict=True)]
        whole = evaluate(spec.build(NAMES), left, right)
        assert close(whole, torch.stack(parts).sum(0), spec)
        assert close(evaluate(larger.build(NAMES), left, right), factor * whole, larger)


@few
@given(kernels(), seeds, some.floats(-5, 5))
def test_stationary_kernels_know_differences_only(spec: KernelSpec, seed: int, shift: float) -> None:
    left, right = normal(4, len(NAMES), seed=seed), normal(5, len(NAMES), seed=seed + 1)
    kernel = spec.build(NAMES).requires_grad_(False)
    there, moved = evaluate(kernel, left, right), evaluate(kernel, left + shift, right + shift)
    if all(factor.kind.stationary for term in spec.terms for factor in term.factors):
        # a corner at distance zero shows the rounding of x + shift as it is
        assert torch.allclose(there, moved, rtol=1e-9, atol=1e-7 * spec.variance)
        unit = point_diagonal(kernel, left)
        assert close(unit, torch.full_like(unit, spec.variance), spec)


@few
@given(kernels(terms=2), bags(), some.integers(1, 60), some.integers(1, 12))
def test_bag_sums_do_not_depend_on_tiles_and_blocks(spec: KernelSpec, any_bags: Bags, tile: int, points: int) -> None:
    """Against bag means of the whole matrix of kernel values."""
    kernel = spec.build(NAMES)
    with torch.no_grad():
        between = any_bags.mean(any_bags.mean(evaluate(kernel, any_bags.inputs, any_bags.inputs)).T)
        cut = sort_bags(any_bags, points)
        found = gram(kernel, cut, tile=tile)
        assert close(found, between, spec) and close(diagonal(kernel, cut, tile=tile), between.diagonal(), spec)
        at = normal(5, len(NAMES), seed=7)
        expected = any_bags.mean(evaluate(kernel, any_bags.inputs, at))
        assert close(cross(kernel, cut, at, tile=tile), expected, spec)


@few
@given(kernels(terms=2), bags(), seeds)
def test_points_may_be_split_and_come_in_any_order(spec: KernelSpec, any_bags: Bags, seed: int) -> None:
    kernel, generator = spec.build(NAMES), torch.Generator().manual_seed(seed)
    share = torch.rand(len(any_bags.bag), generator=generator, dtype=torch.float64)
    order = torch.randperm(2 * len(any_bags.bag), generator=generator)
    doubled = Bags(
        any_bags.inputs.repeat(2, 1)[order],
        any_bags.bag.repeat(2)[order],
        any_bags.count,
        weights=torch.cat([share * any_bags.weights, (1 - share) * any_bags.weights])[order],
    )
    with torch.no_grad():
        assert close(gram(kernel, sort_bags(doubled)), gram(kernel, sort_bags(any_bags)), spec)


@few
@given(kernels(terms=2), bags(), seeds)
def test_bags_joined_have_the_joined_means(spec: KernelSpec, any_bags: Bags, seed: int) -> None:
    """``K̄`` of one bag made of all, with a share of each, is ``pᵀ K̄ p``: aggregation is linear."""
    kernel = spec.build(NAMES)
    share = normal(any_bags.count, seed=seed).abs() + 0.1
    share = share / share.sum()
    whole = Bags(any_bags.inputs, torch.zeros_like(any_bags.bag), 1, weights=any_bags.weights * share[any_bags.bag])
    with torch.no_grad():
        found = gram(kernel, sort_bags(whole))[0, 0]
        assert close(found, share @ gram(kernel, sort_bags(any_bags)) @ share, spec)
