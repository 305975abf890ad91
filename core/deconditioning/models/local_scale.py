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
Source: Quiñonero-Candela and Rasmussen 2005, *JMLR* 6 (subset of
regressors). In the eigenvectors of ``UᵀU`` every matrix of the approximation is diagonal.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

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


@dataclass(frozen=True, eq=False)
class ScalePrior:
    """The prior of log κ² at ``targets`` and at ``places``, which residuals do not change.

    Its matrices are factorised once, unless there are so many targets that they are not worth their memory.
    """

    targets: Places
    places: Places

    def to(self, device: torch.device) -> "ScalePrior":
        """The same on another device."""
        if device == self.targets.position.device:
            return self
        return ScalePrior(self.targets.to(device), self.places.to(device))

    @property
    def candidates(self) -> Iterable["_Candidate"]:
        """One for each of ``CANDIDATES``."""
        return self._cached if len(self.targets.position) <= CENTRES else self._each()

    @cached_property
    def _cached(self) -> list["_Candidate"]:
        return list(self._each())

    def _each(self) -> Iterator["_Candidate"]:
        centres = _centres(self.targets.position)
        return (_candidate(_Features(centres, *each), self) for each in CANDIDATES)


def local_scale(conditioning: Conditioning, prior: ScalePrior) -> LocalScale:
    """κ at the places of ``prior`` from the residuals of its targets, which are cells; points come behind them.

    See `scale_of_squares`.
    """
    with torch.no_grad():
        left_out = leave_one_out(conditioning).first(conditioning.cells)
        return scale_of_squares(left_out.error.square() / left_out.variance, prior)


def scale_of_squares(squares: Float[Tensor, " M"], prior: ScalePrior) -> LocalScale:
    """κ at the places of ``prior`` from squared standardised residuals of its targets, each left out, or from their
    means over several times.

    Normalised so that the residuals over κ, with each κ from the other targets, have mean square one.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; leave-one-out modes as in §5.4.2.
    """
    with torch.no_grad():
        fits = ((_laplace(squares, each), each) for each in prior.candidates)  # of many targets, one at a time
        fit, best = max(fits, key=lambda pair: pair[0].evidence)
        level = (squares * torch.exp(-fit.left_out)).mean()
        factor = torch.exp(0.5 * best.at_places @ fit.weights) * level.sqrt()
        return LocalScale(prior.places, factor, best.features.amplitude, best.features.reach)


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


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Features at the targets, turned so that their second moments are diagonal: ``U Q`` (M, r), with ``UᵀU = Q diag(s)
    Qᵀ``. The prior of their weights stays N(0, I).
    """

    features: _Features
    places: Places
    turn: Float[Tensor, "r r"]
    at_targets: Float[Tensor, "M r"]
    moments: Float[Tensor, " r"]

    @cached_property
    def at_places(self) -> Float[Tensor, "n r"]:
        """The same features at the places."""
        return self.features(self.places) @ self.turn


def _candidate(features: _Features, prior: ScalePrior) -> _Candidate:
    plain = features(prior.targets)
    moments, turn = linalg.eigen(plain.T @ plain, "second moments of the local scale's features")
    return _Candidate(features, prior.places, turn, plain @ turn, moments.clamp_min(0.0))


@dataclass(frozen=True)
class _Fit:
    """``weights`` w of the mode, the ``evidence``, and log κ² of every target from all others (``left_out``)."""

    weights: Float[Tensor, " r"]
    evidence: float
    left_out: Float[Tensor, " M"]


def _laplace(square: Float[Tensor, " M"], candidate: _Candidate) -> _Fit:
    """The mode of w given r², ``log p(r | η) = −½ Σ (η + r² e^{−η})``, by scoring with shortened steps.

    Source: Rasmussen and Williams 2006, §3.4, with W = ½ I; left-out modes as in §5.4.2.
    """
    features, pace = candidate.at_targets, 1.0 + _PACE * candidate.moments
    weights, mode, loss = features.new_zeros(features.shape[1]), torch.zeros_like(square), math.inf
    for _ in range(_STEPS):
        way = (0.5 * features.T @ (square * torch.exp(-mode) - 1.0) - weights) / pace
        across, step = features @ way, 1.0
        while (result := _loss(square, mode + step * across, weights + step * way)) > loss and step > 1e-3:
            step *= 0.5
        weights, mode = weights + step * way, mode + step * across
        if loss - result < 1e-9 or step <= 1e-3:
            break
        loss = result
    shown = mode + 0.5 * (square * torch.exp(-mode) - 1.0) / _INFORMATION
    # (I + ½UUᵀ)⁻¹ = I − U diag(½ / (1 + ½s)) Uᵀ, with UᵀU = diag(s)
    precision = 1.0 + _INFORMATION * candidate.moments
    shrunk = features * (_INFORMATION / precision)
    rest, diagonal = shown - shrunk @ (features.T @ shown), 1 - (shrunk * features).sum(1)
    evidence = -_loss(square, mode, weights) - 0.5 * float(precision.log().sum())
    return _Fit(weights, evidence, shown - rest / diagonal)


def _loss(square: Float[Tensor, " M"], mode: Float[Tensor, " M"], weights: Float[Tensor, " r"]) -> float:
    """``½ ‖w‖² + ½ Σ (η + r² e^{−η})``, minus the log posterior of w but for a constant."""
    return 0.5 * float(weights @ weights + (mode + square * torch.exp(-mode)).sum())
