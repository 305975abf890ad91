"""The update by Lanczos steps: against dense matrices, in both precisions, and where it gives up."""

import pytest
import torch

from deconditioning.kernels.lanczos import lanczos_update

SIZE = 120


def problem(width: float = 1.0, seed: int = 0):
    rng = torch.Generator().manual_seed(seed)
    points = torch.randn(SIZE, 3, generator=rng, dtype=torch.float64)
    gram = torch.exp(-0.5 * torch.cdist(points, points) ** 2 / width**2)
    weights = torch.exp(-points.square().sum(1)) * torch.randn(SIZE, generator=rng, dtype=torch.float64) / 10
    return gram, weights, gram[7]


def by_hand(gram, weights, near, delta):
    joint = torch.diag(weights) @ gram
    return joint @ torch.linalg.inv(joint @ joint + delta * torch.eye(len(gram)).double()) @ (weights * near)


@pytest.mark.parametrize("delta", [1e-2, 1e-4])
def test_weights_of_either_sign_give_the_dense_update(delta):
    gram, weights, near = problem()
    exact = by_hand(gram, weights, near, delta)
    found = lanczos_update(gram, weights, near, delta, 1e-9)
    assert torch.allclose(found, exact, atol=1e-7 * float(exact.norm()))
    loose = lanczos_update(gram, weights, near, delta, 1e-3)
    assert 1e-12 < float((loose - exact).norm() / exact.norm()) < 0.02
    single = lanczos_update(gram.float(), weights, near, delta)
    assert single.dtype == torch.float32 and float((single.double() - exact).norm() / exact.norm()) < 2e-3


def test_steps_end_where_the_matrix_does():
    """All weight on one point: one step sees all there is."""
    gram, _, near = problem()
    weights = torch.zeros(SIZE, dtype=torch.float64)
    weights[4] = 0.5
    found = lanczos_update(gram, weights, near, 1e-3)
    one = 0.5 * float(gram[4, 4]) * 0.5 * float(near[4]) / (0.25 * float(gram[4, 4]) ** 2 + 1e-3)
    assert float(found[4]) == pytest.approx(one, rel=1e-9) and not found[torch.arange(SIZE) != 4].any()
    assert not lanczos_update(gram, 0 * weights, near, 1e-3).any()


def test_what_does_not_converge_is_none():
    gram, weights, near = problem(0.5)
    assert lanczos_update(gram, weights, near, 1e-8, 1e-12, most=15) is None
    assert lanczos_update(gram, weights, near, 1e-8, 1e-12) is not None
