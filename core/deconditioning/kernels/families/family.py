"""What a kernel family says of itself: its value, its parameters, its spectrum, and which sums may serve it."""

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
class Own:
    """A parameter of a family besides lengthscales: its bounds while learned, ``symbol`` and ``help`` for a reader.

    ``attribute`` is gpytorch's name for it; one that is not ``learned`` stays as given. ``spread`` is the width of its
    log-normal prior, where there are any, relative to those of lengthscales and variances.
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
        """The name of the logarithm that gpytorch holds."""
        return f"raw_{self.attribute or self.name}"

    def read(self, kernel: gpytorch.kernels.Kernel) -> Tensor:
        """Its value in a kernel, differentiable in the logarithm."""
        return getattr(kernel, f"{self.raw}_constraint").transform(getattr(kernel, self.raw))

    def write(self, kernel: gpytorch.kernels.Kernel, value: float) -> None:
        """Set it in a kernel."""
        constraint = getattr(kernel, f"{self.raw}_constraint")
        kernel.initialize(**{self.raw: constraint.inverse_transform(getattr(kernel, self.raw).new_tensor(value))})


@dataclass(frozen=True)
class Trained:
    """One tensor of logarithms that learning moves: what it is of (each column, where ``columnwise``), and its bounds.

    ``flat_above`` says that the upper bound limits nothing; ``spread`` as in `Own`.
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
    """A kernel ``e^{−u} Σ_q a_q u^q`` of ``u = rate · |x − x′|``, with which sums along a sorted line are exact."""

    rate: float
    coefficients: tuple[float, ...]


class Parameters(Protocol):
    """What a family needs of a factor: its lengthscales, and the family's own parameters by name."""

    @property
    def lengthscales(self) -> tuple[float, ...]:
        """One for each column, or one for all."""

    @property
    def numbers(self) -> dict[str, float]:
        """The family's own parameters."""


class Family(ABC):
    """One family of kernels. Routes ask what it declares, and serve nothing that it does not.

    Attributes
    ----------
    name, title : in settings and files, and for a reader.
    own : parameters besides lengthscales.
    stationary : a function of ``x − x′``.  isotropic : of the scaled distance alone.
    smooth : analytic, so that few points can stand for all.
    degenerate : a product of few features, which ``features`` gives.
    order : of the Matérn kernel whose sample paths are as rough, ``inf`` where smooth; None where there is none.
    slopes_for_scales : its lengthscales are the inverse sds of slopes.
    without_scales : it has no lengthscales.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    own: ClassVar[tuple[Own, ...]] = ()
    stationary: ClassVar[bool] = False
    isotropic: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    degenerate: ClassVar[bool] = False
    order: ClassVar[float | None] = None
    slopes_for_scales: ClassVar[bool] = False
    without_scales: ClassVar[bool] = False

    def complete(self, own: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
        """All own parameters in the family's order, its defaults where nothing is said.

        Raises ``InputError`` for one that the family does not have.
        """
        for name in own.keys() - {each.name for each in self.own}:
            known = ", ".join(each.name for each in self.own) or "lengthscales only"
            raise InputError(f"A {self.name} kernel has no parameter '{name}': it has {known}.")
        return tuple((each.name, float(own.get(each.name, each.default))) for each in self.own)

    @abstractmethod
    def build(self, factor: Parameters, active: tuple[int, ...]) -> gpytorch.kernels.Kernel:
        """The gpytorch kernel of a factor on the input columns ``active``, float64, raw parameters in logarithms."""

    @abstractmethod
    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """Lengthscales and own parameters of a kernel that ``build`` made and learning changed."""

    @abstractmethod
    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """What learning moves; what it does not is marked so."""

    @abstractmethod
    def tile(
        self, kernel: gpytorch.kernels.Kernel, left: Float[Tensor, "n d"], right: Float[Tensor, "m d"]
    ) -> Float[Tensor, "n m"]:
        """Values between all rows, differentiable in the kernel's parameters and in the rows."""

    def features(self, kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n r"]:
        """``φ(x)`` with ``k(x, x′) = φ(x)·φ(x′)`` of a degenerate kernel, differentiable in its parameters."""
        raise NotImplementedError(self.name)

    def frequencies(
        self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator
    ) -> Float[Tensor, "F d"] | None:
        """Draws from the spectral measure (features × columns); None where there is none."""
        return None

    def slopes(
        self, factor: Parameters, shape: tuple[int, int], generator: torch.Generator
    ) -> Float[Tensor, "F d"] | None:
        """Draws v with ``E[(v·x)(v·x′)] = k(x, x′)``; None where the kernel is no product of straight lines."""
        return None

    def decay(self, factor: Parameters) -> Decay | None:
        """The kernel on a line as a polynomial times an exponential, where it is one."""
        return None


class Stationary(Family):
    """A family of lengthscales and its own parameters."""

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
        for own in self.own:
            own.write(kernel, factor.numbers[own.name])
        kernel.family = self
        return kernel

    def read(self, kernel: gpytorch.kernels.Kernel) -> tuple[tuple[float, ...], dict[str, float]]:
        """Lengthscales and own parameters of a kernel."""
        scales = tuple(kernel.lengthscale.detach().flatten().tolist())
        return scales, {own.name: float(own.read(kernel).detach().flatten()[0]) for own in self.own}

    def trained(self, kernel: gpytorch.kernels.Kernel) -> list[Trained]:
        """Lengthscales, and the family's own parameters that are learned."""
        flat = self.reach < LENGTHSCALE[1]
        found = [Trained("lengthscale", kernel.raw_lengthscale, LENGTHSCALE[0], self.reach, True, flat)]
        for own in self.own:
            raw = getattr(kernel, own.raw)
            if own.learned:
                found.append(Trained(own.name, raw, own.low, own.high, spread=own.spread))
            else:
                raw.requires_grad_(False)
        return found


def positive() -> Positive:
    """The constraint of every parameter: its logarithm is what is held."""
    return Positive(transform=torch.exp, inv_transform=torch.log)


def scaled(kernel: gpytorch.kernels.Kernel, inputs: Float[Tensor, "n d"]) -> Float[Tensor, "n c"]:
    """The kernel's columns in lengthscales."""
    return inputs[:, kernel.active_dims] / kernel.lengthscale.reshape(1, -1)


def dense(kernel: gpytorch.kernels.Kernel, left: Tensor, right: Tensor) -> Tensor:
    """gpytorch's values; forward, not a call: evaluated lazily, a kernel loses its columns for a moment, which another
    thread would see."""
    return to_dense(kernel.forward(left[:, kernel.active_dims], right[:, kernel.active_dims]))
