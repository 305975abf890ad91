"""Priors of parameters as independent marginals, in the working units of the kernels.

The working unit of a parameter θ is ``u = θ`` or, if it is positive and spans orders of magnitude, ``u = log θ``.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from deconditioning.errors import InputError

Family = Literal["uniform", "normal", "gamma"]


@lru_cache(maxsize=64)
def _distribution(family: Family, first: float, second: float) -> Any:
    from scipy import stats

    if family == "uniform":
        return stats.uniform(first, second - first)
    return stats.norm(first, second) if family == "normal" else stats.gamma(first, scale=1 / second)


@dataclass(frozen=True)
class Marginal:
    """The prior of one parameter, restricted to ``[low, high]`` in u.

    ``uniform`` and ``normal`` are distributions of u, with bounds (``first``, ``second``), or mean and sd; ``gamma`` is
    one of ``θ = exp(u)``, with shape and rate. ``log`` says that ``u = log θ``.
    """

    name: str
    family: Family
    first: float
    second: float
    log: bool = False
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        numbers = (self.first, self.second)
        if not np.isfinite(numbers).all():
            raise InputError(f"The prior of {self.name} has the parameters {numbers}: give finite numbers.")
        if self.family == "uniform" and not self.first < self.second:
            raise InputError(f"The prior of {self.name} is uniform from {self.first:g} to {self.second:g}: swap them.")
        if self.family != "uniform" and not (self.second > 0 and (self.family == "normal" or self.first > 0)):
            raise InputError(
                f"The {self.family} prior of {self.name} has the parameters {numbers}: give positive ones."
            )
        if self.family == "gamma" and not self.log:
            raise InputError(f"The gamma prior of {self.name} needs the log scale: set `log`.")
        if not self._mass > 0:
            raise InputError(
                f"The prior of {self.name} has no mass between {self.low:g} and {self.high:g}: widen them."
            )

    def _base(self) -> Any:
        return _distribution(self.family, self.first, self.second)

    def _base_value(self, u: Any) -> Any:
        """u as the base distribution sees it: itself, or ``exp(u)`` of a gamma."""
        return np.exp(u) if self.family == "gamma" else u

    @property
    def _mass(self) -> float:
        base = self._base()
        return float(base.cdf(self._base_value(self.high)) - base.cdf(self._base_value(self.low)))

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest u that the prior allows (may be infinite)."""
        if self.family == "uniform":
            return max(self.low, self.first), min(self.high, self.second)
        return self.low, self.high

    def quantile(self, levels: np.ndarray) -> np.ndarray:
        """``F⁻¹(p)`` of the restricted prior, in u."""
        base = self._base()
        at = base.ppf(base.cdf(self._base_value(self.low)) + np.asarray(levels) * self._mass)
        return np.log(at) if self.family == "gamma" else at

    def log_density(self, u: np.ndarray) -> np.ndarray:
        """``log p(u)`` of the restricted prior; −∞ outside its support."""
        u = np.asarray(u, dtype=float)
        with np.errstate(divide="ignore"):
            value = (
                self._base().logpdf(self._base_value(u)) - np.log(self._mass) + (u if self.family == "gamma" else 0.0)
            )
        return np.where((u >= self.low) & (u <= self.high), value, -np.inf)

    def natural(self, u: np.ndarray) -> np.ndarray:
        """θ of working coordinates u, of any shape: ``exp u`` on a logarithmic scale, else u."""
        return np.exp(u) if self.log else np.asarray(u)

    def working(self, theta: np.ndarray) -> np.ndarray:
        """u of θ; −∞ or NaN where a logarithm does not exist."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log(theta) if self.log else np.asarray(theta, dtype=float)


@dataclass(frozen=True)
class Prior:
    """Independent marginals, one per parameter."""

    marginals: tuple[Marginal, ...]

    def __post_init__(self) -> None:
        if not self.marginals:
            raise InputError("The prior has no parameter: give at least one.")

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names."""
        return tuple(marginal.name for marginal in self.marginals)

    @property
    def bounds(self) -> np.ndarray:
        """Support of each parameter in u, (p, 2)."""
        return np.array([marginal.support for marginal in self.marginals])

    def restricted(self, box: np.ndarray) -> "Prior":
        """The same prior inside ``box`` (p, 2) in u: the support of the simulations, outside which nothing is known."""
        parts = zip(self.marginals, np.asarray(box, dtype=float), strict=True)
        marginals = (replace(part, low=max(part.low, low), high=min(part.high, high)) for part, (low, high) in parts)
        return Prior(tuple(marginals))

    def at_levels(self, levels: np.ndarray) -> np.ndarray:
        """u (n, p) at probabilities (n, p) of each marginal."""
        return np.stack([part.quantile(levels[:, j]) for j, part in enumerate(self.marginals)], axis=1)

    def draw(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Independent draws of u (count, p)."""
        return self.at_levels(rng.uniform(size=(count, len(self.marginals))))

    def spread(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """A Latin hypercube of u (count, p): each marginal has one draw in each of ``count`` equal shares of its mass.

        Source: McKay, Beckman and Conover 1979.
        """
        from scipy.stats import qmc

        return self.at_levels(qmc.LatinHypercube(len(self.marginals), rng=rng).random(count))

    def log_density(self, u: np.ndarray) -> np.ndarray:
        """``log p(u)`` (n,) of the rows of u (n, p)."""
        return np.sum([part.log_density(u[:, j]) for j, part in enumerate(self.marginals)], axis=0)

    def natural(self, u: np.ndarray) -> np.ndarray:
        """Parameters θ (…, p) of working coordinates u (…, p)."""
        return np.stack([part.natural(u[..., j]) for j, part in enumerate(self.marginals)], axis=-1)

    def working(self, theta: np.ndarray) -> np.ndarray:
        """Working coordinates u (…, p) of parameters θ (…, p); −∞ or NaN where a logarithm does not exist."""
        return np.stack([part.working(theta[..., j]) for j, part in enumerate(self.marginals)], axis=-1)
