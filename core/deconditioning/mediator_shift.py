"""Mediator shift: targets and bags have different mediators, so W is evaluated where it was learned from few bags.

``w(y) = p̃(y) / p(y)``, the ratio of the densities of the targets' and the bags' mediators, is estimated by least
squares. It gives the effective number of bags (`MediatorShift.effective`) and their weights
(`MediatorShift.importance`).
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.observations import IndirectData

#: Lengthscales that are tried, in median distances, and ridges; the pair that predicts left-out samples best is taken.
_WIDTHS = (0.25, 0.5, 1.0, 2.0)
_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)
_CENTRES = 100
_FOLDS = 5
#: No bag counts for less than this share of the mean: W must stay defined.
_LEAST = 1e-3


@dataclass(frozen=True)
class MediatorShift:
    """The difference between the two sets of mediators.

    ``importance`` (B,): ``w(y_j)``, with mean one. ``reached``: share of the targets' mediators whose distance to the
    nearest bag is not larger than the distances between bags (99 % quantile).
    """

    importance: Float[Tensor, " B"]
    reached: float

    @property
    def effective(self) -> float:
        """Effective sample size as a share of the bags, ``(Σ w)² / (B Σ w²)``: one without a shift."""
        w = self.importance
        return float(w.sum().square() / (len(w) * w.square().sum()))


def mediator_shift(bags: Float[Tensor, "B r"], targets: Float[Tensor, "M r"]) -> MediatorShift:
    """Estimate the shift from the bags' mediators to the targets', given a sample of each.

    ``w(y) = Σ_c α_c exp(−‖y − c‖² / 2s²)``, ``α = (H + ρI)⁻¹ h`` with ``H`` the mean of ``φφᵀ`` over the bags and ``h``
    that of ``φ`` over the targets; s and ρ minimise ``½ mean w² − mean w`` in five-fold cross-validation. Raises
    ``InputError`` for fewer than two mediators on either side. Source: Kanamori, Hido, Sugiyama 2009 (uLSIF).
    """
    if min(len(bags), len(targets)) < 2:
        raise InputError(
            f"There are {len(bags)} bags and {len(targets)} targets: the mediator shift needs at least two of each."
        )
    scale = torch.cat([bags, targets]).std(0).clamp_min(1e-12)
    bags, targets = bags / scale, targets / scale
    centres = targets[torch.linspace(0, len(targets) - 1, min(_CENTRES, len(targets)), device=targets.device).long()]
    near, far = (torch.cdist(side, centres).square() for side in (bags, targets))
    median = float(near.median().sqrt().clamp_min(1e-6))
    tried = [(median * width, ridge) for width in _WIDTHS for ridge in _RIDGES]
    width, ridge = min(tried, key=lambda one: _left_out(_features(near, one[0]), _features(far, one[0]), one[1]))
    features_near, features_far = _features(near, width), _features(far, width)
    ratio = (features_near @ _solve(features_near, features_far, ridge)).clamp_min(0)
    ratio = (ratio / ratio.mean()).clamp_min(_LEAST) if float(ratio.sum()) > 0 else torch.ones_like(ratio)
    return MediatorShift(ratio / ratio.mean(), _reached(bags, targets))


def reweighted(data: IndirectData) -> IndirectData:
    """The data with ``importance`` weights for the bags in the regression on mediators; matched data are returned
    unchanged.
    """
    if data.matched:
        return data
    return replace(data, importance=mediator_shift(data.mediators, data.query_mediators).importance)


def _features(squares: Tensor, width: float) -> Tensor:
    return torch.exp(-0.5 * squares / width**2)


def _solve(bags: Float[Tensor, "n c"], targets: Float[Tensor, "m c"], ridge: float) -> Float[Tensor, " c"]:
    moment = bags.T @ bags / len(bags)
    identity = linalg.identity(len(moment), moment)
    factor = linalg.cholesky_exact(moment + ridge * identity, "moments of the mediators")
    return factor.solve(targets.mean(0)[:, None])[:, 0]


def _left_out(bags: Float[Tensor, "B c"], targets: Float[Tensor, "M c"], ridge: float) -> float:
    """``½ mean w² − mean w`` over samples that w was not fitted to; every fifth sample is left out in turn."""
    total = 0.0
    folds = min(_FOLDS, len(bags), len(targets))
    for fold in range(folds):
        out, over = (torch.arange(len(side), device=side.device) % folds == fold for side in (bags, targets))
        alpha = _solve(bags[~out], targets[~over], ridge)
        total += float(0.5 * (bags[out] @ alpha).square().mean() - (targets[over] @ alpha).mean())
    return total


def _reached(bags: Float[Tensor, "B r"], targets: Float[Tensor, "M r"]) -> float:
    distances = torch.cdist(bags, bags)
    distances.fill_diagonal_(torch.inf)
    far = torch.quantile(distances.amin(1), 0.99)
    return float((torch.cdist(targets, bags).amin(1) <= far).double().mean())
