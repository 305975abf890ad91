"""The interface of a kernel family: value, parameters, spectrum, and the structure that fast sums rely on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import gpytorch
import torch
from gpytorch.constraints import Positive
from jaxtyping import Float
from linear_operator import to_dense
from torch import Tensor

from deconditioning.errors import InputError

#: Bounds of a lengthscale while it is learned, for standardised columns.
LENGTHSCALE = (2e-2, 5e1)
#: Where the lengthscale of a kernel ends that begins as ``1 − c dᵅ``: so far beyond the data only ``s/ℓᵅ`` counts.
ROUGH_REACH = 1e1


@dataclass(frozen=True)
class ShapeParameter:
    """A parameter of a family other than lengthscales: its bounds during learning, and ``symbol`` and ``help`` for
    display.

    ``attribute`` is its name in gpytorch; it is fixed unless ``learned``. ``spread`` is the width of its log-normal
    prior relative to that of lengthscales and variances.
    """

    name: str
    symbol: str
    default: float
    low: float
    high: float
    help: str = ""
    attribute: str = ""
    learned: bool = True
    spread: float = 1.0

    @property
    def raw(self) -> str:
        """The name of gpytorch's parameter for its logarithm."""
        return f"raw_{self.attribute or self.name}"

    def read(self, kernel: gpytorch.kernels.Kernel) -> Tensor:
        """Its value in a kernel, differentiable in the logarithm."""
        return getattr(kernel, f"{self.raw}_constraint").transform(getattr(kernel, self.raw))

    def write(self, kernel: gpytorch.kernels.Kernel, value: float) -> None:
        """Set its value in a kernel."""
        constraint = getattr(kernel, f"{self.raw}_constraint")
        kernel.initialize(**{self.raw: constraint.inverse_transform(getattr(kernel, self.raw).new_tensor(value))})


@dataclass(frozen=True)
class Trained:
    """One tensor of logarithms that learning changes: its parameter (one entry per column if ``columnwise``) and its
    bounds.

    ``flat_above``: the upper bound does not restrict the kernel; ``spread`` as in `ShapeParameter`.
    """

    label: str
    raw: Tensor
    low: float
    high: float
    columnwise: bool = False
    flat_above: bool = False
    spread: float = 1.0


@dataclass(frozen=True)
class Decay:
    """A kernel ``e^{−u} Σ_q a_q u^q`` with ``u = rate · |x − x′|``, for exact sums along a sorted line."""

    rate: float
    coefficients: tuple[float, ...]


class Parameters(Protocol):
    """The parameters that a family needs from a factor: lengthscales and further parameters by name."""

    @property
    def lengthscales(self) -> tuple[float, ...]:
        """One lengthscale per column, or one for all."""

    @property
    def numbers(self) -> dict[str, float]:
        """The family's further parameters."""


class Family(ABC):
    """A family of kernels. Algorithms check these declarations and run only on what is declared.

    Attributes
    ----------
    name, title : identifier in settings and files, and title for display.
    parameters : parameters other than lengthscales.
    stationary : k is a function of ``x − x′``.
    isotropic : k is a function of the scaled distance alone.
    smooth : k is analytic, so that few points can represent all.
    columnwise : k is the product of kernels of the same family on each column.
    degenerate : k is an inner product of a few features, given by ``features``.
    order : order of the Matérn kernel with equally rough sample paths, ``inf`` if smooth; None if there is none.
    slopes_for_scales : the lengthscales are inverse sds of slopes.
    without_scales : the family has no lengthscales.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    parameters: ClassVar[tuple[ShapeParameter, ...]] = ()
    stationary: ClassVar[bool] = False
    isotropic: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    columnwise: ClassVar[bool] = False
    degenerate: ClassVar[bool] = False
    order: ClassVar[float | None] = None
    slopes_for_scales: ClassVar[bool] = False
    without_scales: ClassVar[bool] = False

    def complete(self, parameters: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        """All further parameters in the family's order, with defaults for those not given.

        Raises ``InputError`` for an unknown parameter.
        """
        for name in parameters.keys() - {each.name for each in self.parameters}:
            known = ", ".join(each.name for each in self.parameters) or "lengthscales only"
            raise InputError(f"A {self.name} kernel has no parameter '{name}': it has {known}.")
        return tuple((each.name, float(parameters.get(each.name, each.default))) for each in self.parameters)

    @abstractmethod
    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """The gpytorch kernel of a factor on the input columns ``active``, float64, with parameters as logarithms."""

    @abstractmethod
    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """Lengthscales and further parameters of a kernel made by ``build`` and changed by learning."""

    @abstractmethod
    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """The learned parameters; fixed ones are marked."""

    @abstractmethod
    def tile(
        self, kernel: gpytorch.kernels.Kernel, left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]
    ) -> Float[Tensor, "n m"]:
        """Kernel matrix between all rows, differentiable in the parameters and in the rows."""

    def features(self, kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n r"]:
        """``φ(x)`` with ``k(x, x′) = φ(x)·φ(x′)`` of a degenerate kernel, differentiable in its parameters."""
        raise NotImplementedError(self.name)

    def frequencies(
        self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator
    ) -> Float[Tensor, "F d"] | None:
        """Draws from the spectral measure (features × columns); None if unknown."""
        return None

    def slopes(
        self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator
    ) -> Float[Tensor, "F d"] | None:
        """Draws v with ``E[(v·x)(v·x′)] = k(x, x′)``; None if the kernel is not a product of linear kernels."""
        return None

    def decay(self, factor: Parameters) -> Decay | None:
        """The kernel on a line as a polynomial times an exponential, if it has that form."""
        return None


class Stationary(Family):
    """A family with lengthscales and further parameters."""

    stationary = True
    reach: ClassVar[float] = LENGTHSCALE[1]

    @abstractmethod
    def kernel(self, **shared: Any) -> gpytorch.kernels.Kernel:
        """The bare gpytorch kernel."""

    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """The gpytorch kernel of a factor on the input columns ``active``."""
        shared: dict[str, Any] = {"active_dims": active, "lengthscale_constraint": positive()}
        if len(factor.lengthscales) > 1:
            shared["ard_num_dims"] = len(factor.lengthscales)
        kernel = self.kernel(**shared).double()
        kernel.lengthscale = torch.tensor(factor.lengthscales, dtype=torch.float64)
        for parameter in self.parameters:
            parameter.write(kernel, factor.numbers[parameter.name])
        kernel.family = self
        return kernel

    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """Lengthscales and further parameters of a kernel."""
        scales = tuple(kernel.lengthscale.detach().flatten().tolist())
        return scales, {each.name: float(each.read(kernel).detach().flatten()[0]) for each in self.parameters}

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """Lengthscales, and the learned further parameters."""
        flat = self.reach < LENGTHSCALE[1]
        result = [Trained("lengthscale", kernel.raw_lengthscale, LENGTHSCALE[0], self.reach, True, flat)]
        for parameter in self.parameters:
            raw = getattr(kernel, parameter.raw)
            if parameter.learned:
                low, high = parameter.low, parameter.high
                result.append(Trained(parameter.name, raw, low, high, spread=parameter.spread))
            else:
                raw.requires_grad_(False)
        return result


def positive() -> Positive:
    """Constraint of every parameter: gpytorch stores its logarithm."""
    return Positive(transform=torch.exp, inv_transform=torch.log)


def scaled(kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n c"]:
    """The kernel's input columns divided by the lengthscales."""
    return inputs[:, kernel.active_dims] / kernel.lengthscale.reshape(1, -1)


def dense(kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
    """gpytorch's kernel matrix by `forward`. Lazy evaluation by a call would drop the kernel's columns for a moment,
    which another thread could see.
    """
    return to_dense(kernel.forward(left[:, kernel.active_dims], right[:, kernel.active_dims]))
