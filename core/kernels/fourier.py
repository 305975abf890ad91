"""Random Fourier features of a kernel, and prior draws made of them: one function for all tiles."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from scipy.special import gammaincinv, ive
from torch import Tensor

from core.kernels.spec import Factor, KernelSpec

#: Fourier features of one term of one draw.
FEATURES = 1024
_DEGREES = {"matern12": 1.0, "matern32": 3.0, "matern52": 5.0}


@dataclass(frozen=True)
class FourierFeatures:
    """``φ(x)`` with ``E[φ(x)ᵀφ(x′)] = k(x, x′)``: ``√(2s/F) g(x) cos(ω_i·x + b_i)`` for each term of the kernel, ``g``
    linear where a factor is."""

    frequencies: tuple[Tensor, ...]
    phases: tuple[Tensor, ...]
    scales: tuple[float, ...]
    slopes: tuple[tuple[Tensor, ...], ...]

    def terms(self, inputs: Float[Tensor, "P d"]) -> Iterator[Float[Tensor, "P F"]]:
        """The features of one term after the other."""
        for omega, phase, scale, slopes in zip(self.frequencies, self.phases, self.scales, self.slopes, strict=True):
            features = torch.cos(inputs @ omega.T + phase)
            for slope in slopes:
                features = features * (inputs @ slope.T)
            yield scale * features

    def __call__(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P p"]:
        """All features side by side."""
        return torch.cat(list(self.terms(inputs)), dim=1)


@dataclass(frozen=True)
class PriorDraw:
    """One draw ``f(x) = Σ_terms Σ_i a_i φ_i(x)`` with standard normal ``a``."""

    features: FourierFeatures
    amplitudes: tuple[Tensor, ...]

    def __call__(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """The draw's values."""
        total = inputs.new_zeros(len(inputs))
        for features, amplitude in zip(self.features.terms(inputs), self.amplitudes, strict=True):
            total = total + features @ amplitude
        return total


def draw_prior(
    spec: KernelSpec, columns: tuple[str, ...], generator: torch.Generator, device: torch.device
) -> PriorDraw:
    """One function whose covariance, over frequencies, phases and amplitudes, is ``k`` exactly.

    ``E[a² g g′ cos(ω·x+b) cos(ω·x′+b)] = (s/F) k(x, x′)`` summed over ``F = 1024`` features a term.
    """
    features = draw_features(spec, columns, generator, device)
    return PriorDraw(features, tuple(_normal((FEATURES,), generator).to(device) for _ in spec.terms))


def draw_features(
    spec: KernelSpec,
    columns: tuple[str, ...],
    generator: torch.Generator,
    device: torch.device | str = "cpu",
    count: int = FEATURES,
) -> FourierFeatures:
    """``count`` random Fourier features a term; a linear factor multiplies each by ``v·x`` with ``E[vvᵀ] = I/s²``.

    Source: Rahimi and Recht 2007.
    """
    frequencies, phases, slopes = [], [], []
    for term in spec.terms:
        omega = torch.zeros(count, len(columns), dtype=torch.float64)
        tilt = []
        for factor in term.factors:
            index = [columns.index(name) for name in factor.columns]
            if factor.family == "linear":
                slope = torch.zeros_like(omega)
                slope[:, index] = _normal((count, len(index)), generator) / factor.lengthscales[0]
                tilt.append(slope.to(device))
            else:
                omega[:, index] += _frequencies(factor, (count, len(index)), generator)
        frequencies.append(omega.to(device))
        phases.append((2 * math.pi * _uniform(count, generator)).to(device))
        slopes.append(tuple(tilt))
    scales = tuple(math.sqrt(2 * term.scale / count) for term in spec.terms)
    return FourierFeatures(tuple(frequencies), tuple(phases), scales, tuple(slopes))


def _frequencies(factor: Factor, shape: tuple[int, int], generator: torch.Generator) -> Tensor:
    """Draws from the factor's spectral measure (features × columns), or its Fourier series."""
    if factor.family == "periodic":
        return torch.stack([_harmonics(factor, i, shape[0], generator) for i in range(shape[1])], dim=1)
    scales = torch.tensor(factor.lengthscales, dtype=torch.float64)
    normal = _normal(shape, generator) / scales
    if factor.family == "rbf":
        return normal
    if factor.family == "rational_quadratic":
        # (1 + r²/2αℓ²)^−α = E[exp(−τ r²/2ℓ²)] with τ ~ Gamma(α, rate α)
        return normal * _gamma(factor.alpha, shape[0], generator).div(factor.alpha).sqrt()[:, None]
    degrees = _DEGREES[factor.family]
    chi_square = 2 * _gamma(degrees / 2, shape[0], generator)
    return normal * (degrees / chi_square).sqrt()[:, None]


def _harmonics(factor: Factor, index: int, count: int, generator: torch.Generator) -> Tensor:
    """``exp(−2 sin²(πd/p)/ℓ) = Σ_n e^{−1/ℓ} I_n(1/ℓ) cos(2πnd/p)``: draw the harmonic ``n``."""
    scale = factor.lengthscales[min(index, len(factor.lengthscales) - 1)]
    orders = torch.arange(0, 200, dtype=torch.float64)
    weights = torch.as_tensor(ive(orders.numpy(), 1 / scale))
    weights[1:] *= 2
    drawn = torch.multinomial(weights, count, replacement=True, generator=generator)
    sign = torch.where(_uniform(count, generator) < 0.5, -1.0, 1.0)  # ω and −ω alike, column by column
    return 2 * math.pi * sign * orders[drawn] / factor.period


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _uniform(count: int, generator: torch.Generator) -> Tensor:
    return torch.rand(count, generator=generator, dtype=torch.float64)


def _gamma(shape: float, count: int, generator: torch.Generator) -> Tensor:
    """Gamma(shape, 1) draws through the quantile function, so that ``generator`` alone decides them."""
    return torch.as_tensor(gammaincinv(shape, _uniform(count, generator).numpy()))
