"""A function that a few points represent exactly, and noisy data of it."""

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed

#: Of the function's own kernel: lengthscale and variance (the toy process of Rasmussen and Williams 2006, §2).
LENGTHSCALE, VARIANCE = 1.0, 1.0
HALF_WIDTH, _GRID = 5.0, 400


@dataclass(frozen=True)
class ToySpec:
    """``points`` (u*, f(u*)) that make the function, ``data`` noisy values of it at uniform places, noise sd, seed.

    Source: Hsu and Ramos 2019, §8.2 (five points, a hundred data).
    """

    data: int = 100
    points: int = 5
    noise: float = 0.1
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if not (1 <= self.points <= 50 and 1 <= self.data <= 1_000_000):
            raise InputError(
                f"{self.data} data of a function of {self.points} points were requested: give 1 to 50 points "
                "and at most a million data."
            )
        if not 0 <= self.noise < np.inf:
            raise InputError(f"The noise is {self.noise}: give a number that is not negative.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``ToySpec(**…)``."""
        return asdict(self)


@dataclass(frozen=True)
class Toy:
    """``centres`` u* and ``dual`` α of ``f(x) = Σ_i α_i k(u*_i, x)``; ``inputs`` x (m, 1) and ``targets`` (m,)."""

    spec: ToySpec
    centres: np.ndarray
    dual: np.ndarray
    inputs: Float[Tensor, "m 1"]
    targets: Float[Tensor, " m"]

    def function(self, x: np.ndarray) -> np.ndarray:
        """The function f without noise at inputs of any shape."""
        return _gaussian(x, self.centres) @ self.dual

    @cached_property
    def grid(self) -> Float[Tensor, "P 1"]:
        """Where pictures and scores look."""
        return torch.linspace(-HALF_WIDTH, HALF_WIDTH, _GRID, dtype=torch.float64)[:, None]

    @cached_property
    def truth(self) -> np.ndarray:
        """f on the grid."""
        return self.function(self.grid[:, 0].numpy())


def make_toy(spec: ToySpec) -> Toy:
    """Draw points, their values from the prior, and the data; the same seed gives the same numbers."""
    rng = np.random.default_rng(spec.seed)
    slots = np.linspace(-0.85 * HALF_WIDTH, 0.85 * HALF_WIDTH, spec.points) if spec.points > 1 else np.zeros(1)
    centres = slots + 0.3 * rng.standard_normal(spec.points)
    gram = _gaussian(centres, centres) + 1e-10 * np.eye(spec.points)
    values = np.linalg.cholesky(gram) @ rng.standard_normal(spec.points) * 1.5
    dual = np.linalg.solve(gram, values)
    x = rng.uniform(-HALF_WIDTH, HALF_WIDTH, spec.data)
    z = _gaussian(x, centres) @ dual + spec.noise * rng.standard_normal(spec.data)
    return Toy(spec, centres, dual, torch.from_numpy(x)[:, None], torch.from_numpy(z))


def _gaussian(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return VARIANCE * np.exp(-0.5 * ((left[:, None] - right) / LENGTHSCALE) ** 2)
