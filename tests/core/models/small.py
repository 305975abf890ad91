"""A small indirect problem with everything uneven, shared by the tests of the models."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch

from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.spec import ModelSpec
from deconditioning.observations import Bags, IndirectData

COLUMNS = Columns(("a", "b", "c"), ("u", "v"))
KERNEL = KernelSpec(
    (
        Term((Factor("matern32", ("a", "b"), (0.5,)),), 0.8),
        Term((Factor("rbf", ("c",), (0.8,)), Factor("matern52", ("a",), (1.3,))), 1.7),
    )
)
MEDIATOR_KERNEL = KernelSpec((Term((Factor("rbf", ("u", "v"), (1.0, 0.7)),)),))


def normal(*shape: int, seed: int) -> torch.Tensor:
    """Standard normal numbers of their own seed."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def problem(sizes=(3, 7, 1, 5, 10), targets: int = 4, matched: bool = False) -> IndirectData:
    """Bags of the given sizes in shuffled order, with mediators and targets."""
    bag = torch.repeat_interleave(torch.arange(len(sizes)), torch.tensor(sizes))
    bag = bag[torch.randperm(len(bag), generator=torch.Generator().manual_seed(1))]
    mediators = normal(len(sizes), 2, seed=2)
    query = mediators if matched else normal(targets, 2, seed=3)
    bags = Bags(normal(len(bag), 3, seed=4), bag, len(sizes))
    return IndirectData(bags, mediators, query, normal(len(query), seed=5))


def model(name: str, regularisation: float = 1e-2, noise: float = 0.1, point_noise: float = 0.2, mean: float = 0.3):
    """A model on the small problem's columns."""
    return ModelSpec(name, KERNEL, MEDIATOR_KERNEL, regularisation, noise, point_noise, mean)


def assert_gradient(loss, vector, absolute: float = 1e-5) -> None:
    """The gradient of ``loss()`` over a ``ParameterVector`` equals central differences."""
    vector.clear_gradient()
    loss().backward()
    found, start = vector.gradient(), vector.get()
    for index in range(len(start)):
        ends = []
        for sign in (1, -1):
            vector.set(start + sign * 1e-5 * np.eye(len(start))[index])
            ends.append(float(loss().detach()))
        assert found[index] == pytest.approx((ends[0] - ends[1]) / 2e-5, abs=absolute, rel=1e-5), vector.names[index]
        vector.set(start)


def dense(spec: KernelSpec, columns: tuple[str, ...], left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """Kernel matrix by closed formulas, one pair at a time: no library, no tile."""
    out = torch.zeros(len(left), len(right), dtype=torch.float64)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            for term in spec.terms:
                value = term.scale
                for factor in term.factors:
                    value *= _closed(factor, columns, x, y)
                out[i, j] += value
    return out


def _closed(factor: Factor, columns: tuple[str, ...], x: torch.Tensor, y: torch.Tensor) -> float:
    index = [columns.index(name) for name in factor.columns]
    scales = torch.tensor(factor.lengthscales, dtype=torch.float64)
    difference = x[index] - y[index]
    if factor.family == "linear":
        return float((x[index] * y[index] / scales**2).sum())
    if factor.family == "constant":
        return 1.0
    if factor.family == "periodic":
        sines = torch.sin(torch.pi * difference / factor.numbers["period"]) ** 2
        return float(torch.exp(-2 * (sines / scales).sum()))
    return CLOSED[factor.family](float(((difference / scales) ** 2).sum()) ** 0.5, factor.numbers)


def _mixed(r: float, own: dict[str, float]) -> float:
    t, parts = own["mixture"], (1, 1 + r, 1 + r + r * r / 3)
    return ((1 - t) ** 2 * parts[0] + 2 * t * (1 - t) * parts[1] + t * t * parts[2]) * math.exp(-r)


#: The families of the scaled distance r, written out.
CLOSED: dict[str, Callable[[float, dict[str, float]], float]] = {
    "rbf": lambda r, own: math.exp(-0.5 * r * r),
    "matern12": lambda r, own: math.exp(-r),
    "matern32": lambda r, own: (1 + 3**0.5 * r) * math.exp(-(3**0.5) * r),
    "matern52": lambda r, own: (1 + 5**0.5 * r + 5 / 3 * r * r) * math.exp(-(5**0.5) * r),
    "rational_quadratic": lambda r, own: (1 + r * r / (2 * own["alpha"])) ** -own["alpha"],
    "powered_exponential": lambda r, own: math.exp(-(r ** own["alpha"])),
    "mixed_matern": _mixed,
}
