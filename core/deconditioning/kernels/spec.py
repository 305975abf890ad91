"""A kernel as data: a sum of products over named columns, which is built as a gpytorch kernel."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import gpytorch
import torch

from deconditioning.errors import InputError
from deconditioning.kernels.families.family import Family, positive
from deconditioning.kernels.families.registry import family_of

#: Parameters that every factor once had in files, whatever its family.
_FORMERLY = {"alpha", "period"}
_SAID = {"family", "columns", "lengthscales"}


@dataclass(frozen=True)
class Factor:
    """One kernel on some columns.

    ``lengthscales`` contains one number per column (automatic relevance determination) or a single one for all;
    ``parameters`` the family's further parameters by name, in the family's order and with its defaults where not given.
    """

    family: str
    columns: tuple[str, ...]
    lengthscales: tuple[float, ...]
    parameters: Mapping[str, float] | tuple[tuple[str, float], ...] = ()

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError(f"A {self.family} kernel has no columns: name at least one.")
        object.__setattr__(self, "parameters", self.kind.complete(dict(self.parameters)))
        allowed = {0} if self.kind.without_scales else {1, len(self.columns)}
        if len(self.lengthscales) not in allowed:
            remedy = "it has none" if self.kind.without_scales else "give one, or one per column"
            raise InputError(
                f"A {self.family} kernel on {len(self.columns)} columns got {len(self.lengthscales)} lengthscales: "
                f"{remedy}."
            )
        for value in (*self.lengthscales, *self.numbers.values()):
            if not (math.isfinite(value) and value > 0):
                raise InputError(f"A {self.family} kernel got the parameter {value}: give a positive number.")

    @property
    def kind(self) -> Family:
        """The family object."""
        return family_of(self.family)

    @property
    def numbers(self) -> dict[str, float]:
        """The family's further parameters."""
        return dict(self.parameters)

    @property
    def lengthscale_of(self) -> dict[str, float]:
        """The lengthscale of every column; empty if there are none."""
        if not self.lengthscales:
            return {}
        shared = len(self.lengthscales) == 1
        return dict(zip(self.columns, self.lengthscales * (len(self.columns) if shared else 1), strict=True))


@dataclass(frozen=True)
class Term:
    """A product of factors times ``scale``, the variance that the term contributes.

    The scale of a term with a linear factor is one: the sds of the slopes take its place.
    """

    factors: tuple[Factor, ...]
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not self.factors:
            raise InputError("A kernel term has no factors: give at least one.")
        if not (math.isfinite(self.scale) and self.scale > 0):
            raise InputError(f"A kernel term got the scale {self.scale}: give a positive number.")
        sloped = next((f for f in self.factors if f.kind.slopes_for_scales), None)
        if sloped is not None and self.scale != 1:
            steeper = replace(sloped, lengthscales=tuple(v / math.sqrt(self.scale) for v in sloped.lengthscales))
            object.__setattr__(self, "factors", tuple(steeper if f is sloped else f for f in self.factors))
            object.__setattr__(self, "scale", 1.0)

    @property
    def variance(self) -> float:
        """Prior variance if all factors are stationary; for linear factors, the variance at one sd in every column."""
        slopes = (sum(v**-2 for v in f.lengthscale_of.values()) for f in self.factors if f.kind.slopes_for_scales)
        return self.scale * math.prod(slopes)

    @property
    def keeps_scale(self) -> bool:
        """Whether learning leaves the scale unchanged, because sds of slopes express it or the data do not determine
        it.
        """
        kinds = [factor.kind for factor in self.factors]
        return any(kind.slopes_for_scales for kind in kinds) or all(kind.without_scales for kind in kinds)


@dataclass(frozen=True)
class KernelSpec:
    """``k(x, x′) = Σ_t scale_t Π_f k_f(x, x′)`` over named columns."""

    terms: tuple[Term, ...]

    def __post_init__(self) -> None:
        if not self.terms:
            raise InputError("A kernel has no terms: give at least one.")

    @property
    def variance(self) -> float:
        """Sum of the variances of the terms."""
        return sum(term.variance for term in self.terms)

    def unit(self, index: int) -> "KernelSpec":
        """Term ``index`` alone with scale 1; its bag sums do not depend on the amplitude."""
        return KernelSpec((replace(self.terms[index], scale=1.0),))

    def to_dict(self) -> dict[str, Any]:
        """A JSON-able description, the inverse of ``from_dict``."""
        return {"terms": [_term_to_dict(term) for term in self.terms]}

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "KernelSpec":
        """The specification that ``to_dict`` describes; ``InputError`` for an unknown family or parameter."""
        return KernelSpec(tuple(_term_from_dict(term) for term in value["terms"]))

    def build(self, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
        """The gpytorch kernel on inputs with these ``columns``, in float64, with parameters as logarithms."""
        return gpytorch.kernels.AdditiveKernel(*(_build_term(term, columns) for term in self.terms)).double()

    def updated(self, kernel: gpytorch.kernels.Kernel) -> "KernelSpec":
        """This specification with the parameters of a kernel that was made by ``build`` and changed by learning."""
        return KernelSpec(tuple(_read_term(*pair) for pair in zip(self.terms, kernel.kernels, strict=True)))


def gaussian(columns: tuple[str, ...], lengthscales: tuple[float, ...], variance: float = 1.0) -> KernelSpec:
    """A Gaussian kernel ``v exp(−½ Σ_j (x_j − x′_j)²/ℓ_j²)``: one lengthscale per column, or one for all."""
    return KernelSpec((Term((Factor("rbf", columns, lengthscales),), variance),))


def _term_to_dict(term: Term) -> dict[str, Any]:
    return {"scale": term.scale, "factors": [_factor_to_dict(factor) for factor in term.factors]}


def _factor_to_dict(factor: Factor) -> dict[str, Any]:
    lists = {"columns": list(factor.columns), "lengthscales": list(factor.lengthscales)}
    return {"family": factor.family, **lists, **factor.numbers}


def _term_from_dict(value: dict[str, Any]) -> Term:
    return Term(tuple(_factor_from_dict(factor) for factor in value["factors"]), float(value["scale"]))


def _factor_from_dict(value: dict[str, Any]) -> Factor:
    kind = family_of(value["family"])
    known = {each.name for each in kind.parameters}
    parameters = {name: number for name, number in value.items() if name in known or name not in _SAID | _FORMERLY}
    return Factor(kind.name, tuple(value["columns"]), tuple(value["lengthscales"]), parameters)


def _build_factor(factor: Factor, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
    missing = [name for name in factor.columns if name not in columns]
    if missing:
        raise InputError(
            f"The kernel uses the column '{missing[0]}', but the data have {', '.join(columns)}: rename it."
        )
    return factor.kind.build(factor, tuple(columns.index(name) for name in factor.columns))


class _Scaled(gpytorch.kernels.ScaleKernel):
    """``v k(x, x′)``. No kernel here has batches, and gpytorch would import sympy to find their shape."""

    @property
    def batch_shape(self) -> torch.Size:
        """The shape without batches, ()."""
        return self._batch_shape

    @batch_shape.setter
    def batch_shape(self, shape: torch.Size) -> None:
        self._batch_shape = shape


def _build_term(term: Term, columns: tuple[str, ...]) -> gpytorch.kernels.Kernel:
    factors = [_build_factor(factor, columns) for factor in term.factors]
    product = gpytorch.kernels.ProductKernel(*factors)
    scaled = _Scaled(product, outputscale_constraint=positive()).double()
    scaled.outputscale = torch.tensor(term.scale, dtype=torch.float64)
    return scaled


def _read_term(term: Term, kernel: gpytorch.kernels.Kernel) -> Term:
    parts = zip(term.factors, kernel.base_kernel.kernels, strict=True)
    scale = term.scale if term.keeps_scale else float(kernel.outputscale.detach())
    read = ((factor, *factor.kind.read(part)) for factor, part in parts)
    return Term(
        tuple(replace(factor, lengthscales=scales, parameters=parameters) for factor, scales, parameters in read), scale
    )
