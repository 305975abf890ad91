"""Clustered subjects: ``y_ic ~ N(β'W + E_{z_i} f_c, σ²)`` with exchangeable f_c.

``f_c = f̄ + g_c`` with ``f̄ ~ GP(0, ρK)`` and ``g_c ~ GP(0, (1 − ρ)K)``, so that

    Cov(f_c(s), f_c′(t)) = K(s, t) (ρ + (1 − ρ)[c = c′]):

ρ = 1 gives one function for all clusters, ρ = 0 independent functions. Source: Tang et al., §4.3.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.distribution_regression.gpdr import Fitted, RegressionSpec, fit
from deconditioning.distribution_regression.kernel_sums import Sums
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec

#: Correlations that learning looks at, between the ends where clusters have one function and where each has its own.
CORRELATIONS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0)


@dataclass(frozen=True)
class ClusteredSums:
    """The sums of f in the cluster ``at``, from those of a common function.

    ``cluster`` (n,) is the cluster of each subject, ``correlation`` is ρ.
    """

    base: Sums
    cluster: Int[Tensor, " n"]
    correlation: float
    at: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.correlation <= 1:
            raise InputError(f"The correlation of clusters is {self.correlation}: give a number from 0 to 1.")

    def gram(self, kernel: KernelSpec) -> Float[Tensor, "n n"]:
        """``M_ij (ρ + (1 − ρ)[c_i = c_j])``."""
        return self.base.gram(kernel) * self._cluster_kernel(self.cluster)

    def cross(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "n P"]:
        """``l_i(s) (ρ + (1 − ρ)[c_i = c])``."""
        return self.base.cross(kernel, inputs) * self._cluster_kernel(self.cluster.new_tensor([self.at]))

    def prior(self, kernel: KernelSpec, left: Tensor, right: Tensor) -> Float[Tensor, "P Q"]:
        """The kernel K (P, Q), which is the same in every cluster."""
        return self.base.prior(kernel, left, right)

    def prior_variance(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """The diagonal of K."""
        return self.base.prior_variance(kernel, inputs)

    def _cluster_kernel(self, other: Int[Tensor, " m"]) -> Float[Tensor, "n m"]:
        same = (self.cluster[:, None] == other).double()
        return self.correlation + (1 - self.correlation) * same


def fit_clusters(
    spec: RegressionSpec, base: Sums, cluster: Int[Tensor, " n"], outcomes: Float[Tensor, " n"],
    covariates: Float[Tensor, "n q"], correlation: float,
) -> list[Fitted]:  # fmt: skip
    """The posterior of f in every cluster."""
    sums = ClusteredSums(base, cluster, correlation)
    result = fit(spec, sums, outcomes, covariates)
    return [replace(result, sums=replace(sums, at=at)) for at in range(int(cluster.max()) + 1)]


def learn_correlation(
    spec: RegressionSpec, base: Sums, cluster: Int[Tensor, " n"], outcomes: Float[Tensor, " n"],
    covariates: Float[Tensor, "n q"],
) -> tuple[float, np.ndarray]:  # fmt: skip
    """ρ of highest evidence with fixed kernel and noise, and the evidences at ``CORRELATIONS``."""
    from scipy.optimize import minimize_scalar

    def evidence(correlation: float) -> float:
        """The log evidence at a correlation ρ."""
        return fit(spec, ClusteredSums(base, cluster, correlation), outcomes, covariates).evidence

    tried = np.array([evidence(value) for value in CORRELATIONS])
    best = int(tried.argmax())
    ends = CORRELATIONS[max(best - 1, 0)], CORRELATIONS[min(best + 1, len(CORRELATIONS) - 1)]
    result = minimize_scalar(lambda v: -evidence(v), bounds=ends, method="bounded", options={"xatol": 1e-3})
    at = float(result.x) if -result.fun > tried[best] else CORRELATIONS[best]
    return at, tried
