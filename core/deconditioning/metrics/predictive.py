"""The predictive distribution of values, each by itself: a Gaussian, a mixture of Gaussians, or either behind a warp.

    g(v) ~ Σ_k w_k N(m_k, s_k²)

with a monotone function g, the identity where there is no warp. Values beyond the limits of a quantity are moved onto
them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float

#: Weight w_k, centres m_k and spreads s_k of a Gaussian, in units of the warp.
Part = tuple[float, Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]
#: Nodes of the quadrature over a Gaussian.
_NODES = 21
#: Halvings of the interval that holds a mixture's quantile.
_HALVINGS = 40
#: Nodes of the quantile loss below and above the value, and the normal score beyond which nothing is integrated.
_LOSS_NODES, _FARTHEST = 16, 8.0
#: Values whose quantiles are held at once.
_TILE = 1 << 16
#: The least spread where one divides by it.
_TINY = 1e-150


class Warp(Protocol):
    """A monotone increasing function g and its inverse."""

    def forward(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """g(v)."""
        ...

    def backward(self, warped: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """g⁻¹."""
        ...


@dataclass(frozen=True, eq=False)
class Predictive:
    """Predictive distributions of values v of one shape, NaN where there is none.

    Parameters
    ----------
    mean, sd : of v, in its units.
    parts : the Gaussians of g(v); by default the one with this mean and sd.
    warp : g, None for the identity.
    limits : the lowest and the highest value that v can have, None if neither is known.
    """

    mean: Float[np.ndarray, "*n"]
    sd: Float[np.ndarray, "*n"]
    parts: tuple[Part, ...] = ()
    warp: Warp | None = None
    limits: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.parts:
            object.__setattr__(self, "parts", ((1.0, self.mean, self.sd),))

    @staticmethod
    def behind(warp: Warp, parts: tuple[Part, ...], limits: tuple[float, float] | None = None) -> "Predictive":
        """The distribution of ``g⁻¹`` of Gaussians, its mean and sd by Gauss-Hermite quadrature."""
        first, second = (moment_behind(warp, parts, power) for power in (1, 2))
        return Predictive(first, np.sqrt(np.maximum(second - first**2, 0.0)), parts, warp, limits)

    def __getitem__(self, index: Any) -> "Predictive":
        """The distributions of some of the values."""
        parts = tuple((weight, centre[index], spread[index]) for weight, centre, spread in self.parts)
        return Predictive(self.mean[index], self.sd[index], parts, self.warp, self.limits)

    def _in_units(self, warped: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """Values from units of the warp, inside the limits."""
        if self.warp is not None:
            return self.warp.backward(warped)
        return warped if self.limits is None else np.clip(warped, *self.limits)

    def score(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """Normal scores ``Φ⁻¹(F(v))``, those of a Gaussian ``(v − m)/s``; where s = 0 they are −∞, 0 or ∞.

        A value at a limit, which has a probability of its own, counts as the median where it may be.
        """
        score = self._score(self._warped(values))
        if self.limits is None:
            return score
        low, high = self.limits
        score = np.where(values <= low, np.minimum(score, 0.0), score)
        return np.where(values >= high, np.maximum(score, 0.0), score)

    def _warped(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        return values if self.warp is None else self.warp.forward(values)

    def _score(self, warped: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        from scipy.special import ndtr, ndtri

        each = [(weight, _ratio(warped - centre, spread)) for weight, centre, spread in self.parts]
        if len(each) == 1:
            return each[0][1]
        below, above = (np.sum([weight * ndtr(sign * z) for weight, z in each], axis=0) for sign in (1, -1))
        return np.where(below < 0.5, ndtri(np.minimum(below, 0.5)), -ndtri(np.minimum(above, 0.5)))

    def quantile(self, level: float) -> Float[np.ndarray, "*n"]:
        """The value that v falls below with probability ``level`` in (0, 1), inside the limits."""
        from scipy.special import ndtri

        z = float(ndtri(level))
        each = [centre + spread * z for _, centre, spread in self.parts]
        if len(each) == 1:
            return self._in_units(each[0])
        low, high = np.minimum.reduce(each), np.maximum.reduce(each)  # the mixture's own lies between them
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            above = self._score(middle) > z
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        return self._in_units(0.5 * (low + high))

    def interval(self, level: float) -> tuple[Float[np.ndarray, "*n"], Float[np.ndarray, "*n"]]:
        """The ends of the central interval that holds v with probability ``level``."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def exceedance(self, threshold: float | Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """``P(v > threshold)``, between 0 and 1; one threshold for all values, or one for each."""
        from scipy.special import ndtr

        low, high = self.limits or (-np.inf, np.inf)
        at = np.broadcast_to(np.asarray(threshold, dtype=float), self.mean.shape)
        warped = self._warped(np.clip(at, low, high))
        sharp = [weight * ((spread == 0) & (centre == warped)) for weight, centre, spread in self.parts]
        inside = ndtr(-self._score(warped)) - 0.5 * np.sum(sharp, axis=0)  # a point mass is not above itself
        result = np.where(at < low, 1.0, np.where(at >= high, 0.0, inside))
        return np.where(np.isfinite(self.mean), result, np.nan)

    def crps(self, values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """Continuous ranked probability score of each value, ``∫ (F(t) − 1[t ≥ v])² dt``.

        Closed for Gaussians, their mixtures, and a Gaussian between limits; else ``2 ∫ (1[v < q_u] − u)(q_u − v) du``,
        by Gauss-Legendre quadrature over the normal scores of each part, below and above the value. Source: Gneiting
        and Raftery 2007, §4.2; Grimit et al. 2006; Laio and Tamea 2007, eq. 4.
        """
        from scoringrules import crps_cnormal, crps_mixnorm, crps_normal

        if self.warp is not None or (self.limits is not None and len(self.parts) > 1):
            return self._quantile_loss(values)
        weights, centres, spreads = zip(*self.parts, strict=True)
        if len(weights) > 1:
            m, s = np.stack(centres, axis=-1), np.maximum(np.stack(spreads, axis=-1), _TINY)
            return crps_mixnorm(values, m, s, np.broadcast_to(np.array(weights), m.shape))
        sharp, spread = spreads[0] == 0, np.where(spreads[0] == 0, 1.0, spreads[0])
        wide = (
            crps_normal(values, centres[0], spread)
            if self.limits is None
            else crps_cnormal(values, centres[0], spread, *self.limits)
        )
        return np.where(sharp, np.abs(values - self._in_units(centres[0])), wide)

    def _quantile_loss(self, values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
        """``Σ_k w_k ∫ 2 (1[v < q] − u)(q − v) φ(z) dz`` with ``q = g⁻¹(m_k + s_k z)`` and its level u in the mixture.

        The sides of v apart, where the loss has a kink.
        """
        from scipy.special import ndtr

        if len(values) > _TILE:
            parts = (slice(begin, begin + _TILE) for begin in range(0, len(values), _TILE))
            return np.concatenate([self[part]._quantile_loss(values[part]) for part in parts])
        result, warped = np.zeros_like(values), self._warped(values)
        for weight, centre, spread in self.parts:
            score = np.clip(_ratio(warped - centre, spread), -_FARTHEST, _FARTHEST)
            for end, (node, share) in product((-_FARTHEST, _FARTHEST), zip(*_interval(), strict=True)):
                z = score + node * (end - score)
                at = centre + spread * z
                level = ndtr(z if len(self.parts) == 1 else self._score(at))
                off = values - self._in_units(at)
                density = np.abs(end - score) * np.exp(-0.5 * z**2) / math.sqrt(2 * math.pi)
                result += 2 * weight * share * density * np.maximum(level * off, (level - 1) * off)
        return result


def moment_behind(warp: Warp, parts: Sequence[Part], power: int = 1) -> Float[np.ndarray, "*n"]:
    """``Σ_k w_k E[g⁻¹(m_k + s_k z)^power]`` with a standard normal z, by Gauss-Hermite quadrature."""
    result = np.zeros_like(parts[0][1])
    for weight, centre, spread in parts:
        if not np.any(spread):
            result += weight * warp.backward(centre) ** power
            continue
        for node, share in zip(*_nodes(), strict=True):
            result += weight * share * warp.backward(centre + node * spread) ** power
    return result


@cache
def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral over a standard normal."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    return nodes, weights / weights.sum()


@cache
def _interval() -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(_LOSS_NODES)
    return (nodes + 1) / 2, weights / 2


def _ratio(off: Float[np.ndarray, "*n"], spread: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
    """``off / spread``, 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where((off == 0) & (spread == 0), 0.0, off / spread)
