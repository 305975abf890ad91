"""Leave-one-out predictions of the targets in closed form, which assess a model from coarse data alone."""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.moving import BagGram
from deconditioning.errors import Check, never
from deconditioning.models.conditioning import Conditioning
from deconditioning.models.indirect_gp import Columns, condition_on_gram
from deconditioning.models.sparse.sparse_gp import sparse_terms
from deconditioning.models.spec import ModelSpec
from deconditioning.models.term_bags import bag_gram_of
from deconditioning.observations import IndirectData

#: Targets beyond which S is not inverted for this (200 MB, half a minute).
MOST_TARGETS = 5000


@dataclass(frozen=True)
class LeftOut:
    """``error`` e (M,) of every target as predicted from the others, and the ``variance`` v (M,) of that prediction."""

    error: Float[Tensor, " M"]
    variance: Float[Tensor, " M"]

    def first(self, count: int) -> "LeftOut":
        """Those of the first targets."""
        return LeftOut(self.error[:count], self.variance[:count])

    @property
    def rmse(self) -> float:
        """``√(mean e²)``."""
        return float(self.error.square().mean().sqrt())

    @property
    def log_density(self) -> float:
        """Mean of ``log N(e_j; 0, v_j)``."""
        terms = self.error.square() / self.variance + self.variance.log() + math.log(2 * math.pi)
        return float(-0.5 * terms.mean())


def leave_one_out(conditioning: Conditioning) -> LeftOut:
    """``e_j = [S⁻¹r]_j / [S⁻¹]_jj`` and ``v_j = 1 / [S⁻¹]_jj``, with fixed W and hyperparameters.

    Source: Rasmussen and Williams 2006, eq. 5.10-5.12, with the covariance S of the targets.
    """
    precision = conditioning.factor.inverse_diagonal()
    return LeftOut(conditioning.factor.solve(conditioning.residual) / precision, 1 / precision)


def left_out(
    spec: ModelSpec, data: IndirectData, columns: Columns, check: Check = never, bag_gram: BagGram | None = None
) -> LeftOut | None:
    """``leave_one_out`` of a named model on indirect data; None for more than 5,000 targets.

    K̄ comes from ``bag_gram`` if given. With inducing points S is ``WᵀQ̄W + Σ``, as for the mean.
    """
    if len(data.targets) > MOST_TARGETS:
        return None
    model = spec.model
    observed = model.sees(data)
    with torch.no_grad():
        if model.sparse:
            half = sparse_terms(spec, observed, columns, check).through.half
            return leave_one_out(condition_on_gram(spec, observed, columns, half.T @ half))
        kernel = spec.kernel.build(columns.inputs).to(observed.targets.device)
        between = (bag_gram or bag_gram_of(spec, observed, columns.place, check))(kernel)
        return leave_one_out(condition_on_gram(spec, observed, columns, between))
