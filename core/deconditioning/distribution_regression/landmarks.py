"""Landmark regression: f is spanned by the kernel at a few fixed points, ``f(s) = Σ_r α_r K(u_r, s)``.

The Bayesian linear regression of Law et al. 2018 (uncertain weights, observed mean embeddings): a subject enters
through its embedding at the landmarks, ``E_z f = Σ_r α_r E_z K(u_r, ·)``. There are two priors: "weights", as in their
code, makes the α_r independent, with the kernel's variance and a kernel of variance 1; "function" gives α the
covariance ``K_uu⁻¹``, so that f is the Gaussian process projected onto the landmarks. Source: Law et al. 2018, §3; Tang
et al., §4.1.
"""

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning import linalg
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.subjects import Subjects, range_of
from deconditioning.errors import InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.kernels.tiles import evaluate

_PRIORS = ("weights", "function")
#: Directions of K_uu below this share of the largest are rounding, and left out.
_CUT = 1e-12


def spread_landmarks(subjects: Subjects, count: int, seed: int = 0) -> Float[Tensor, "r d"]:
    """``count`` landmarks: evenly spaced over the range of one column, k-means centres of several."""
    if count < 2:
        raise InputError(f"{count} landmark(s) were requested: give at least 2.")
    low, high = range_of(subjects)
    if len(low) == 1:
        return torch.linspace(float(low[0]), float(high[0]), count, dtype=torch.float64)[:, None]
    from sklearn.cluster import KMeans

    points = subjects.bags.inputs.cpu().numpy()
    if len(points) > 20_000:
        points = points[np.random.default_rng(seed).choice(len(points), 20_000, replace=False)]
    if len(points) < count:
        raise InputError(
            f"{count} landmarks were requested, but there are {len(points)} distinct values: request fewer."
        )
    return torch.from_numpy(KMeans(count, n_init=1, random_state=seed).fit(points).cluster_centers_)


class LandmarkSums:
    """The sums of the kernel that the landmarks span, ``K̃(s, t) = K(s, u) A K(u, t)``, A the weights' covariance."""

    def __init__(self, sums: KernelSums, landmarks: Float[Tensor, "r d"], prior: str = "weights") -> None:
        if prior not in _PRIORS:
            raise InputError(f"The landmarks' prior '{prior}' is unknown: choose {' or '.join(_PRIORS)}.")
        self.base, self._name = sums, prior
        self.landmarks = landmarks.to(sums.bags.inputs)
        self._last: tuple[KernelSpec, Float[Tensor, "n r"]] | None = None

    def gram(self, kernel: KernelSpec) -> Float[Tensor, "n n"]:
        """``M`` (n, n), of rank at most r."""
        features = self.features(kernel)
        return features @ features.T

    def cross(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "n P"]:
        """``l(s)`` (n, P)."""
        return self.features(kernel) @ self.at(kernel, inputs).T

    def prior(self, kernel: KernelSpec, left: Tensor, right: Tensor) -> Float[Tensor, "P Q"]:
        """``K̃(s, t)``."""
        return self.at(kernel, left) @ self.at(kernel, right).T

    def prior_variance(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """``K̃(s, s)``: at most ``K(s, s)`` under the prior "function"."""
        return self.at(kernel, inputs).square().sum(1)

    def features(self, kernel: KernelSpec) -> Float[Tensor, "n k"]:
        """Subjects' embeddings at the landmarks times the root of A: f's weights in them are independent, N(0, 1)."""
        return self.means(kernel) @ self.root(kernel)

    def means(self, kernel: KernelSpec) -> Float[Tensor, "n r"]:
        """The subjects' sample means of K(x, u), kept for the last kernel."""
        if self._last is None or self._last[0] != kernel:
            self._last = (kernel, self.base.cross(kernel, self.landmarks))
        return self._last[1]

    def at(self, kernel: KernelSpec, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P k"]:
        """The same of single values, ``K(s, u) A^½``."""
        with torch.no_grad():
            near = evaluate(kernel.build(self.base.columns).to(inputs.device), inputs, self.landmarks)
        return near @ self.root(kernel)

    def root(self, kernel: KernelSpec) -> Float[Tensor, "r k"]:
        """A root of A: of the pseudo-inverse of K_uu, or the identity over the kernel's standard deviation."""
        if self._name == "weights":
            identity = linalg.identity(len(self.landmarks), self.landmarks)
            return identity / kernel.variance**0.5
        values, vectors = linalg.eigen(self.base.prior(kernel, self.landmarks, self.landmarks), "landmarks' kernel")
        positive = values > _CUT * values[0]
        return vectors[:, positive] / values[positive].sqrt()
