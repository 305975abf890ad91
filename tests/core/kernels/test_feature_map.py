"""Kernels behind a small neural network: values by hand, gradients by differences, learning, round trip."""

from dataclasses import replace

import pytest
import torch

from core.errors import InputError
from core.kernels.bag_mean import cross_with_gradient, gram
from core.kernels.blocks import sort_bags
from core.kernels.feature_map import FeatureMap
from core.kernels.fourier import draw_prior
from core.kernels.gram_gradients import is_radial
from core.kernels.spec import Factor, KernelSpec, Term
from core.kernels.tiles import diagonal, evaluate
from core.models.indirect_gp import posterior
from core.models.learning import LearningOptions, learn
from core.models.named_posterior import named_posterior
from core.models.parameters import ParameterVector, kernel_parameters, with_values
from core.models.spec import Inducing
from tests.core.models.small import COLUMNS, assert_gradient, model, normal, problem

NAMES = COLUMNS.inputs
MAP = FeatureMap(("a", "c"), outputs=2, hidden=(4,), seed=3)
DEEP = KernelSpec(
    (Term((Factor("rbf", MAP.names, (0.8, 1.2)),), 1.3), Term((Factor("matern32", ("b",), (0.7,)),))), MAP
)


def by_hand(inputs):
    """φ(x) written out."""
    first, second = (torch.tensor(row).double() for row in _rows())
    hidden = torch.tanh(inputs[:, [0, 2]] @ first[:8].reshape(4, 2).T + first[8:])
    return hidden @ second[:8].reshape(2, 4).T + second[8:]


def _rows():
    return [row.tolist() for row in MAP.build(NAMES).rows]


def test_values_are_those_of_the_plain_kernel_on_features_computed_by_hand():
    left, right = normal(5, 3, seed=1), normal(4, 3, seed=2)
    kernel = DEEP.build(NAMES)
    plain = KernelSpec(DEEP.terms).build((*NAMES, *MAP.names))
    wide = [torch.cat([x, by_hand(x)], dim=1) for x in (left, right)]
    with torch.no_grad():
        assert torch.allclose(evaluate(kernel, left, right), evaluate(plain, *wide), atol=1e-13)
        assert torch.allclose(diagonal(kernel, left), torch.full((5,), 2.3).double(), atol=1e-13)
    assert not is_radial(kernel)


def test_gradients_in_the_weights_equal_central_differences():
    kernel, bags = DEEP.build(NAMES), sort_bags(problem().bags, 8)
    vector = ParameterVector(tuple(kernel_parameters("k", DEEP, kernel)))
    weight, other = normal(5, 5, seed=4), normal(5, 3, seed=5)

    def value():
        return (gram(kernel, bags) * weight).sum() + (cross_with_gradient(kernel, bags, other) * weight).sum()

    assert len(vector.get()) == 5 + 12 + 10
    assert_gradient(value, vector, absolute=1e-7)


@pytest.mark.parametrize("name", ["shrinkage_cmp", "vbagg"])
def test_learning_moves_the_network_and_raises_the_evidence(name):
    data = problem(matched=name == "vbagg")
    spec = replace(model(name), kernel=DEEP, inducing=Inducing(8))
    learned = learn(spec, data, COLUMNS, LearningOptions("target_gp", restarts=1, steps=10))
    assert learned.spec.kernel.features.weights != () and learned.spec.kernel.features != MAP
    same = replace(learned.spec, kernel=DEEP, noise=spec.noise, point_noise=spec.point_noise)
    if name == "shrinkage_cmp":
        assert learned.evidence > posterior(same, data, COLUMNS).evidence
        assert learned.evidence == pytest.approx(posterior(learned.spec, data, COLUMNS).evidence, abs=1e-6)
    restored = type(spec).from_dict(learned.spec.to_dict())
    assert restored == learned.spec
    at = normal(3, 3, seed=6)
    assert torch.equal(
        named_posterior(restored, data, COLUMNS).mean(at), named_posterior(learned.spec, data, COLUMNS).mean(at)
    )


def test_a_feature_map_on_mediators_changes_the_weights():
    data, spec = problem(), model("cmp")
    mapped = FeatureMap(("u", "v"), outputs=1)
    deep = KernelSpec((Term((Factor("rbf", mapped.names, (1.0,)),)),), mapped)
    at = normal(3, 3, seed=6)
    plain, other = (posterior(s, data, COLUMNS).mean(at) for s in (spec, replace(spec, mediator_kernel=deep)))
    assert float((plain - other).abs().max()) > 1e-3


def test_draws_have_the_kernel_behind_the_network_as_covariance():
    points, count = normal(3, 3, seed=5), 2000
    generator = torch.Generator().manual_seed(0)
    draws = torch.stack([draw_prior(DEEP, NAMES, generator, torch.device("cpu"))(points) for _ in range(count)])
    with torch.no_grad():
        expected = evaluate(DEEP.build(NAMES), points, points)
    error = (expected.square() + expected.diagonal()[:, None] * expected.diagonal()).div(count).sqrt()
    assert ((torch.cov(draws.T) - expected).abs() < 5.5 * error).all()


@pytest.mark.parametrize(
    ("wrong", "word"),
    [
        (lambda: FeatureMap(()), "at least one"),
        (lambda: FeatureMap(("a",), hidden=(0,)), "at least one"),
        (lambda: FeatureMap(("a",), weights=((1.0,),)), "do not fit"),
        (lambda: KernelSpec(DEEP.terms, FeatureMap(("z",))).build(NAMES), "column 'z'"),
    ],
)
def test_wrong_maps_are_refused_with_a_sentence(wrong, word):
    with pytest.raises(InputError, match=word):
        wrong()


def test_hyperparameters_are_set_by_name_and_the_weights_stay():
    changed = with_values(DEEP, "k", NAMES, {"k1 variance": 2.5, "k2 lengthscale [b]": 0.3})
    assert changed.terms[0].scale == pytest.approx(2.5) and changed.terms[1].factors[0].lengthscales == (
        pytest.approx(0.3),
    )
    assert [list(row) for row in changed.features.weights] == _rows()


def test_a_column_named_like_an_output_of_the_map_is_refused():
    with pytest.raises(InputError, match="rename the column"):
        DEEP.build((*NAMES, "feature2"))
