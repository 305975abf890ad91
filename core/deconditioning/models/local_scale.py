"""Local scale: a factor κ on the posterior sd, estimated from left-out targets, where errors are larger or smaller than
the sd.

Standardised residuals of targets predicted from the others would be standard normal if the model were right everywhere.
They are modelled as ``r_j ~ N(0, κ_j²)`` with

    log κ² ~ GP(0, 1 + b² φφ′ + a² exp(−d/ℓ)),

φ the standardised log roughness of the covariates in a cell, d the distance in cell widths; a and ℓ are chosen by their
evidence from a few values, all by Laplace's approximation. The posterior mean does not change; its sd becomes ``κ(x)
√var f(x)``.

log κ² is linear in features, ``η = U w``, ``w ~ N(0, I)``: a constant, bφ and, of the exponential, its values between
the cells and some centres C, ``a e^{−d(x, C)/ℓ} L⁻ᵀ`` with ``L Lᵀ = e^{−d(C, C)/ℓ}``. With few cells the centres are
the cells, and nothing is approximated; with many they are means of the cells in squares of a lattice.
Source: Quiñonero-Candela and Rasmussen 2005, *JMLR* 6 (subset of regressors).
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning import linalg
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.leave_one_out import leave_one_out

#: Targets beyond which κ is 1 everywhere: leaving each out needs the inverse of their covariance, and more than a
#: minute.
MOST = 6000
#: Cells beyond which centres stand for them.
CENTRES = 800
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


def local_scale(conditioning: Conditioning, targets: Places, places: Places) -> LocalScale:
    """κ at ``places`` from the residuals of the ``targets`` that are cells, row by row; points come behind them.

    See `scale_of_squares`.
    """
    with torch.no_grad():
        left_out = leave_one_out(conditioning).first(conditioning.cells)
        return scale_of_squares(left_out.error.square() / left_out.variance, targets, places)


def scale_of_squares(squares: Float[Tensor, " M"], targets: Places, places: Places) -> LocalScale:
    """κ at ``places`` from squared standardised residuals of left-out targets, or their means over several times.

    Normalised so that the residuals over κ, with each κ from the other targets, have mean square one.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; leave-one-out modes as in §5.4.2.
    """
    with torch.no_grad():
        centres = _centres(targets.position)
        every = [(_Features(centres, *candidate), candidate) for candidate in CANDIDATES]
        fits = [(_laplace(squares, features(targets)), features, candidate) for features, candidate in every]
        fit, features, (amplitude, reach) = max(fits, key=lambda each: each[0].evidence)
        logs = features(places) @ fit.weights
        level = (squares * torch.exp(-fit.left_out)).mean()
        return LocalScale(places, torch.exp(0.5 * logs) * level.sqrt(), amplitude, reach)


def _centres(position: Float[Tensor, "n p"]) -> Float[Tensor, "m p"]:
    """The cells, or at most ``CENTRES`` means of those in one square of a lattice."""
    if len(position) <= CENTRES:
        return position
    side = float((position.amax(0) - position.amin(0)).clamp_min(1.0).prod() / CENTRES) ** (1 / position.shape[1])
    while True:
        _, square = torch.unique((position / side).floor(), dim=0, return_inverse=True)
        count = int(square.max()) + 1
        if count <= CENTRES:
            sums = position.new_zeros(count, position.shape[1]).index_add_(0, square, position)
            return sums / torch.bincount(square)[:, None]
        side *= 1.1


@dataclass(frozen=True)
class _Features:
    """The features U of log κ² at any cells, for an ``amplitude`` a and a ``reach`` ℓ."""

    centres: Float[Tensor, "m p"]
    amplitude: float
    reach: float

    def __call__(self, places: Places) -> Float[Tensor, "n r"]:
        """``[1, bφ, a e^{−d(x, C)/ℓ} L⁻ᵀ]``."""
        plain = torch.stack([torch.ones_like(places.roughness), SLOPE * places.roughness], dim=1)
        if not self.amplitude:
            return plain
        among = linalg.cholesky(self._decay(self.centres), "covariance of the local scale")
        return torch.cat([plain, self.amplitude * among.half_solve(self._decay(places.position).T).T], dim=1)

    def _decay(self, position: Float[Tensor, "n p"]) -> Float[Tensor, "n m"]:
        return torch.exp(-torch.cdist(position, self.centres) / self.reach)


@dataclass(frozen=True)
class _Fit:
    """``weights`` w of the mode, the ``evidence``, and log κ² of every target from all others (``left_out``)."""

    weights: Float[Tensor, " r"]
    evidence: float
    left_out: Float[Tensor, " M"]


def _laplace(square: Float[Tensor, " M"], features: Float[Tensor, "M r"]) -> _Fit:
    """The mode of w given r², ``log p(r | η) = −½ Σ (η + r² e^{−η})``, by scoring with shortened steps.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; left-out modes as in §5.4.2.
    """
    identity, inner = linalg.identity(features.shape[1], square), features.T @ features
    pace = linalg.cholesky(identity + _PACE * inner, "covariance of the local scale")
    weights, mode, loss = features.new_zeros(features.shape[1]), torch.zeros_like(square), math.inf
    for _ in range(_STEPS):
        way = pace.solve(0.5 * features.T @ (square * torch.exp(-mode) - 1.0) - weights)
        across, step = features @ way, 1.0
        while (result := _loss(square, mode + step * across, weights + step * way)) > loss and step > 1e-3:
            step *= 0.5
        weights, mode = weights + step * way, mode + step * across
        if loss - result < 1e-9 or step <= 1e-3:
            break
        loss = result
    factor = linalg.cholesky(identity + _INFORMATION * inner, "covariance of the local scale")
    shown = mode + 0.5 * (square * torch.exp(-mode) - 1.0) / _INFORMATION
    # (I + ½UUᵀ)⁻¹ = I − ½U (I + ½UᵀU)⁻¹Uᵀ
    halved = factor.half_solve(features.T)
    rest, diagonal = shown - _INFORMATION * halved.T @ (halved @ shown), 1 - _INFORMATION * halved.square().sum(0)
    left_out = shown - rest / diagonal
    return _Fit(weights, -_loss(square, mode, weights) - 0.5 * float(factor.log_determinant()), left_out)


def _loss(square: Float[Tensor, " M"], mode: Float[Tensor, " M"], weights: Float[Tensor, " r"]) -> float:
    """``½ ‖w‖² + ½ Σ (η + r² e^{−η})``, minus the log posterior of w but for a constant."""
    return 0.5 * float(weights @ weights + (mode + square * torch.exp(-mode)).sum())
