"""How much of the prior a rule still hears as its last regularisation goes to nought: kernel Bayes' rule and the DME.

Two priors of the one-dimensional Gaussian problem, ``N(0, v)`` and ``N(s, v)``; every rule answers the same y under
both. The exact posterior mean moves by ``s c/v``, c the posterior's variance. For δ → 0 kernel Bayes' rule (b) becomes
``G_Y⁻¹k_Y``: Λ, which holds the prior, cancels. In float64 only kernels whose Gram matrices are well conditioned reach
that limit, so they are Matérn-½ here. Source: Hsu and Ramos 2019, §7 and App. F.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import KernelBayes, median_distance
from deconditioning.embeddings.deconditional import deconditional_weights, posterior_embedding
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.errors import InputError
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings
from deconditioning.studies.kernel_bayes.study import GaussianProblem

_RULES = ("kbr", "kbr_a", "dme")
#: δ of kernel Bayes' rule, and ε of the DME.
_STEPS = tuple(10.0 ** (-0.5 * i) for i in range(33))
#: The first regularisation, ε of kernel Bayes' rule and λ of the DME.
FIRST = 1e-3
#: Below this sum of weights there is no mean to speak of.
_LEAST_MASS = 1e-3


@dataclass(frozen=True)
class PriorEffect:
    """Posterior means (2, steps) under both priors by rule, NaN where a rule has no answer; ``exact`` (2,)."""

    steps: np.ndarray
    means: dict[str, np.ndarray]
    exact: np.ndarray

    def share(self, rule: str) -> np.ndarray:
        """How far a rule's mean moves with the prior, over how far the exact one moves: 1 is right, 0 hears nothing."""
        return (self.means[rule][1] - self.means[rule][0]) / (self.exact[1] - self.exact[0])


@one_thread()
def prior_effect(
    problem: GaussianProblem,
    y: float,
    *,
    scale: float = KernelBayesSettings.scale.default,
    shift: float = 1.0,
    steps: Sequence[float] = _STEPS,
) -> PriorEffect:
    """Every rule at every δ; ``scale`` of the lengthscales in median distances, ``shift`` of the prior in its own sd.

    Raises ``InputError`` in more than one dimension.
    """
    if problem.spec.dimension != 1:
        raise InputError(
            f"The effect of the prior is shown in one dimension, not in {problem.spec.dimension}: set the dimension "
            "to 1."
        )
    variance = float(problem.xx[0, 0]) / 2
    move = shift * variance**0.5
    at = torch.tensor([y], dtype=torch.float64)
    means = {rule: np.full((2, len(steps)), np.nan) for rule in _RULES}
    for which, moved in enumerate((0.0, move)):
        draws = torch.from_numpy(problem.draws + moved)
        for index, step in enumerate(steps):
            for rule in _RULES:
                means[rule][which, index] = _mean(_rule(problem, scale, step), rule, draws, at)
    mean, covariance = problem.posterior(np.array([y]))
    return PriorEffect(
        np.array(steps), means, float(mean[0]) + np.array([0.0, move * float(covariance[0, 0]) / variance])
    )


def _rule(problem: GaussianProblem, scale: float, delta: float) -> KernelBayes:
    x, y = torch.from_numpy(problem.inputs), torch.from_numpy(problem.observations)
    kernels = [
        KernelSpec((Term((Factor("matern12", ("c0",), (scale * median_distance(v),)),)),)).build(("c0",))
        for v in (x, y)
    ]
    return KernelBayes(x, y, kernels[0], kernels[1], FIRST, delta)


def _mean(bayes: KernelBayes, rule: str, draws: torch.Tensor, at: torch.Tensor) -> float:
    try:
        kernel_mean = _embedding(bayes, rule, draws, at)
    except InputError:
        return float("nan")
    total = float(kernel_mean.weights.sum())
    return float(kernel_mean.weights @ kernel_mean.points[:, 0]) / total if abs(total) > _LEAST_MASS else float("nan")


def _embedding(bayes: KernelBayes, rule: str, draws: torch.Tensor, at: torch.Tensor) -> KernelMean:
    if rule == "dme":
        with torch.no_grad():
            across = evaluate(bayes.kernel, bayes.inputs, draws)
        grams = bayes.observation_gram, bayes.gram, across
        weights = deconditional_weights(*grams, FIRST, bayes.second_regularisation)
        return posterior_embedding(weights, bayes.near(at), draws, bayes.kernel)
    prior = empirical(draws, bayes.kernel)
    return bayes.posterior(prior, at) if rule == "kbr" else bayes.posterior_on_prior(prior, at)
