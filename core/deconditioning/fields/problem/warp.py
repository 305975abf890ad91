"""Warps of a skewed or bounded target: a monotone function of its values whose field is more nearly Gaussian.

Box-Cox: ``g(v) = ((v + s)^λ − 1)/λ``, ``log(v + s)`` for λ = 0. Logit: ``g(v) = log((v − a)/(b − v))`` between the
bounds a and b. Source: Box and Cox 1964, *An analysis of transformations*.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from deconditioning.errors import InputError
from deconditioning.wording import number

#: Powers below this count as 0, whose Box-Cox warp is the logarithm.
_LEAST_POWER = 0.12
#: The shift of a target whose smallest value is near zero: share of its median.
_SHIFT = 0.05
#: How near to a bound, in units of their distance, a value counts as if it were this far from it.
_EDGE = 1e-3
#: Bounds of targets that a logit suits.
_BOUNDS = ((0.0, 1.0), (-1.0, 1.0), (0.0, 100.0))


@dataclass(frozen=True)
class Warp:
    """``kind`` "box-cox" (with ``power`` λ and ``shift`` s) or "logit" (between ``low`` and ``high``)."""

    kind: str
    power: float = 0.0
    shift: float = 0.0
    low: float = 0.0
    high: float = math.inf

    def forward(self, values: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """g(v); values at or beyond a bound are moved just inside."""
        if self.kind == "logit":
            span = self.high - self.low
            inside = np.clip((values - self.low) / span, _EDGE, 1 - _EDGE)
            return np.log(inside) - np.log1p(-inside)
        base = np.maximum(values + self.shift, 1e-300)
        return np.log(base) if self.power == 0 else np.expm1(self.power * np.log(base)) / self.power

    def backward(self, warped: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """g⁻¹, never beyond ``low`` and ``high``."""
        warped = np.asarray(warped, dtype=float)
        if self.kind == "logit":
            return self.low + (self.high - self.low) / (1 + np.exp(-np.clip(warped, -700, 700)))
        if self.power == 0:
            base = np.exp(np.clip(warped, -700, 700))
        else:
            base = np.exp(np.clip(np.log1p(np.maximum(self.power * warped, -1 + 1e-15)) / self.power, -700, 700))
            base = np.where(self.power * warped <= -1, 0.0, base)
        return np.clip(base - self.shift, self.low, self.high)

    def errors(self, values: Float[np.ndarray, "*n"], errors: Float[np.ndarray, "*n"]) -> Float[np.ndarray, "*n"]:
        """``g′(v) e``: the sds of g(v) if the values v have errors with the sds e, by the delta method."""
        if self.kind == "logit":
            span = self.high - self.low
            inside = np.clip((values - self.low) / span, _EDGE, 1 - _EDGE)
            return errors / (span * inside * (1 - inside))
        return errors * np.maximum(values + self.shift, 1e-300) ** (self.power - 1)

    def is_defined(self, values: Float[np.ndarray, " n"]) -> bool:
        """Whether all of the values (n,) lie in the domain of g."""
        low, high = float(values.min()), float(values.max())
        return low >= self.low and high <= self.high and (self.kind != "box-cox" or low + self.shift > 0)

    def check(self, values: Float[np.ndarray, " n"], name: str = "The cells") -> None:
        """``InputError`` if values (n,) lie outside the domain of g; ``name`` begins its sentence."""
        if not self.is_defined(values):
            raise InputError(
                f"{name} range from {number(values.min(), 4)} to {number(values.max(), 4)}, where {self.formula} is "
                "not defined: learn the warp again from these values, or choose none."
            )

    @property
    def formula(self) -> str:
        """g in words."""
        if self.kind == "logit":
            return f"the logit between {number(self.low, 6)} and {number(self.high, 6)}"
        shifted = f"v + {number(self.shift)}" if self.shift else "v"
        if self.power == 0:
            return f"log({shifted})"
        return f"the Box-Cox warp of {shifted}, λ = {self.power:.2f}"

    @property
    def scale(self) -> str:
        """The scale on which values are modelled, in words."""
        if self.kind == "logit":
            return f"a logit scale between {number(self.low, 6)} and {number(self.high, 6)}"
        return "a log scale" if self.power == 0 else f"a power scale (Box-Cox, λ = {self.power:.2f})"

    @property
    def sentence(self) -> str:
        """What the model sees of the target, in words."""
        return f"Values are modelled on {self.scale}: the model sees {self.formula} of them."

    def to_dict(self) -> dict[str, Any]:
        """Plain data; an infinite bound is None."""
        return {k: None if isinstance(v, float) and math.isinf(v) else v for k, v in asdict(self).items()}

    @staticmethod
    def from_dict(value: Mapping[str, Any]) -> "Warp":
        """From plain data; raises ``InputError`` if it is no warp."""
        try:
            high = math.inf if value.get("high") is None else float(value["high"])
            low = -math.inf if value.get("low", 0.0) is None else float(value.get("low", 0.0))
            power, shift = (float(value.get(name, 0.0)) for name in ("power", "shift"))
            warp: Warp | None = Warp(str(value["kind"]), power, shift, low, high)
        except (KeyError, TypeError, ValueError):
            warp = None
        if warp is None or warp.kind not in ("box-cox", "logit") or not 0 <= warp.power <= 1 or warp.low >= warp.high:
            raise InputError(
                f"The warp {dict(value)!r} is not known: give kind 'box-cox' with a power from 0 to 1, or 'logit' with "
                "low and high."
            )
        return warp


def bounds_of(values: np.ndarray, limits: tuple[float, float] | None) -> tuple[float, float] | None:
    """Finite bounds for a logit: the target's physical ``limits``, or the narrowest of ``_BOUNDS`` with all values."""
    if limits is not None and np.isfinite(limits).all():
        return limits
    inside = (each for each in _BOUNDS if each[0] <= values.min() and values.max() <= each[1])
    return None if limits is not None else next(inside, None)


def fit_warp(kind: str, values: np.ndarray, limits: tuple[float, float] | None) -> Warp:
    """The warp of a ``kind`` ("log", "box-cox" or "logit") for visible values (n,) with physical ``limits``.

    λ maximises the likelihood of the values. A positive target never becomes negative. Raises ``InputError`` if the
    values do not allow the warp.
    """
    if kind == "logit":
        bounds = bounds_of(values, limits)
        if bounds is None:
            raise InputError(
                f"A logit needs a target between two bounds, but the cells range from {number(values.min(), 4)} to "
                f"{number(values.max(), 4)} without known bounds: choose log, box-cox or none."
            )
        return Warp("logit", low=bounds[0], high=bounds[1])
    if values.min() < 0 or values.max() <= 0:
        raise InputError(
            f"A {kind} warp needs values that are not negative, but the smallest coarse value is "
            f"{number(values.min(), 4)}: choose none, or logit for a target between two bounds."
        )
    high = math.inf if limits is None else limits[1]
    shift = _SHIFT * float(np.median(values)) if values.min() < _SHIFT * np.median(values) else 0.0
    shift = shift or (1e-3 * float(values.max()) if values.min() <= 0 else 0.0)
    power = 0.0 if kind == "log" else _power(values + shift)
    return Warp("box-cox", power, shift, 0.0, high)


def _power(values: Float[np.ndarray, " n"]) -> float:
    """``argmax_λ (λ − 1) Σ log v − n/2 log var g_λ(v)`` over 0 ≤ λ ≤ 1."""
    powers, logs = np.linspace(0.0, 1.0, 101), np.log(values)
    spreads = [np.log(np.var(logs if p == 0 else (values**p - 1) / p)) for p in powers]
    best = float(powers[np.argmax((powers - 1) * logs.sum() - 0.5 * len(values) * np.array(spreads))])
    return best if best >= _LEAST_POWER else 0.0
