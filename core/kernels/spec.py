"""A kernel as data: a sum of products over named columns, from which a gpytorch kernel is built."""

import math
from dataclasses import dataclass, replace
from typing import Any

import gpytorch
import torch
from gpytorch.constraints import Positive

from core.errors import InputError

FAMILIES = ("rbf", "matern12", "matern32", "matern52", "rational_quadratic", "periodic", "linear")
_SMOOTHNESS = {"matern12": 0.5, "matern32": 1.5, "matern52": 2.5}


@dataclass(frozen=True)
class Factor:
    """One kernel on some columns.

    ``lengthscales`` holds one number a column (automatic relevance determination) or a single one
    for all; a ``linear`` factor ``x·x′/s²`` uses its single lengthscale as ``s``. ``alpha`` is the
    rational quadratic's exponent, ``period`` the periodic kernel's.
    """

    family: str
    columns: tuple[str, ...]
    lengthscales: tuple[float, ...]
    alpha: float = 1.0
    period: float = 1.0

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise InputError(f"The kernel family '{self.family}' is unknown: choose one of {', '.join(FAMILIES)}.")
        if not self.columns:
            raise InputError(f"A {self.family} kernel has no columns: name at least one.")
        allowed = {1} if self.family == "linear" else {1, len(self.columns)}
        if len(self.lengthscales) not in allowed:
            raise InputError(
                f"A {self.family} kernel on {len(self.columns)} columns got {len(self.lengthscales)} lengthscales: "
                "give one, or one per column."
            )
        for value in (*self.lengthscales, self.alpha, self.period):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"A {self.family} kernel got the parameter {value}: give a positive number.")

    @property
    def lengthscale_of(self) -> dict[str, float]:
        """The lengthscale of every column."""
        shared = len(self.lengthscales) == 1
        return dict(zip(self.columns, self.lengthscales * (len(self.columns) if shared else 1), strict=True))


@dataclass(frozen=True)
class Term:
    """A product of factors times ``scale``, the variance it adds."""

    factors: tuple[Factor, ...]
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.factors:
            raise InputError("A kernel term has no factors: give at least one.")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"A kernel term got the scale {self.scale}: give a positive number.")


@dataclass(frozen=True)
class KernelSpec:
    """``k(x, x′) = Σ_t scale_t Π_f k_f(x, x′)`` over named columns."""

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise InputError("A kernel has no terms: give at least one.")

    @property
    def variance(self) -> float:
        """Sum of the terms' scales: the prior variance where all factors are stationary."""
        return sum(term.scale for term in self.terms)

    def unit(self, index: int) -> "KernelSpec":
        """Term ``index`` alone with scale 1, the part whose bag sums do not depend on amplitude."""
        return KernelSpec((replace(self.terms[index], scale=1.0),))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able description, inverse of ``from_dict``."""
        return {"terms": [_term_to_dict(term) for term in self.terms]}

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "KernelSpec":
        """A specification from its JSON-able description."""
        return KernelSpec(tuple(_term_from_dict(term) for term in value["terms"]))

    def build(self, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
        """The gpytorch kernel on inputs whose columns are named ``columns``, float64, raw parameters in logarithms."""
        return gpytorch.kernels.AdditiveKernel(*(_build_term(term, columns) for term in self.terms)).double()

    def updated(self, kernel: gpytorch.kernels.Kernel) -> "KernelSpec":
        """This specification with the values of a kernel that ``build`` made and learning changed."""
        return KernelSpec(tuple(_read_term(*pair) for pair in zip(self.terms, kernel.kernels, strict=True)))


def _term_to_dict(term: Term) -> dict[str, Any]:
    factors = [
        {**vars(factor), "columns": list(factor.columns), "lengthscales": list(factor.lengthscales)}
        for factor in term.factors
    ]
    return {"scale": term.scale, "factors": factors}


def _term_from_dict(value: dict[str, Any]) -> Term:
    factors = tuple(
        Factor(**{**factor, "columns": tuple(factor["columns"]), "lengthscales": tuple(factor["lengthscales"])})
        for factor in value["factors"]
    )
    return Term(factors, float(value["scale"]))


def _positive() -> Positive:
    return Positive(transform=torch.exp, inv_transform=torch.log)


def _build_factor(factor: Factor, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
    missing = [name for name in factor.columns if name not in columns]
    if missing:
        raise InputError(f"The kernel names the column '{missing[0]}', the data have {', '.join(columns)}: rename it.")
    active = tuple(columns.index(name) for name in factor.columns)
    shared: dict[str, Any] = {"active_dims": active}
    if factor.family == "linear":
        linear = gpytorch.kernels.LinearKernel(variance_constraint=_positive(), **shared).double()
        linear.variance = torch.tensor(factor.lengthscales[0] ** -2, dtype=torch.float64)
        return linear
    shared["lengthscale_constraint"] = _positive()
    if len(factor.lengthscales) > 1:
        shared["ard_num_dims"] = len(factor.lengthscales)
    kernel = _stationary(factor, shared).double()
    kernel.lengthscale = torch.tensor(factor.lengthscales, dtype=torch.float64)
    if factor.family == "rational_quadratic":
        kernel.alpha = torch.tensor(factor.alpha, dtype=torch.float64)
    if factor.family == "periodic":
        kernel.period_length = torch.full_like(kernel.period_length, factor.period)
    return kernel


def _stationary(factor: Factor, shared: dict[str, Any]) -> gpytorch.kernels.Kernel:
    if factor.family in _SMOOTHNESS:
        return gpytorch.kernels.MaternKernel(nu=_SMOOTHNESS[factor.family], **shared)
    if factor.family == "rational_quadratic":
        return gpytorch.kernels.RQKernel(alpha_constraint=_positive(), **shared)
    if factor.family == "periodic":
        return gpytorch.kernels.PeriodicKernel(period_length_constraint=_positive(), **shared)
    return gpytorch.kernels.RBFKernel(**shared)


def _build_term(term: Term, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
    factors = [_build_factor(factor, columns) for factor in term.factors]
    product = gpytorch.kernels.ProductKernel(*factors)
    scaled = gpytorch.kernels.ScaleKernel(product, outputscale_constraint=_positive()).double()
    scaled.outputscale = torch.tensor(term.scale, dtype=torch.float64)
    return scaled


def _read_factor(factor: Factor, kernel: gpytorch.kernels.Kernel) -> Factor:
    if factor.family == "linear":
        return replace(factor, lengthscales=(float(kernel.variance.detach()) ** -0.5,))
    changes: dict[str, Any] = {"lengthscales": tuple(kernel.lengthscale.detach().flatten().tolist())}
    if factor.family == "rational_quadratic":
        changes["alpha"] = float(kernel.alpha.detach())
    if factor.family == "periodic":
        changes["period"] = float(kernel.period_length.detach().flatten()[0])
    return replace(factor, **changes)


def _read_term(term: Term, kernel: gpytorch.kernels.Kernel) -> Term:
    parts = zip(term.factors, kernel.base_kernel.kernels, strict=True)
    return Term(tuple(_read_factor(factor, part) for factor, part in parts), float(kernel.outputscale.detach()))
