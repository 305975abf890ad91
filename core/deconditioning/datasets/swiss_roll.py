"""The swiss roll cut into slices: fine positions along the roll are sought, only slice means are seen."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from deconditioning.errors import InputError
from deconditioning.observations import Bags, IndirectData
from deconditioning.plain_data import check_seed

INPUTS = ("x", "width", "height")
MEDIATORS = ("slice height",)
MATCHINGS = ("direct", "indirect")


@dataclass(frozen=True)
class RollSpec:
    """How the roll is made and cut.

    Parameters
    ----------
    points : points on the roll.  bags : slices of equal extent along the height; empty ones are dropped.
    noise : sd of a slice mean's noise.  seed : of points, noise and split.
    matching : "direct" (each slice has points and a mean) or "indirect" (one random half of the slices keeps its
        points, the other its means; heights are known of all).

    Source: Chau et al. 2021, §5.1.
    """

    points: int = 5000
    bags: int = 50
    noise: float = 0.05
    matching: str = "direct"
    seed: int = 0

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.matching not in MATCHINGS:
            raise InputError(f"The matching '{self.matching}' is unknown: choose direct or indirect.")
        fewest = 2 if self.matching == "direct" else 4
        if self.bags < fewest:
            raise InputError(f"{self.bags} bags were requested: {self.matching} matching needs at least {fewest}.")
        if self.points < self.bags:
            raise InputError(f"{self.points} points cannot fill {self.bags} bags: request more points or fewer bags.")
        if not 0 <= self.noise < np.inf:
            raise InputError(f"The noise is {self.noise}: give a number that is not negative.")

    def to_dict(self) -> dict[str, Any]:
        """Plain data, inverse of ``RollSpec(**…)``."""
        return asdict(self)


@dataclass(frozen=True)
class SwissRoll:
    """The roll: ``inputs`` (N, 3) and ``truth`` t (N,), both standardised; ``slice`` (N,) and ``heights`` (S,) of all
    slices; ``means`` (S,) their noisy mean t; ``data`` what a model sees; ``with_points`` and ``with_means`` (indices
    of slices) what is left of them after the split."""

    spec: RollSpec
    inputs: Float[Tensor, "N 3"]
    truth: Float[Tensor, " N"]
    slice: Int[Tensor, " N"]
    heights: Float[Tensor, " S"]
    means: Float[Tensor, " S"]
    data: IndirectData
    with_points: Int[Tensor, " B"]
    with_means: Int[Tensor, " M"]

    @property
    def points(self) -> Int[Tensor, " n"]:
        """Which of the ``inputs`` each row of the bags is."""
        return torch.nonzero(torch.isin(self.slice, self.with_points))[:, 0]


def make_swiss_roll(spec: RollSpec) -> SwissRoll:
    """Roll, slices, noisy means, and the split; deterministic in ``spec``. Source: Chau et al. 2021, §5.1."""
    from sklearn.datasets import make_swiss_roll as sample

    raw, along = sample(spec.points, random_state=spec.seed)
    inputs, truth = (raw - raw.mean(0)) / raw.std(0), (along - along.mean()) / along.std()
    edges = np.linspace(inputs[:, 2].min(), inputs[:, 2].max(), spec.bags + 1)
    number = np.clip(np.searchsorted(edges, inputs[:, 2], side="right") - 1, 0, spec.bags - 1)
    there, number = np.unique(number, return_inverse=True)
    rng = np.random.default_rng(spec.seed)
    noise = spec.noise * rng.standard_normal(spec.bags)[there]
    means = np.bincount(number, truth) / np.bincount(number) + noise
    heights = torch.as_tensor(0.5 * (edges[1:] + edges[:-1])[there])
    fine, slices = torch.as_tensor(inputs), torch.as_tensor(number)
    every = Bags(fine, slices, len(there))
    z, y = torch.as_tensor(means), heights[:, None]
    order = torch.as_tensor(rng.permutation(len(there)))
    if spec.matching == "direct":
        all_slices = torch.arange(len(there))
        first, second, data = all_slices, all_slices, IndirectData(every, y, y, z)
    else:
        half = len(there) // 2
        first, second = order[:half].sort().values, order[half:].sort().values
        data = IndirectData(every.subset(first), y[first], y[second], z[second])
    return SwissRoll(spec, fine, torch.as_tensor(truth), slices, heights, z, data, first, second)
