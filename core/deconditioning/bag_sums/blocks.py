"""Bags sorted and cut into blocks of consecutive bags, over which tiled sums run."""

from dataclasses import dataclass, replace
from functools import cached_property

import torch
from jaxtyping import Float
from torch import Tensor

from deconditioning.observations import Bags

#: Points of a block: a tile of a block with another, 800 kB in float64, stays in a core's cache through its passes.
_POINTS = 320
#: Most points of a bag, and how many times as many points as there are, where all bags are filled up to one size.
_MOST_EACH, _MOST_PADDING = 1_000, 1.5


@dataclass(frozen=True)
class Block:
    """Consecutive bags ``first … last-1`` whose points are rows ``start … stop-1`` of the sorted inputs."""

    first: int
    last: int
    start: int
    stop: int


@dataclass(frozen=True)
class EvenBags:
    """Bags with the same number k of points: ``points`` (B, k, d) less their mean, and ``weights`` (B, k), which are 0
    for points that only fill up a bag."""

    points: Float[Tensor, "B k d"]
    weights: Float[Tensor, "B k"]


@dataclass(frozen=True)
class SortedBags:
    """Bags with their points in bag order, cut into blocks of at most about ``points`` points."""

    bags: Bags
    order: Tensor
    blocks: tuple[Block, ...]

    @cached_property
    def even(self) -> EvenBags | None:
        """The bags filled up to the size of the largest; None if that is large, or needs many more points."""
        bags, inputs = self.bags, self.bags.inputs
        counts = torch.bincount(bags.bag, minlength=bags.count)
        most = int(counts.max())
        if most > _MOST_EACH or most * bags.count > _MOST_PADDING * len(inputs):
            return None
        place = torch.arange(len(inputs), device=inputs.device) - (counts.cumsum(0) - counts)[bags.bag]
        points = inputs.new_zeros(bags.count, most, inputs.shape[1])
        weights = inputs.new_zeros(bags.count, most)
        points[bags.bag, place], weights[bags.bag, place] = inputs - inputs.mean(0), bags.weights
        return EvenBags(points, weights)

    def membership(self, block: Block) -> Float[Tensor, "b n"]:
        """Aggregation weights of one block's bags over its points, dense (b, n)."""
        bag = self.bags.bag[block.start : block.stop] - block.first
        matrix = self.bags.inputs.new_zeros(block.last - block.first, block.stop - block.start)
        rows = torch.arange(len(bag), device=bag.device)
        matrix[bag, rows] = self.bags.weights[block.start : block.stop]
        return matrix

    def inputs(self, block: Block) -> Float[Tensor, "n d"]:
        """The block's points."""
        return self.bags.inputs[block.start : block.stop]


def sort_bags(bags: Bags, points: int = _POINTS) -> SortedBags:
    """Sort points by bag and cut them into blocks; a bag with more than ``points`` points is a block of its own."""
    order = torch.argsort(bags.bag, stable=True)
    sorted_bags = replace(bags, inputs=bags.inputs[order], bag=bags.bag[order], weights=bags.weights[order])
    counts = torch.bincount(sorted_bags.bag, minlength=bags.count).tolist()
    blocks: list[Block] = []
    first = start = stop = 0
    for index, count in enumerate(counts):
        if stop > start and stop - start + count > points:
            blocks.append(Block(first, index, start, stop))
            first, start = index, stop
        stop += count
    blocks.append(Block(first, bags.count, start, stop))
    return SortedBags(sorted_bags, order, tuple(blocks))
