"""An unknown link: ``y_i = ρ(Z_iᵀw) + ε_i`` with Z the subjects' scores on a few basis functions of f.

Ichimura's estimator: ρ is a leave-one-out Nadaraya-Watson mean of the outcomes along the index; w and the bandwidth
minimise the squared leave-one-out errors. ‖w‖ = 1 and the sign are fixed, because only the order of the index is
identified. The basis consists of the leading eigenvectors of M, as in the low-rank regression. Source: Tang et al., eq.
16-19; Ichimura 1993.
"""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import Check, InputError, never

#: Bandwidth in standard deviations of the index: where it starts and its bounds, in logarithms.
_START, _BOUNDS = np.log(0.3), (np.log(0.05), np.log(5.0))
_STEPS, _STARTS = 60, 4


@dataclass(frozen=True)
class SingleIndex:
    """The link's estimate.

    ``weights`` w (k,) of the scores, ``bandwidth`` h in sd of the index, ``index`` (n,) of mean 0, ``left_out`` ρ̂_{−i}
    (n,), ``outcomes`` (n,), ``loss`` mean squared left-out error. ``basis`` (n, k) turns ``l(s)`` into the basis
    functions, ``f_k(s) = l(s)ᵀ basis_k``; ``offset`` is taken off so that the index has mean 0.
    """

    weights: Float[Tensor, " k"]
    bandwidth: float
    index: Float[Tensor, " n"]
    left_out: Float[Tensor, " n"]
    basis: Float[Tensor, "n k"]
    outcomes: Float[Tensor, " n"]
    loss: float
    offset: float

    def link(self, index: Float[Tensor, " q"]) -> Float[Tensor, " q"]:
        """``ρ̂`` at other values of the index, from all subjects."""
        scale = self.bandwidth * self.index.std()
        return torch.softmax(-0.5 * ((index[:, None] - self.index) / scale).square(), 1) @ self.outcomes

    def predict(self, cross: Float[Tensor, "n q"]) -> Float[Tensor, " q"]:
        """Outcomes of other subjects, ``cross`` M between these and them."""
        return self.link(cross.T @ (self.basis @ self.weights) - self.offset)


def scores(gram: Float[Tensor, "n n"], rank: int) -> tuple[Float[Tensor, "n k"], Float[Tensor, "n k"]]:
    """Z (n, k), columns of mean 0 and variance 1, and the basis (n, k) with ``Z = HM basis``, H taking off the mean."""
    centred = gram - gram.mean(0) - gram.mean(1, keepdim=True) + gram.mean()
    values, vectors = linalg.leading_eigen(centred, rank, "kernel matrix of the subjects")
    positive = values > 1e-10 * values[0]
    values, vectors = values[positive], vectors[:, positive]
    size = len(gram) ** 0.5
    return vectors * size, vectors * (size / values)


def _left_out_link(index: Float[Tensor, " n"], outcomes: Float[Tensor, " n"], log_width: Tensor) -> Float[Tensor, " n"]:
    """``ρ̂_{−i}`` at each subject's own index (eq. 18), Gaussian weights of bandwidth ``e^{log_width}`` sd."""
    scale = log_width.exp() * index.std()
    exponent = -0.5 * ((index[:, None] - index) / scale).square()
    itself = torch.eye(len(index), dtype=torch.bool, device=index.device)
    return torch.softmax(exponent.masked_fill(itself, -torch.inf), dim=1) @ outcomes


def fit_single_index(
    gram: Float[Tensor, "n n"], outcomes: Float[Tensor, " n"], start: Float[Tensor, " n"], rank: int = 5,
    seed: int = 0, check: Check = never,
) -> SingleIndex:  # fmt: skip
    """w and h by least squares (eq. 19), L-BFGS from the linear model and from random directions; the best is kept.

    ``start`` (n,): an index to start from, such as the linear regression's fitted values.
    """
    from scipy.optimize import minimize

    if len(outcomes) < 4:
        raise InputError(f"There are {len(outcomes)} subjects: the link function needs at least 4.")
    z, basis = scores(gram, min(rank, len(gram) - 1))
    rng = np.random.default_rng(seed)
    first = (z.T @ start / len(start)).numpy(force=True)  # the columns of Z are orthogonal
    starts = [first, *rng.standard_normal((_STARTS - 1, z.shape[1]))]

    def objective(position: np.ndarray) -> tuple[float, np.ndarray]:
        """Leave-one-out mean squared error at (w, log h) and its gradient."""
        check()
        at = z.new_tensor(position, requires_grad=True)
        direction = at[:-1] / at[:-1].norm().clamp_min(1e-12)
        loss = (outcomes - _left_out_link(z @ direction, outcomes, at[-1])).square().mean()
        (slope,) = torch.autograd.grad(loss, at)
        return float(loss.detach()), slope.numpy(force=True)

    bounds = [(None, None)] * z.shape[1] + [_BOUNDS]
    fits = [
        minimize(objective, np.r_[w / max(np.linalg.norm(w), 1e-12), _START], jac=True, method="L-BFGS-B",
                 bounds=bounds, options={"maxiter": _STEPS})
        for w in starts
    ]  # fmt: skip
    best = min(fits, key=lambda result: result.fun)
    weights = z.new_tensor(best.x[:-1] / np.linalg.norm(best.x[:-1]))
    index = z @ weights
    if float(((index - index.mean()) * (start - start.mean())).sum()) < 0:
        weights, index = -weights, -index
    width = z.new_tensor(best.x[-1])
    left_out = _left_out_link(index, outcomes, width)
    offset = float((gram @ (basis @ weights)).mean())
    return SingleIndex(weights, float(width.exp()), index, left_out, basis, outcomes, float(best.fun), offset)
