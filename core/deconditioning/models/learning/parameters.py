"""Hyperparameters as a flat list of logarithms (and some plain numbers) with names and bounds, for any optimiser."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import gpytorch
import numpy as np
import torch
from torch import Tensor

from deconditioning.kernels.spec import Factor, KernelSpec
from deconditioning.wording import number

#: Bounds of variances for standardised columns and targets; those of a family's parameters are its own.
_SCALE = (1e-3, 1e3)
NOISE = (1e-6, 1e1)


@dataclass(frozen=True)
class Parameter:
    """One tensor of logarithms with a name per entry and common bounds; ``logarithm`` is False for plain numbers.

    ``flat_above``: the upper bound does not restrict the model, because beyond it only the scale would change, or it is
    meant to.
    ``spread`` is the width of a log-normal prior relative to others.
    """

    names: tuple[str, ...]
    raw: Tensor
    low: float
    high: float
    logarithm: bool = True
    flat_above: bool = False
    spread: float = 1.0


def log_parameter(name: str, value: float, bounds: tuple[float, float], device: torch.device) -> Parameter:
    """A single positive number as a trainable logarithm."""
    value = min(max(value, bounds[0]), bounds[1])
    raw = torch.tensor(math.log(value), dtype=torch.float64, device=device, requires_grad=True)
    return Parameter((name,), raw, math.log(bounds[0]), math.log(bounds[1]))


def plain_parameter(name: str, raw: Tensor, reach: float) -> Parameter:
    """Plain numbers (inducing points), each between ``±reach``."""
    return Parameter(tuple(f"{name} {i + 1}" for i in range(raw.numel())), raw, -reach, reach, logarithm=False)


def _factor_parameters(
    prefix: str, factor: Factor, kernel: gpytorch.kernels.Kernel, smoothest: float
) -> list[Parameter]:  # fmt: skip
    result = []
    for part in factor.kind.trained(kernel):
        columnwise = part.columnwise and len(factor.lengthscales) > 1
        names = factor.columns if columnwise else ("+".join(factor.columns),)
        labels = tuple(f"{prefix} {part.label} [{name}]" for name in names)
        held = factor.family == "powered_exponential" and part.label == "alpha" and smoothest < part.high
        low, high = math.log(part.low), math.log(smoothest if held else part.high)
        flat = held or part.flat_above
        result.append(Parameter(labels, part.raw, low, high, flat_above=flat, spread=part.spread))
    return result


def kernel_parameters(
    prefix: str, spec: KernelSpec, kernel: gpytorch.kernels.Kernel, *, fix_first_scale: bool = False,
    smoothest: float = math.inf,
) -> list[Parameter]:  # fmt: skip
    """The trainable logarithms of a kernel; periods and scales that a term keeps are fixed.

    ``fix_first_scale`` fixes the first term's scale, if only the ratio of ℓ's amplitude to λ matters; ``smoothest`` is
    the largest exponent α of a powered exponential.
    """
    result: list[Parameter] = []
    for index, (term, part) in enumerate(zip(spec.terms, kernel.kernels, strict=True)):
        label = f"{prefix}{index + 1}"
        if (index == 0 and fix_first_scale) or term.keeps_scale:
            part.raw_outputscale.requires_grad_(False)
        else:
            low, high = (math.log(v) for v in _SCALE)
            result.append(Parameter((f"{label} variance",), part.raw_outputscale, low, high))
        for factor, kernel_factor in zip(term.factors, part.base_kernel.kernels, strict=True):
            result.extend(_factor_parameters(label, factor, kernel_factor, smoothest))
    return result


@dataclass(frozen=True)
class ParameterVector:
    """A list of parameters read and written as one vector of logarithms."""

    parameters: tuple[Parameter, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """One name per entry of the vector."""
        return tuple(name for parameter in self.parameters for name in parameter.names)

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """Lower and upper bound of each entry."""
        return [(p.low, p.high) for p in self.parameters for _ in p.names]

    def get(self) -> np.ndarray:
        """The current logarithms."""
        return np.concatenate([p.raw.detach().cpu().numpy().ravel() for p in self.parameters])

    def set(self, vector: np.ndarray) -> None:
        """Write logarithms, clipped to their bounds."""
        begin = 0
        with torch.no_grad():
            for p in self.parameters:
                count = p.raw.numel()
                values = np.clip(vector[begin : begin + count], p.low, p.high)
                p.raw.copy_(torch.as_tensor(values, dtype=p.raw.dtype).reshape(p.raw.shape))
                begin += count

    def write(self, values: dict[str, float]) -> None:
        """Write hyperparameters by their names; the others stay, unknown names are ignored."""
        entries = zip(self.names, self.get().tolist(), self.logarithms, strict=True)
        self.set(np.array([math.log(values[name]) if log and name in values else now for name, now, log in entries]))

    def gradient(self) -> np.ndarray:
        """The gradient left by a backward pass, zeros where there is none."""
        parts = [torch.zeros_like(p.raw) if p.raw.grad is None else p.raw.grad for p in self.parameters]
        return np.concatenate([part.detach().cpu().numpy().ravel() for part in parts])

    def clear_gradient(self) -> None:
        """Forget the gradient."""
        for p in self.parameters:
            p.raw.grad = None

    @property
    def logarithms(self) -> np.ndarray:
        """Which entries are logarithms: the hyperparameters proper, which a trace shows and a restart perturbs."""
        return np.array([p.logarithm for p in self.parameters for _ in p.names], dtype=bool)

    def values(self) -> dict[str, float]:
        """The hyperparameters themselves, by name; inducing points are left out."""
        pairs = zip(self.names, self.get().tolist(), self.logarithms, strict=True)
        return {name: math.exp(value) for name, value, logarithm in pairs if logarithm}

    def at_bounds(self, tolerance: float = 1e-3) -> tuple[str, ...]:
        """Names of the hyperparameters that ended at a bound which restricts them."""
        hits = []
        for p in (p for p in self.parameters if p.logarithm):
            for name, value in zip(p.names, p.raw.detach().cpu().ravel().tolist(), strict=True):
                if value <= p.low + tolerance:
                    hits.append(f"{name} at its lower bound {number(math.exp(p.low))}")
                if value >= p.high - tolerance and not p.flat_above:
                    hits.append(f"{name} at its upper bound {number(math.exp(p.high))}")
        return tuple(hits)


def log_prior(parameters: Sequence[Parameter], starts: Sequence[Tensor], width: float) -> Tensor:
    """``−½ Σ ((log θ − log θ₀)/w)²`` over what k and ℓ are made of, w the ``width`` times their ``spread``."""
    pairs = zip(parameters, starts, strict=True)
    kernels = [(p, start) for p, start in pairs if p.logarithm and p.names[0].startswith(("k", "ℓ"))]
    nothing = starts[0].new_zeros(())
    return -0.5 * sum((((p.raw - s) / (width * p.spread)).square().sum() for p, s in kernels), nothing)


def with_values(spec: KernelSpec, prefix: str, columns: tuple[str, ...], values: dict[str, float]) -> KernelSpec:
    """``spec`` with hyperparameters given by the names that learning reports; unknown names are ignored."""
    kernel = spec.build(columns)
    ParameterVector(tuple(kernel_parameters(prefix, spec, kernel))).write(values)
    return spec.updated(kernel)
