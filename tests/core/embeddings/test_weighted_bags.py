"""Reading a conditional mean embedding: against explicit sums over points, and in RKHS distance."""

import pytest
import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.embeddings.weighted_bags import BagEmbedding
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags

SIZES = (2, 5, 1, 4)
KERNEL = KernelSpec((Term((Factor("rbf", ("x",), (0.7,)),)),))


def normal(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def embeddings():
    bag = torch.repeat_interleave(torch.arange(4), torch.tensor(SIZES))[[3, 0, 11, 5, 1, 8, 2, 10, 4, 7, 9, 6]]
    bags = sort_bags(Bags(normal(12, 1), bag, 4))
    kernel = KERNEL.build(("x",))
    return [BagEmbedding(kernel, bags, normal(4, 3, seed=seed)) for seed in (1, 2)]


def point_weights(embedding):
    bags = embedding.bags.bags
    return embedding.weights[bags.bag] / bags.sizes[bags.bag, None]


def rbf(left, right):
    return torch.exp(-0.5 * ((left - right.T) / 0.7) ** 2)


def test_values_and_expectations_are_sums_over_points():
    embedding = embeddings()[0]
    inputs, at = embedding.bags.bags.inputs, normal(6, 1, seed=3)
    assert torch.allclose(embedding.at(at), rbf(at, inputs) @ point_weights(embedding), atol=1e-12)
    f = torch.sin(inputs[:, 0])
    assert torch.allclose(embedding.expectation(f), point_weights(embedding).T @ f, atol=1e-12)
    two = torch.stack([f, f**2], 1)
    assert torch.allclose(embedding.expectation(two)[:, 1], point_weights(embedding).T @ f**2, atol=1e-12)


def test_an_expectation_of_a_function_of_the_rkhs_is_an_inner_product_with_the_embedding():
    embedding, centres, coefficients = embeddings()[0], normal(5, 1, seed=4), normal(5, seed=5)
    f = rbf(embedding.bags.bags.inputs, centres) @ coefficients
    assert torch.allclose(embedding.expectation(f), embedding.at(centres).T @ coefficients, atol=1e-12)


def test_the_rkhs_distance_is_that_of_all_pairs_of_points():
    first, second = embeddings()
    second = BagEmbedding(first.kernel, first.bags, second.weights)
    inputs, between = first.bags.bags.inputs, point_weights(first) - point_weights(second)
    square = (between * (rbf(inputs, inputs) @ between)).sum(0)
    assert torch.allclose(first.distance(second), square.sqrt(), atol=1e-11)
    assert float(first.distance(first).max()) == 0
    with pytest.raises(InputError, match="different bags"):
        first.distance(embeddings()[1])


def test_wrong_shapes_are_refused():
    embedding = embeddings()[0]
    with pytest.raises(InputError, match="one row per bag"):
        BagEmbedding(embedding.kernel, embedding.bags, normal(3, 2))
    with pytest.raises(InputError, match="12 points"):
        embedding.expectation(normal(11))


def test_one_of_them_as_a_weighted_sample_has_the_same_values():
    embedding, at = embeddings()[0], normal(6, 1, seed=3)
    for column in range(3):
        assert torch.allclose(embedding.kernel_mean(column).at(at), embedding.at(at)[:, column], atol=1e-12)
