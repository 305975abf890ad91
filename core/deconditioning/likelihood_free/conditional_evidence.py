"""The evidence that chooses the hyperparameters of a conditional mean.

At ``ỹ = y`` and λ → 0 the deconditional operator is the conditional mean in the other direction (Hsu and Ramos 2019,
theorem 6.2), and its evidence ``N(z̃; 0, AᵀKA + σ²I)`` (theorem 5.3 (4)) is that of a Gaussian process on the
summaries.
"""

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from deconditioning import linalg
from deconditioning.errors import InputError
from deconditioning.kernels.tiles import evaluate
from deconditioning.likelihood_free.inference import Evidence, Settings, gaussian_kernel

#: Where k and the noise σ² = nλ may lie, and how many simulations, those nearest the observation, the evidence sees.
_BOUNDS, _MOST = ((0.01, 20.0), (1e-5, 10.0)), 300


def log_evidence(
    data: Evidence, lengthscales: tuple[float, ...], kernel_scale: Tensor | float, noise: Tensor | float
) -> Tensor:
    """``−½[n log(s²) + log|M| + n(1 + log 2π)]``, ``M = K + σ²V⁻¹``, ``s² = tr(M⁻¹L)/n``: the average over features of
    ℓ.

    Targets are all functions g in the space of ℓ, ``z̃ = g(u)``, whose average ``z̃z̃ᵀ`` is L; s² is their best common
    amplitude. V = diag(p/π) reweights pairs from π to the prior, as in ``inference.cme``; ``noise`` is σ² = nλ.
    Differentiable in k and σ².
    """
    count = len(data.u)
    x = data.x / kernel_scale
    gram = evaluate(gaussian_kernel((1.0,) * x.shape[1]).to(x.device), x, x)
    with torch.no_grad():
        features = evaluate(gaussian_kernel(lengthscales).to(x.device), data.u, data.u)
    factor = linalg.cholesky_exact(gram + torch.diag(noise / data.weights), "kernel matrix of the summaries")
    amplitude = factor.solve(features).diagonal().mean()
    return -0.5 * (count * (amplitude.log() + 1 + linalg.LOG_TWO_PI) + factor.log_determinant())


def learn_conditional(data: Evidence, settings: Settings) -> Settings:
    """``settings`` with the k and λ of highest evidence: L-BFGS-B from the given k and from one four times as wide."""
    from scipy.optimize import minimize

    near = (data.x - data.y).square().sum(1).argsort()[:_MOST]
    part = replace(data, u=data.u[near], x=data.x[near], weights=data.weights[near])

    def value(point: np.ndarray) -> tuple[float, np.ndarray]:
        """Minus the log evidence at (log scale of k, log nλ), and its gradient."""
        at = torch.from_numpy(np.array(point)).requires_grad_(True)
        try:
            result = -log_evidence(part, settings.lengthscales, *at.exp())
        except InputError:  # singular here: the search turns back
            return 1e10, np.zeros(2)
        result.backward()
        assert at.grad is not None
        return float(result.detach()), at.grad.numpy()

    box, count = np.log(_BOUNDS), len(data.u)
    starts = np.log([[times * settings.kernel_scale, count * settings.regularisation] for times in (1, 4)])
    optima = [minimize(value, np.clip(start, *box.T), jac=True, method="L-BFGS-B", bounds=box, options={"maxiter": 20})
             for start in starts]  # fmt: skip
    scale, noise = np.exp(min(optima, key=lambda each: each.fun).x)
    return replace(settings, kernel_scale=float(scale), regularisation=float(noise / count))
