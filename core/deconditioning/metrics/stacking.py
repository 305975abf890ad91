"""Stacking: weights of an average of predictive distributions, from their densities at values that none of them saw."""

import numpy as np

from deconditioning.errors import InputError

#: The weights are within this of the maximum, and the most steps towards it.
_ACCURACY, _STEPS = 1e-9, 20_000


def stacking_weights(log_density: np.ndarray, *, sizes: np.ndarray | None = None, prior: float = 1.0) -> np.ndarray:
    """The weights w (K,) of the mixture with the largest log score, held by a Dirichlet prior; they sum to one.

    ``argmax Σ_j a_j log Σ_k w_k p_jk + c Σ_k log w_k``, a concave problem, by expectation and maximisation:
    ``w_k ← (Σ_j a_j r_jk + c) / (Σ a + K c)`` with the shares ``r_jk = w_k p_jk / Σ_l w_l p_jl``.

    Parameters
    ----------
    log_density : (n, K) log p_jk of value j under distribution k.
    sizes : (n,) how many independent values each stands for, a; one by default.
    prior : c, as many values as count for each distribution beforehand.

    Raises `InputError` if a density is not finite or a size or the prior is negative. Source: Yao, Vehtari, Simpson and
    Gelman 2018, *Using stacking to average Bayesian predictive distributions*, eq. 4; Dempster, Laird and Rubin 1977.
    """
    densities = np.asarray(log_density, dtype=float)
    amounts = np.ones(len(densities)) if sizes is None else np.asarray(sizes, dtype=float)
    if not np.isfinite(densities).all() or prior < 0 or (amounts < 0).any():
        raise InputError("Stacking needs finite log densities, and sizes and a prior that are not negative.")
    relative = np.exp(densities - densities.max(axis=1, keepdims=True))
    count = densities.shape[1]
    weights = np.full(count, 1 / count)
    whole = amounts.sum() + count * prior
    for _ in range(_STEPS if whole > 0 else 0):
        shares = weights * relative
        shares *= (amounts / shares.sum(axis=1))[:, None]
        before, weights = weights, (shares.sum(axis=0) + prior) / whole
        if np.abs(weights - before).max() < _ACCURACY:
            break
    return weights
