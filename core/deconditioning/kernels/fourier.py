"""Random Fourier features of a kernel, and prior draws made from them; one draw is a single function on all tiles."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.kernels.families.draws import normal, uniform
from deconditioning.kernels.spec import KernelSpec

#: Fourier features of one term of one draw.
FEATURES = 1024


@dataclass(frozen=True)
class FourierFeatures:
    """``φ(x)`` with ``E[φ(x)ᵀφ(x′)] = k(x, x′)``: ``√(2s/F) g(x) cos(ω_i·x + b_i)`` for each term of the kernel, with g
    linear if a factor of the term is.
    """

    frequencies: tuple[Tensor, ...]
    phases: tuple[Tensor, ...]
    scales: tuple[float, ...]
    slopes: tuple[tuple[Tensor, ...], ...]

    def terms(self, inputs: Float[Tensor, "P d"]) -> Iterator[Float[Tensor, "P F"]]:
        """The features of each term in turn."""
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
    """One function whose covariance over frequencies, phases and amplitudes is exactly ``k``.

    ``E[a² g g′ cos(ω·x+b) cos(ω·x′+b)] = (s/F) k(x, x′)``, summed over ``F = 1024`` features per term.
    """
    features = draw_features(spec, columns, generator, device, FEATURES)
    return PriorDraw(features, tuple(normal((FEATURES,), generator).to(device) for _ in spec.terms))


def draw_features(
    spec: KernelSpec,
    columns: tuple[str, ...],
    generator: torch.Generator,
    device: torch.device | str = "cpu",
    count: int = FEATURES,
) -> FourierFeatures:
    """``count`` random Fourier features per term; a linear factor multiplies each by ``v·x`` with ``E[vvᵀ] = I/s²``.

    Source: Rahimi and Recht 2007.
    """
    frequencies, phases, slopes = [], [], []
    for term in spec.terms:
        omega = torch.zeros(count, len(columns), dtype=torch.float64)
        tilt = []
        for factor in term.factors:
            index = [columns.index(name) for name in factor.columns]
            shape = count, len(index)
            if (drawn := factor.kind.frequencies(factor, shape, generator)) is not None:
                omega[:, index] += drawn
            elif (drawn := factor.kind.slopes(factor, shape, generator)) is not None:
                slope = torch.zeros_like(omega)
                slope[:, index] = drawn
                tilt.append(slope.to(device))
            else:
                raise InputError(f"Functions of a {factor.kind.title} kernel cannot be drawn: choose another family.")
        frequencies.append(omega.to(device))
        phases.append((2 * math.pi * uniform(count, generator)).to(device))
        slopes.append(tuple(tilt))
    scales = tuple(math.sqrt(2 * term.scale / count) for term in spec.terms)
    return FourierFeatures(tuple(frequencies), tuple(phases), scales, tuple(slopes))
