"""A conditional mean embedding as a weighted sum of bag embeddings: evaluation, expectations and distances.

``μ̂_{X|Y=y} = Σ_j W_j(y) k̄_j`` with ``k̄_j = Σ_{i∈j} w_i k(x_i, ·)``; the estimators differ only in ``W``.
"""

from dataclasses import dataclass

import gpytorch
import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.bag_sums.blocks import SortedBags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.embeddings.kernel_mean import KernelMean
from deconditioning.errors import InputError


@dataclass(frozen=True)
class BagEmbedding:
    """Embeddings of ``X | Y = y_g`` for G values of y at once.

    Parameters
    ----------
    kernel : ``k`` on the inputs, made by ``KernelSpec.build``.
    bags : the B bags.
    weights : W (B, G), one column per value of y (replicated or shrinkage weights).

    Source: Chau et al. 2021, eq. 10 and App. C.
    """

    kernel: gpytorch.kernels.Kernel
    bags: SortedBags
    weights: Float[Tensor, "B G"]

    def __post_init__(self) -> None:
        if len(self.weights) != self.bags.bags.count:
            raise InputError(
                f"`weights` has {len(self.weights)} rows, but there are {self.bags.bags.count} bags: give one "
                "row per bag."
            )

    def at(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P G"]:
        """``E[k(x, X) | Y = y] ≈ c(x)ᵀ W`` at each point x and each y."""
        return cross(self.kernel, self.bags, inputs).T @ self.weights

    def expectation(self, values: Float[Tensor, "N *_k"]) -> Float[Tensor, "G *_k"]:
        """``E[f(X) | Y = y] ≈ Σ_j W_j(y) f̄_j`` from ``values`` f(x_i) in the order of the sorted bags' inputs."""
        points = len(self.bags.bags.inputs)
        if len(values) != points:
            raise InputError(
                f"`values` has {len(values)} rows, but the bags contain {points} points: give one row per point."
            )
        return torch.tensordot(self.weights.T, self.bags.bags.mean(values), dims=1)

    def kernel_mean(self, column: int) -> KernelMean:
        """One of the embeddings as a weighted sample: point i of bag j has weight ``w_i W_j(y)``."""
        bags = self.bags.bags
        return KernelMean(bags.inputs, bags.weights * self.weights[bags.bag, column], self.kernel)

    def distance(self, other: "BagEmbedding") -> Float[Tensor, " G"]:
        """``‖μ̂ − ν̂‖_k = √(vᵀ K̄ v)``, ``v = W − V``, for each y, between two estimates from the same bags."""
        if other.bags is not self.bags:
            raise InputError("The two embeddings are of different bags: compare estimates of the same data.")
        with torch.no_grad():
            between = self.weights - other.weights
            square = (between * (gram(self.kernel, self.bags) @ between)).sum(0)
        return square.clamp_min(0).sqrt()
