"""Sparse representation: against the m×m model, finite differences, recovery of the points that made the data."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.datasets.sparse_toy import ToySpec, make_toy
from deconditioning.errors import Cancelled, InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.centroids import singletons
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.sparse.sparse_representation import (
    SparseRepresentation,
    learn_sparse,
    sparse_moments,
    sparse_objective,
    sparse_posterior,
)
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import IndirectData
from tests.core.models.small import assert_gradient


def rbf(scale: float, variance: float) -> KernelSpec:
    return KernelSpec((Term((Factor("rbf", ("x",), (scale,)),), variance),))


TOY = make_toy(ToySpec(40, seed=1))
SPEC = SparseRepresentation(((-3.0,), (-1.2,), (0.1,), (2.0,), (3.7,)), ("x",), rbf(0.9, 1.2), rbf(1.1, 0.8), 0.05)


def test_it_is_the_task_transformed_gp_whose_x_and_y_are_the_points():
    found = sparse_posterior(SPEC, TOY.inputs, TOY.targets)
    points = torch.tensor(SPEC.locations, dtype=torch.float64)
    data = IndirectData(singletons(points), points, TOY.inputs, TOY.targets)
    spec = ModelSpec("shrinkage_cmp", SPEC.kernel, SPEC.mediator_kernel, SPEC.noise / 5, SPEC.noise)
    exact = posterior(spec, data, Columns(("x",), ("x",)))
    assert found.evidence == pytest.approx(exact.evidence, abs=1e-8)
    assert torch.allclose(found.mean(TOY.grid), exact.mean(TOY.grid), atol=1e-9)
    assert torch.allclose(found.variance(TOY.grid), exact.variance(TOY.grid), atol=1e-9)


def test_the_moments_do_not_depend_on_the_chunk():
    kernel, points = SPEC.mediator_kernel.build(("x",)), torch.tensor(SPEC.locations, dtype=torch.float64)
    whole = sparse_moments(kernel, points, TOY.inputs, TOY.targets, 0.05)
    parts = sparse_moments(kernel, points, TOY.inputs, TOY.targets, 0.05, chunk=7)
    assert torch.allclose(whole.second, parts.second, atol=1e-12) and torch.allclose(whole.cross, parts.cross)
    assert whole.count == parts.count == 40


SHARED = replace(SPEC, mediator_kernel=None)


@pytest.mark.parametrize("spec, hyperparameters, moving", [(SPEC, True, 10), (SPEC, False, 5), (SHARED, True, 8)])
def test_the_gradient_equals_finite_differences_in_points_and_hyperparameters(spec, hyperparameters, moving):
    loss, vector, _ = sparse_objective(spec, TOY.inputs, TOY.targets, hyperparameters=hyperparameters)
    assert len(vector.names) == moving
    assert_gradient(loss, vector)


def rmse(spec: SparseRepresentation) -> float:
    mean = sparse_posterior(spec, TOY.inputs, TOY.targets).mean(TOY.grid).numpy()
    return float(np.sqrt(np.mean((mean - TOY.truth) ** 2)))


def test_learned_points_represent_the_function_and_random_ones_do_not():
    places = np.random.default_rng(0).uniform(-5, 5, 5).tolist()
    start = SparseRepresentation(tuple((v,) for v in places), ("x",), rbf(1.0, 1.0))
    learned = learn_sparse(start, TOY.inputs, TOY.targets, starts=3)
    assert rmse(learned.spec) < 0.5 * rmse(start) and rmse(learned.spec) < 0.15
    assert learned.evidence == pytest.approx(sparse_posterior(learned.spec, TOY.inputs, TOY.targets).evidence, abs=1e-6)
    one = learn_sparse(start, TOY.inputs, TOY.targets, starts=1)
    assert one.evidence <= learned.evidence
    fixed = learn_sparse(start, TOY.inputs, TOY.targets, hyperparameters=False, starts=1)
    assert fixed.spec.kernel == start.kernel and fixed.spec.noise == start.noise
    assert fixed.evidence > sparse_posterior(start, TOY.inputs, TOY.targets).evidence


def test_a_cancel_keeps_the_best_so_far_and_the_trace_tells_the_points():
    seen = []

    def check():
        if len(seen) >= 4:
            raise Cancelled

    learned = learn_sparse(SPEC, TOY.inputs, TOY.targets, report=seen.append, check=check)
    assert learned.cancelled and len(seen) == 4 == seen[-1]["evaluation"] and len(seen[0]["locations"]) == 5
    best = min(seen, key=lambda event: event["loss"])
    assert learned.evidence == pytest.approx(-best["loss"] * 40)


def test_wrong_input_is_said(unchecked):
    with pytest.raises(InputError, match="at least one point"):
        replace(SPEC, locations=())
    with pytest.raises(InputError, match="positive"):
        replace(SPEC, noise=0.0)
    with pytest.raises(InputError, match="per target"):
        sparse_posterior(SPEC, TOY.inputs, TOY.targets[:-1])
    with pytest.raises(InputError, match="missing"):
        sparse_posterior(SPEC, TOY.inputs, TOY.targets * float("nan"))
    with pytest.raises(InputError, match="starts"):
        learn_sparse(SPEC, TOY.inputs, TOY.targets, starts=0)
    with pytest.raises(InputError, match="1 to 50"):
        ToySpec(points=0)
    with pytest.raises(InputError, match="not negative"):
        ToySpec(noise=-1)


def test_the_toy_is_exactly_its_points():
    values = TOY.function(TOY.centres)
    gram = np.exp(-0.5 * (TOY.centres[:, None] - TOY.centres) ** 2)
    assert np.allclose(gram @ np.linalg.solve(gram, values), values) and np.allclose(gram @ TOY.dual, values)
    assert np.std(TOY.targets.numpy() - TOY.function(TOY.inputs[:, 0].numpy())) == pytest.approx(0.1, rel=0.4)


@pytest.mark.gpu
def test_cuda_gives_the_same_numbers():
    here = sparse_posterior(SPEC, TOY.inputs, TOY.targets)
    there = sparse_posterior(SPEC, TOY.inputs.cuda(), TOY.targets.cuda())
    assert there.evidence == pytest.approx(here.evidence, abs=1e-6)
    assert torch.allclose(there.mean(TOY.grid.cuda()).cpu(), here.mean(TOY.grid), atol=1e-6)
