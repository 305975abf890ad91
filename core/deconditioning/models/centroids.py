"""Bags replaced by their centroids: the data of Gaussian process regression on centroids."""

from dataclasses import replace

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.observations import Bags, IndirectData


def singletons(inputs: Float[Tensor, "n d"]) -> Bags:
    """Bags of one point each; with W = I the model is ordinary Gaussian process regression."""
    return Bags(inputs, torch.arange(len(inputs), device=inputs.device), len(inputs))


def centroids(data: IndirectData) -> IndirectData:
    """Matched data whose bag ``j`` is the one point ``Σ_{i∈j} w_i x_i``."""
    if not data.matched:
        raise InputError(
            "A model on centroids needs one target per bag, but these are matched only through mediators: give "
            "pseudo-targets."
        )
    return replace(data, bags=singletons(data.bags.mean(data.bags.inputs)))
