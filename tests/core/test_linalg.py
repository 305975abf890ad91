"""Factorisation: solutions against dense ones, jitter reported, failures said."""

import pytest
import torch

from deconditioning import linalg
from deconditioning.device import choose, describe, one_thread
from deconditioning.errors import InputError
from deconditioning.observations import Bags, IndirectData
from tests.core.models.small import normal


def spd(n: int = 6) -> torch.Tensor:
    """A positive definite matrix."""
    half = normal(n, n, seed=1)
    return half @ half.T + n * torch.eye(n, dtype=torch.float64)


def test_solves_and_determinants_equal_dense_ones():
    matrix, right = spd(), normal(6, 2, seed=2)
    factor = linalg.cholesky(matrix)
    assert factor.jitter == 0.0
    assert torch.allclose(factor.solve(right), torch.linalg.solve(matrix, right), atol=1e-12)
    assert torch.allclose(factor.solve(right[:, 0]), torch.linalg.solve(matrix, right[:, 0]), atol=1e-12)
    half = factor.half_solve(right[:, 0])
    assert float(half @ half) == pytest.approx(float(right[:, 0] @ torch.linalg.solve(matrix, right[:, 0])))
    assert float(factor.log_determinant()) == pytest.approx(float(torch.logdet(matrix)))
    density = torch.distributions.MultivariateNormal(torch.zeros(6, dtype=torch.float64), matrix)
    assert float(linalg.log_normal_density(right[:, 0], factor)) == pytest.approx(float(density.log_prob(right[:, 0])))


def test_jitter_is_the_least_that_works_and_is_returned():
    column = normal(5, 1, seed=3)
    factor = linalg.cholesky(column @ column.T)
    scale = float((column**2).mean())
    assert 0 < factor.jitter <= 1e-6 * scale * 1.001


def test_a_pivot_of_rounding_alone_is_none():
    """A singular matrix whose last digit makes Cholesky end: on another processor it would not."""
    almost = torch.ones(2, 2, dtype=torch.float64)
    almost[1, 1] += torch.finfo(torch.float64).eps
    assert not int(torch.linalg.cholesky_ex(almost).info)
    assert linalg.cholesky(almost).jitter > 0
    with pytest.raises(InputError, match="is singular"):
        linalg.solve_positive_batch(torch.stack([spd(2), almost]), torch.ones(2, 2, 1, dtype=torch.float64))
    scaled = spd() * torch.logspace(-9, 9, 6, dtype=torch.float64).outer(torch.logspace(-9, 9, 6, dtype=torch.float64))
    assert linalg.cholesky(scaled).jitter == 0, "rows of other units are not singular"


def test_a_root_of_a_singular_matrix_is_one():
    half = normal(6, 2, seed=3)
    found = linalg.root(half @ half.T)
    assert torch.allclose(found @ found.T, half @ half.T, atol=1e-12)
    assert torch.allclose(found, found.T, atol=1e-14), "the symmetric one is unique"
    with pytest.raises(InputError, match="infinite or missing"):
        linalg.root(torch.full((2, 2), torch.nan, dtype=torch.float64))


def test_singular_values_give_the_matrix_back():
    matrix = torch.outer(torch.arange(1.0, 4.0).double(), torch.ones(5).double())
    left, values, right = linalg.singular(matrix)
    assert torch.allclose(left * values @ right, matrix, atol=1e-14) and values.shape == (3,)
    assert values.tolist() == pytest.approx([70**0.5, 0, 0], abs=1e-14)
    with pytest.raises(InputError, match="infinite or missing"):
        linalg.singular(matrix / 0.0)


def test_hopeless_matrices_are_refused_with_a_remedy():
    with pytest.raises(InputError, match="raise the noise"):
        linalg.cholesky(-spd())
    with pytest.raises(InputError, match="infinite or missing"):
        linalg.cholesky(spd() * float("nan"))


def test_devices():
    assert choose("cpu").type == "cpu"
    assert describe(choose("cpu")).free_bytes > 0
    if not torch.cuda.is_available():
        with pytest.raises(InputError, match="no GPU"):
            choose("cuda")
    with pytest.raises(InputError, match="unknown"):
        choose("abacus")


def test_auto_is_what_the_process_says_and_a_name_wins(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.delenv("DECONDITIONING_DEVICE", raising=False)
    assert [choose(name).type for name in (None, "auto", "cpu", "cuda")] == ["cuda", "cuda", "cpu", "cuda"]
    monkeypatch.setenv("DECONDITIONING_DEVICE", "cpu")
    assert [choose(name).type for name in (None, "auto", "AUTO", "cpu", "cuda")] == ["cpu", "cpu", "cpu", "cpu", "cuda"]
    monkeypatch.setenv("DECONDITIONING_DEVICE", "auto")
    assert choose("auto").type == "cuda"


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"bag": torch.tensor([0, 0])}, "one bag index per point"),
        ({"count": 3}, "contain points"),
        ({"inputs": torch.full((3, 1), float("nan"))}, "missing or infinite"),
        ({"weights": torch.tensor([-1.0, 1.0, 1.0])}, "non-negative"),
        ({"weights": torch.tensor([0.0, 0.0, 1.0])}, "sum to zero"),
    ],
)
def test_wrong_bags_are_refused(change, word):
    good = {"inputs": torch.ones(3, 1), "bag": torch.tensor([0, 0, 1]), "count": 2}
    Bags(**good)
    with pytest.raises(InputError, match=word):
        Bags(**(good | change))


def test_wrong_data_are_refused():
    bags = Bags(torch.ones(3, 1), torch.tensor([0, 0, 1]), 2)
    two, three = torch.ones(2, 1), torch.ones(3, 1)
    for arguments, word in (
        ((bags, three, two, torch.ones(2)), "one per bag"),
        ((bags, two, three, torch.ones(2)), "one target per mediator"),
        ((bags, two, torch.ones(2, 2), torch.ones(2)), "same mediating variables"),
        ((bags, two, two, torch.full((2,), float("inf"))), "missing or infinite"),
    ):
        with pytest.raises(InputError, match=word):
            IndirectData(*arguments)
    assert IndirectData(bags, two, two, torch.ones(2)).to("cpu").matched


def test_one_thread_is_given_back(monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "get_num_threads", lambda: 7)
    monkeypatch.setattr(torch, "set_num_threads", asked.append)

    @one_thread()
    def work():
        assert asked == [1]
        raise RuntimeError

    with pytest.raises(RuntimeError):
        work()
    assert asked == [1, 7]


def test_contrasts_are_orthonormal_and_orthogonal_to_the_design() -> None:
    design = torch.randn(9, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * torch.tensor(
        [1, 1e6, 1e-6]
    )
    basis = linalg.contrasts(design)
    assert basis.shape == (9, 6)
    assert float((basis.T @ basis - torch.eye(6)).abs().max()) < 1e-14
    assert float((basis.T @ (design / design.norm(dim=0))).abs().max()) < 1e-14
    assert torch.equal(linalg.contrasts(design[:, :0]), torch.eye(9, dtype=torch.float64))


def test_what_is_regularised_already_gets_no_jitter():
    flat = torch.ones(4, 4, dtype=torch.float64)
    assert linalg.cholesky(flat, "matrix").jitter > 0
    with pytest.raises(InputError, match="singular at this regularisation"):
        linalg.cholesky_exact(flat, "matrix")
    assert linalg.cholesky_exact(flat + torch.eye(4, dtype=torch.float64), "matrix").jitter == 0


def test_the_identity_is_known_by_its_entries():
    unit = torch.eye(4, dtype=torch.float64)
    assert linalg.is_identity(unit) and not linalg.is_identity(unit.flip(0)) and not linalg.is_identity(2 * unit)
    assert not linalg.is_identity(unit[:3]) and not linalg.is_identity(unit + 1e-300 * unit.roll(1, 0))
    assert not linalg.is_identity(unit.clone().requires_grad_())
