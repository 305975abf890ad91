"""Scaling, fitted once on the data that the model may see and applied everywhere."""

from dataclasses import dataclass

import numpy as np

from deconditioning.errors import InputError
from deconditioning.wording import number


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of one quantity, in its physical units."""

    mean: float
    sd: float

    def forward(self, values: np.ndarray) -> np.ndarray:
        """``(v − mean) / sd``, dimensionless, of values in physical units and of any shape."""
        return (values - self.mean) / self.sd

    def backward(self, values: np.ndarray) -> np.ndarray:
        """``mean + sd v``, in physical units, of standardised values of any shape."""
        return self.mean + self.sd * values


#: Relative spread of values that differ by the rounding of single precision alone.
_ROUNDED = 1e-7


def fit_scale(values: np.ndarray, name: str, role: str) -> Scale:
    """Mean and standard deviation of the visible values (n,); ``InputError`` if they are constant up to rounding."""
    mean, sd = float(np.mean(values)), float(np.std(values))
    if not sd > _ROUNDED * max(abs(mean), 1e-30):
        raise InputError(
            f"The {role} `{name}` is constant ({number(mean, 6)}) where the model sees it: choose another {role}."
        )
    return Scale(mean, sd)


@dataclass(frozen=True)
class Scaling:
    """One scale per column, for a matrix (n, d)."""

    columns: tuple[str, ...]
    scales: tuple[Scale, ...]

    def forward(self, values: np.ndarray) -> np.ndarray:
        """Every column (…, d) scaled by its own scale."""
        means, sds = ([getattr(s, part) for s in self.scales] for part in ("mean", "sd"))
        return (values - np.array(means)) / np.array(sds)


def fit_scaling(values: np.ndarray, columns: tuple[str, ...], role: str) -> Scaling:
    """Standardisation of (n, d) visible values column by column; a constant column is an ``InputError``."""
    return Scaling(columns, tuple(fit_scale(values[:, i], name, role) for i, name in enumerate(columns)))


def fit_coordinate_scaling(values: np.ndarray, columns: tuple[str, ...]) -> Scaling:
    """Centre every coordinate column; divide all by one number, their pooled standard deviation.

    One common divisor keeps distances isotropic. Coordinates are known everywhere, so all rows count.
    """
    sd = float(np.sqrt(np.mean(np.var(values, axis=0)))) if values.size else 1.0
    return Scaling(columns, tuple(Scale(float(m), sd) for m in values.mean(axis=0)))
