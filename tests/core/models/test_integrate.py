"""Hyperparameters integrated out: the chain against closed forms and quadrature, and the members of a spread."""

import math

import numpy as np
import pytest
import torch

from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.indirect_gp import Columns, posterior
from deconditioning.models.learning import integrate as module
from deconditioning.models.learning.integrate import _chain, integrate, members
from deconditioning.models.learning.learning import LearningOptions
from deconditioning.models.learning.parameters import ParameterVector
from deconditioning.models.spec import ModelSpec
from deconditioning.models.spread import Spread
from deconditioning.observations import Bags, IndirectData

COLUMNS = Columns(("a", "b"), place=("a",))


def kernel(lengthscale: float = 1.0, variance: float = 1.0) -> KernelSpec:
    rough = Factor("powered_exponential", ("a",), (lengthscale,), {"alpha": 0.9})
    return KernelSpec((Term((rough,), variance), Term((Factor("linear", ("b",), (2.0,)),))))


@pytest.fixture
def data() -> IndirectData:
    rng = np.random.default_rng(3)
    inputs = torch.as_tensor(np.stack([np.linspace(0, 4, 48), rng.normal(size=48)], axis=1))
    targets = torch.as_tensor(rng.normal(size=12))
    mediators = torch.zeros(12, 1, dtype=torch.float64)
    return IndirectData(Bags(inputs, torch.arange(48) // 4, 12), mediators, mediators, targets)


def spec(**changes: float) -> ModelSpec:
    return ModelSpec("area_to_point_gp", kernel(**changes), noise=1e-2)


def test_chain_has_the_posterior_of_a_gaussian_likelihood(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prior N(0, I) and likelihood N(y; x, ½ I) have the posterior N(2y/3, I/3)."""
    monkeypatch.setattr(module, "MEMBERS", 1500)
    seen = np.array([1.5, -0.6])
    chain = np.array(_chain(lambda x: -float(((x - seen) ** 2).sum()), np.zeros(2), np.random.default_rng(1)))
    assert chain.mean(0) == pytest.approx(2 * seen / 3, abs=0.05)
    assert np.cov(chain.T) == pytest.approx(np.eye(2) / 3, abs=0.04)


def test_moments_of_the_hyperparameters_agree_with_quadrature(
    data: IndirectData, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prior of the slope's scale and of α is so narrow that two hyperparameters are left: a grid gives their
    posterior.
    """
    monkeypatch.setattr(module, "MEMBERS", 300)
    monkeypatch.setattr(module, "_APART", 3)
    free = ("k1 variance", "k1 lengthscale [a]")

    def widths(vector: ParameterVector, sd: float) -> np.ndarray:
        return np.array([1.0 if name in free else 1e-6 for name in vector.names])

    monkeypatch.setattr(module, "_widths", widths)
    result = integrate(spec(), data, COLUMNS, LearningOptions(hold=("noise", "point_noise"), prior_sd=1.0),
                       centre=kernel())  # fmt: skip
    assert result.spread is not None
    rows = np.array(result.spread.offsets)[:, :2]
    assert result.spread.names[:2] == ("k1 variance", "k1 lengthscale [a]")
    axis = np.linspace(-4, 4, 17)
    logs = np.array([[float(posterior(spec(lengthscale=math.exp(b), variance=math.exp(a)), data, COLUMNS).evidence)
                      - (a**2 + b**2) / 2 for b in axis if math.exp(b) <= 10] for a in axis])  # fmt: skip
    weight = np.exp(logs - logs.max())
    weight /= weight.sum()
    inside = axis[np.exp(axis) <= 10]
    means = np.array([(weight.sum(1) * axis).sum(), (weight.sum(0) * inside).sum()])
    sds = np.sqrt([(weight.sum(1) * axis**2).sum() - means[0] ** 2, (weight.sum(0) * inside**2).sum() - means[1] ** 2])
    assert rows.mean(0) == pytest.approx(means, abs=0.15)
    assert rows.std(0) == pytest.approx(sds, abs=0.15)


def test_noise_is_integrated_only_where_it_is_free(data: IndirectData) -> None:
    free = integrate(spec(), data, COLUMNS, LearningOptions(prior_sd=1.0, hold=("point_noise",)), centre=kernel())
    assert free.spread is not None and "noise σ²" in free.spread.names
    assert len({member.noise for member in members(free, COLUMNS.inputs)}) > 1
    held = integrate(
        spec(), data, COLUMNS, LearningOptions(prior_sd=1.0, hold=("noise", "point_noise")), centre=kernel()
    )
    assert {member.noise for member in members(held, COLUMNS.inputs)} == {1e-2}


def test_the_same_seed_gives_the_same_members(data: IndirectData) -> None:
    options = LearningOptions(hold=("noise", "point_noise"), prior_sd=1.0)
    first, again = (integrate(spec(), data, COLUMNS, options, centre=kernel()) for _ in range(2))
    assert first == again
    assert ModelSpec.from_dict(first.to_dict()) == first


def test_members_move_with_the_model() -> None:
    spread = Spread(("k1 variance", "k1 lengthscale [a]", "k1 alpha [a]"), ((0.0, 0.0, 0.0), (1.0, -0.5, 0.1)))
    own = ModelSpec("area_to_point_gp", kernel(2.0, 3.0), spread=spread)
    same, other = members(own, COLUMNS.inputs)
    assert same.spread is None
    assert same.kernel.terms[0].scale == pytest.approx(3.0)
    assert other.kernel.terms[0].scale == pytest.approx(3.0 * math.e)
    assert other.kernel.terms[0].factors[0].lengthscales[0] == pytest.approx(2.0 * math.exp(-0.5))
    assert other.kernel.terms[0].factors[0].numbers["alpha"] == pytest.approx(0.9 * math.exp(0.1))
    assert other.kernel.terms[1] == own.kernel.terms[1]
    assert members(ModelSpec("area_to_point_gp", kernel()), COLUMNS.inputs) == [ModelSpec("area_to_point_gp", kernel())]


@pytest.mark.parametrize("wrong", [{}, {"names": ["a"], "offsets": []}, {"names": ["a"], "offsets": [[1.0, 2.0]]}])
def test_what_is_no_spread_is_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match="spread of hyperparameters"):
        Spread.from_dict(wrong)
