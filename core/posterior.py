"""What every posterior offers, whichever model made it."""

from typing import Protocol

import torch
from jaxtyping import Float
from torch import Tensor


class Posterior(Protocol):
    """The posterior of a latent function ``f``; each method has one return shape."""

    def mean(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """Posterior mean, tiled over points."""
        ...

    def variance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, " P"]:
        """Posterior variance of ``f``, tiled over points."""
        ...

    def covariance(self, inputs: Float[Tensor, "P d"]) -> Float[Tensor, "P P"]:
        """Posterior covariance; refuses more than 5,000 points."""
        ...

    def sample(self, inputs: Float[Tensor, "P d"], count: int, generator: torch.Generator) -> Float[Tensor, "count P"]:
        """Joint draws of ``f`` at the points."""
        ...
