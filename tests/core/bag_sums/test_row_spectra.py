"""Bags with shapes of their own on a regular grid: sums by frequencies along rows, against every pair of pixels."""

import pytest
import torch

from deconditioning.bag_sums import offsets
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross, gram
from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.pixel_sums import Picture, picture_sums, term_sums
from deconditioning.bag_sums.region_sums import region_sums
from deconditioning.errors import never
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags

SHAPE, STEPS, BAGS = (23, 31), (0.03, -0.05), 25
PLACE = ("down", "across")
TERMS = {
    "rough": Term((Factor("powered_exponential", PLACE, (0.3,), {"alpha": 0.7}),), 1.3),
    "a lengthscale a column": Term((Factor("matern32", PLACE, (0.3, 0.8)),), 0.4),
}


def footprints(seed: int = 0) -> Picture:
    """Overlapping discs with random weights, cut at the grid's edges; a pixel is missing."""
    generator = torch.Generator().manual_seed(seed)
    row, column = torch.arange(SHAPE[0]).repeat_interleave(SHAPE[1]), torch.arange(SHAPE[1]).repeat(SHAPE[0])
    row, column = (torch.cat([each[:100], each[101:]]) for each in (row, column))
    cells = Cells(SHAPE, row, column)
    inputs = torch.stack([row.double() * STEPS[0], column.double() * STEPS[1]], dim=1)
    points, bag = [], []
    for number in range(BAGS):
        middle = torch.rand(2, generator=generator) * torch.tensor(SHAPE)
        radius = 4 + 3 * float(torch.rand(1, generator=generator))
        inside = torch.nonzero((row - middle[0]) ** 2 + (column - middle[1]) ** 2 <= radius**2)[:, 0]
        points.append(inside)
        bag.append(torch.full((len(inside),), number))
    which = torch.cat(points)
    weights = 0.1 + torch.rand(len(which), generator=generator).double()
    bags = Bags(inputs[which], torch.cat(bag), BAGS, weights=weights)
    return Picture(inputs, PLACE, bags, which, GridLayout(cells, STEPS, (0, 1)))


@pytest.mark.parametrize("term", TERMS)
def test_sums_are_those_of_every_pair(term: str) -> None:
    picture, kernel = footprints(), KernelSpec((TERMS[term],))
    assert picture.layout.convolution(kernel.build(PLACE), picture.bags, picture.points) is None, "not by patterns"
    bags, built = sort_bags(picture.bags), kernel.build(PLACE)
    with torch.no_grad():
        expected, between = cross(built, bags, picture.inputs), gram(built, bags)
    whole, regions = picture_sums(kernel, picture), region_sums(kernel, picture)
    apart = term_sums(TERMS[term], picture)
    assert whole.routes == apart.routes == ("block offsets",)
    every = slice(None)
    for found in (whole.cross.at(every), TERMS[term].scale * apart.cross.at(every)):
        assert torch.allclose(found, expected, rtol=0, atol=1e-12)
    for found in (whole.gram, TERMS[term].scale * apart.gram, regions.gram()):
        assert torch.allclose(found, between, rtol=0, atol=1e-12)
    some = slice(40, 333)  # begins and ends inside a row
    found, pairs = regions.at(picture.inputs[some], picture.layout.cells.at(some))
    assert pairs == 0 and torch.allclose(found, expected[:, some], rtol=0, atol=1e-12)


@pytest.mark.gpu
@pytest.mark.parametrize("term", TERMS)
def test_a_gpu_gives_the_same_sums(term: str) -> None:
    picture, kernel, there = footprints(), KernelSpec((TERMS[term],)), torch.device("cuda")
    moved = picture.to(there)
    whole, regions = picture_sums(kernel, moved), region_sums(kernel, moved)
    expected = picture_sums(kernel, picture)
    assert whole.routes == expected.routes and whole.gram.device.type == "cuda"
    every = slice(None)
    at, pairs = regions.at(moved.inputs, moved.layout.cells, never)
    for made in (whole.cross.at(every), at):
        assert pairs == 0 and torch.allclose(made.cpu(), expected.cross.at(every), rtol=0, atol=1e-11)
    for made in (whole.gram, regions.gram(never)):
        assert torch.allclose(made.cpu(), expected.gram, rtol=0, atol=1e-11)


def test_boxes_that_are_too_large_are_left_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    picture, kernel = footprints(), KernelSpec((TERMS["rough"],))
    for limit in ("_LARGEST_BY_ROWS", "_MOST_ENTRIES"):
        with monkeypatch.context() as patch:
            patch.setattr(offsets, limit, 40)
            assert picture.layout.windows(kernel.build(PLACE), picture.bags, picture.points) is None
