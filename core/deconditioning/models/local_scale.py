"""Local scale: a factor κ on the posterior sd, estimated from left-out targets, where errors are larger or smaller than
the sd.

Standardised residuals of targets predicted from the others would be standard normal if the model were right everywhere.
They are modelled as ``r_j ~ N(0, κ_j²)`` with

    log κ² ~ GP(0, 1 + b² φφ′ + a² exp(−d/ℓ)),

φ the standardised log roughness of the covariates in a cell, d the distance in cell widths; a and ℓ are chosen by their
evidence from a few values, all by Laplace's approximation. The posterior mean does not change; its sd becomes ``κ(x)
√var f(x)``.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.leave_one_out import leave_one_out

#: Targets beyond which κ is 1 everywhere: its matrices would take longer than the posterior.
MOST = 2000
#: The candidates for a and ℓ (cell widths), and b.
CANDIDATES = ((0.0, 1.0), (0.6, 3.0), (0.6, 8.0), (1.2, 3.0), (1.2, 8.0))
SLOPE = 0.5
#: Fisher information of log κ² in one residual; the curvature that steps to the mode are taken with, which is larger
#: so that they do not swing, and the most of them.
_INFORMATION, _PACE, _STEPS = 0.5, 1.0, 200
#: Between cells log κ is a mean over the nearest of them, weighted by a Gaussian of this sd (cell widths).
_NEAREST, _BETWEEN = 6, 0.5


@dataclass(frozen=True)
class Places:
    """Cells: their ``position`` (n, p) in cell widths, and ``roughness`` φ (n,), 0 where it is not known."""

    position: Float[Tensor, "n p"]
    roughness: Float[Tensor, " n"]

    def to(self, device: torch.device) -> "Places":
        """The same on another device."""
        return Places(self.position.to(device), self.roughness.to(device))


@dataclass(frozen=True)
class Near:
    """For some points the nearest cells (P, k) and their weights, which sum to one."""

    cell: Int[Tensor, "P k"]
    weight: Float[Tensor, "P k"]


@dataclass(frozen=True)
class LocalScale:
    """``factor`` κ (n,) at every cell of ``places``, with the chosen ``amplitude`` a and ``reach`` ℓ
    (in cell widths).
    """

    places: Places
    factor: Float[Tensor, " n"]
    amplitude: float
    reach: float

    def at(self, near: Near) -> Float[Tensor, " P"]:
        """κ at points between the cells."""
        return (self.factor.log()[near.cell] * near.weight).sum(1).exp()


def near(places: Places, position: Float[Tensor, "P p"]) -> Near:
    """The cells near some points, whose positions are in cell widths too."""
    from scipy.spatial import cKDTree

    count = min(_NEAREST, len(places.position))
    distance, cell = cKDTree(places.position.cpu().numpy()).query(position.cpu().numpy(), k=[*range(1, count + 1)])
    squares = torch.as_tensor(distance).square()
    weight = torch.softmax(-0.5 * squares / _BETWEEN**2, dim=1)
    return Near(torch.as_tensor(cell).to(position.device), weight.to(position.device))


def local_scale(given: Conditioning, own: Places, places: Places) -> LocalScale:
    """κ at ``places`` from the residuals of the targets, whose cells are ``own``, row by row.

    Normalised so that the residuals over κ, with each κ from the other targets, have mean square one.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; leave-one-out modes as in §5.4.2.
    """
    with torch.no_grad():
        left_out = leave_one_out(given)
        residual = left_out.error / left_out.variance.sqrt()
        fits = [(_laplace(residual.square(), own, *candidate), candidate) for candidate in CANDIDATES]
        fit, (amplitude, reach) = max(fits, key=lambda each: each[0].evidence)
        logs = _covariance(places, own, amplitude, reach) @ fit.dual
        level = (residual.square() * torch.exp(-fit.left_out)).mean()
        return LocalScale(places, torch.exp(0.5 * logs) * level.sqrt(), amplitude, reach)


@dataclass(frozen=True)
class _Fit:
    """``dual`` K⁻¹η of the mode η, the ``evidence``, and log κ² of every target from all others (``left_out``)."""

    dual: Float[Tensor, " M"]
    evidence: float
    left_out: Float[Tensor, " M"]


def _covariance(left: Places, right: Places, amplitude: float, reach: float) -> Float[Tensor, "n M"]:
    smooth = amplitude**2 * torch.exp(-torch.cdist(left.position, right.position) / reach)
    return 1.0 + SLOPE**2 * left.roughness[:, None] * right.roughness + smooth


def _laplace(square: Float[Tensor, " M"], own: Places, amplitude: float, reach: float) -> _Fit:
    """The mode of η = log κ² given r², ``log p = −½ Σ (η + r² e^{−η})``, by scoring with shortened steps.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; left-out modes as in §5.4.2.
    """
    prior = _covariance(own, own, amplitude, reach)
    identity = torch.eye(len(square), dtype=square.dtype, device=square.device)
    pace = linalg.cholesky(identity + _PACE * prior, "covariance of the local scale")
    mode, dual, loss = torch.zeros_like(square), torch.zeros_like(square), math.inf
    for _ in range(_STEPS):
        aim = _PACE * mode + 0.5 * (square * torch.exp(-mode) - 1.0)
        way = aim - _PACE * pace.solve(prior @ aim) - dual
        across, step = prior @ way, 1.0
        while (result := _loss(square, mode + step * across, dual + step * way)) > loss and step > 1e-3:
            step *= 0.5
        mode, dual = mode + step * across, dual + step * way
        if loss - result < 1e-9 or step <= 1e-3:
            break
        loss = result
    factor = linalg.cholesky(identity + _INFORMATION * prior, "covariance of the local scale")
    shown = mode + 0.5 * (square * torch.exp(-mode) - 1.0) / _INFORMATION
    left_out = shown - factor.solve(shown) / factor.inverse_diagonal()
    return _Fit(dual, -_loss(square, mode, dual) - 0.5 * float(factor.log_determinant()), left_out)


def _loss(square: Float[Tensor, " M"], mode: Float[Tensor, " M"], dual: Float[Tensor, " M"]) -> float:
    """``½ ηᵀK⁻¹η + ½ Σ (η + r² e^{−η})``, minus the log posterior of η = K a but for a constant."""
    return 0.5 * float(dual @ mode + (mode + square * torch.exp(-mode)).sum())
