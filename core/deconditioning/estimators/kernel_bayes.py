"""Kernel Bayes' rule and the kernel Bayes filter as estimators on arrays."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import torch

from deconditioning.device import one_thread
from deconditioning.embeddings.bayes_rule import rule_of_pairs
from deconditioning.embeddings.kernel_mean import KernelMean, empirical
from deconditioning.errors import InputError
from deconditioning.estimators.base import Estimator, matrix
from deconditioning.filtering.series import Scaling
from deconditioning.studies.filtering.study import FilterSettings, estimates, train
from deconditioning.studies.kernel_bayes.settings import KernelBayesSettings


@dataclass(frozen=True)
class WeightedSample:
    """A posterior as a weighted sample, with ``points`` x (n, d), ``weights`` w (n,) and ``mean`` (d,) ``Σ_i w_i x_i``.

    Weights may be negative and sum to about one; ``embedding`` is the kernel mean ``Σ_i w_i k(x_i, ·)``.
    """

    mean: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    embedding: KernelMean


@dataclass(kw_only=True, repr=False, eq=False)
class KernelBayesRule(Estimator):
    """Kernel Bayes' rule: the posterior of X given Y = y, from pairs (X, Y) and draws of the prior.

    ``w = ΛG_Y((ΛG_Y)² + δI)⁻¹Λ k_Y(y)`` with ``Λ = diag((G_X + nεI)⁻¹ m_Π)``; Gaussian kernels.

    Parameters
    ----------
    scale : lengthscale of each kernel in median distances of its points.
    regularisation, second_regularisation : ε (which enters as nε) and δ; None for ``0.01/n`` and ``2ε``.
    tolerance : share of the trace that low-rank factors may omit; 0 for dense matrices.

    Attributes
    ----------
    rule_ : the fitted `deconditioning.embeddings.bayes_rule.KernelBayes`.
    prior_ : the embedding of the prior.

    Source: Fukumizu, Song and Gretton 2013, §3.
    """

    _fitted_by = "rule_"

    scale: float = KernelBayesSettings.scale.default
    regularisation: float | None = None
    second_regularisation: float | None = None
    tolerance: float = 0.0

    def fit(self, X: Any, Y: Any, prior: Any = None) -> Self:
        """Learn from paired rows of ``X`` (n, d) and ``Y`` (n, q), and from draws ``prior`` (m, d) of X.

        Without ``prior``, the X of the pairs represent it. Raises ``InputError`` for missing numbers, unequal lengths,
        and parameters that are not positive.
        """
        x, y = matrix(X, "X"), matrix(Y, "Y")
        draws = x if prior is None else matrix(prior, "prior")
        if draws.shape[1] != x.shape[1]:
            raise InputError(f"`prior` has {draws.shape[1]} columns and `X` {x.shape[1]}: give draws of X.")
        if not self.scale > 0:
            raise InputError(f"`scale` is {self.scale}: give a positive number.")
        self.rule_ = rule_of_pairs(
            torch.from_numpy(x), torch.from_numpy(y), self.scale, self.regularisation, self.second_regularisation,
            self.tolerance,
        )  # fmt: skip
        self.prior_ = empirical(torch.from_numpy(draws), self.rule_.kernel)
        return self

    def posterior(self, y: Any) -> WeightedSample:
        """The posterior of X given one observation ``y`` (q,), as weights on the pairs' X."""
        self._check_fitted()
        observation = torch.from_numpy(matrix(np.atleast_1d(np.asarray(y, dtype=float)), "y")[:, 0])
        with one_thread():
            embedding = self.rule_.posterior(self.prior_, observation)
        mean = embedding.expectation(embedding.points)
        return WeightedSample(mean.numpy(), embedding.points.numpy(), embedding.weights.numpy(), embedding)


@dataclass(frozen=True)
class Filtered:
    """A filtered series: ``mean`` (n, d) of the state at each step, from ``weights`` (n, T) on ``points`` (T, d).

    ``lost`` (n,): the weights of the prediction vanished and the state was estimated from the observation alone;
    ``far`` (n,): no training observation is near.
    """

    mean: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    lost: np.ndarray
    far: np.ndarray


@dataclass(kw_only=True, repr=False, eq=False)
class KernelBayesFilter(Estimator):
    """The kernel Bayes filter: estimates a hidden state after training on a series of states and observations.

    It needs no model of the dynamics or of the noise. Each step predicts,
    ``μ = (G_X + TεI)⁻¹ G_{XX₊} (G_X + TεI)⁻¹ G_X α``, and updates by the observation with kernel Bayes' rule; Gaussian
    kernels, ``δ = 2ε``.

    Parameters
    ----------
    scale : β, the lengthscales in median distances; None: chosen by split-half validation.
    regularisation : ε; None: chosen by split-half validation.
    tolerance : share of the trace that low-rank factors may omit; 0 for dense matrices.
    standardise : whether each column is scaled by its mean and standard deviation in training.
    device : "auto", "cpu" or "cuda".

    Attributes
    ----------
    filter_ : the trained `deconditioning.filtering.kernel_bayes_filter.KernelBayesFilter`.
    scale_, regularisation_ : β and ε that are used.

    Source: Fukumizu, Song and Gretton 2013, §4.3.
    """

    _fitted_by = "filter_"

    scale: float | None = None
    regularisation: float | None = None
    tolerance: float = FilterSettings.tolerance
    standardise: bool = True
    device: str = FilterSettings.device

    def fit(self, states: Any, observations: Any) -> Self:
        """Train on one series: ``states`` (T + 1, d) and ``observations`` (T, q) or (T + 1, q), in order.

        Steps with a missing number (NaN) are not used for training. If there are as many observations as states, the
        last one is not used because no state follows it. Raises ``InputError`` for fewer than 10 steps (20 if β or ε
        is chosen by validation) and for lengths that do not match.
        """
        x, y = matrix(states, "states", gaps=True), matrix(observations, "observations", gaps=True)
        y = y[:-1] if len(y) == len(x) else y
        if len(x) != len(y) + 1:
            raise InputError(
                f"There are {len(x)} states and {len(y)} observations: give equally many, or one more state than "
                "observations."
            )
        unit = np.zeros(1), np.ones(1)
        self._states, self._observations = Scaling(*unit), Scaling(*unit)
        if self.standardise:
            self._states = Scaling.of(x, _numbered("state", x)).shared()
            self._observations = Scaling.of(y, _numbered("observation", y))
        settings = FilterSettings(self.scale, self.regularisation, self.tolerance, self.device)
        with one_thread():
            trained = train(self._states.scaled(x), self._observations.scaled(y), settings)
        self.filter_, self.scale_, self.regularisation_ = trained.filter, trained.scale, trained.regularisation
        return self

    def filter(self, y: Any) -> Filtered:
        """Filter ``y`` (n, q), a new series of observations; steps with missing numbers are predicted only.

        Returns the states in their original units.
        """
        self._check_fitted()
        observed = matrix(y, "y", gaps=True)
        if observed.shape[1] != self.filter_.observations.shape[1]:
            raise InputError(
                f"`y` has {observed.shape[1]} columns, but the training observations have "
                f"{self.filter_.observations.shape[1]}: give equally many."
            )
        trained = self.filter_
        with one_thread():
            series = torch.as_tensor(self._observations.scaled(observed)[None], device=trained.states.device)
            steps = trained.run(series)
            mean = estimates(trained, steps)[0].cpu().numpy()
        weights, lost, far = (
            np.stack([getattr(step, name)[0].cpu().numpy() for step in steps]) for name in ("weights", "lost", "far")
        )
        points = self._states.original(trained.now.cpu().numpy())
        return Filtered(self._states.original(mean), points, weights, lost, far)


def _numbered(name: str, values: np.ndarray) -> tuple[str, ...]:
    return tuple(f"{name} {index}" for index in range(values.shape[1]))
