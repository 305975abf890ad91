"""Bag sums at the pixels of a region against every pair of points, with inputs the bags' picture never had."""

import pytest
import torch

from deconditioning.bag_sums import region_sums
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross
from deconditioning.bag_sums.direct import gram as gram_of_pairs
from deconditioning.bag_sums.low_rank import choice
from deconditioning.bag_sums.offsets import Cells
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from tests.core.bag_sums.test_routes import planet
from tests.core.kernels.test_kernels import grid_picture

SPHERE = KernelSpec((
    Term((Factor("matern32", ("x", "y", "z"), (0.8,)),), 0.4),
    Term((Factor("rbf", ("c", "d"), (2.0, 1.5)),), 0.7),
    Term((Factor("matern52", ("c",), (0.9,)),), 0.3),
))  # fmt: skip
PLANE = KernelSpec((
    Term((Factor("matern52", ("a",), (0.5,)), Factor("rbf", ("b",), (0.4,))), 1.2),
    Term((Factor("rational_quadratic", ("c",), (2.0,)),), 0.7),
))  # fmt: skip
REGIONS = [(slice(0, 12), slice(0, 18)), (slice(3, 5), slice(2, 9)), (slice(11, 12), slice(17, 18))]


@pytest.fixture(autouse=True)
def few_points_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(region_sums, "FEW", 0)
    monkeypatch.setattr(choice, "_WORTH", 1e6)


def later(picture: Picture, window: tuple[slice, slice], covariates: int) -> tuple[torch.Tensor, Cells]:
    """The cells of a window, whole, with covariates of their own; the first pixel's lie far outside the others'."""
    layout, (height, width) = picture.layout, picture.layout.cells.shape
    row, column = (
        v[window].reshape(-1) for v in torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    )
    if hasattr(layout, "vectors"):
        place = layout.vectors[row, column]
    else:
        place = torch.stack([0.1 * row.double(), 0.13 * column.double()], dim=1)
    generator = torch.Generator().manual_seed(5)
    values = torch.randn(len(row), covariates, generator=generator, dtype=torch.float64)
    values[0] = 9.0
    return torch.cat([place, values], dim=1), Cells((height, width), row, column)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("window", REGIONS)
@pytest.mark.parametrize("kernel", [SPHERE, PLANE])
def test_a_regions_sums_are_those_of_every_pair(kernel, window, missing):
    picture = planet(missing) if kernel is SPHERE else grid_picture(missing)
    made = region_sums.region_sums(kernel, picture)
    assert [len(made.placed), len(made.few), len(made.direct)] == [1, 1, 1 if kernel is SPHERE else 0]
    inputs, cells = later(picture, window, 2 if kernel is SPHERE else 1)
    with torch.no_grad():
        expected = cross(kernel.build(picture.names), sort_bags(picture.bags), inputs)
    found, directly = made.at(inputs, cells)
    assert 1 <= directly <= max(1, len(inputs) // 3), "the far pixel is summed directly, most are not"
    assert float((found - expected).abs().max()) < 1e-9
    # without their cells, or with those of other pixels, the place is summed directly too
    for other in (None, Cells(cells.shape, (cells.row + 1) % cells.shape[0], cells.column)):
        found, directly = made.at(inputs, other)
        assert directly == len(inputs) and float((found - expected).abs().max()) < 1e-9


@pytest.mark.parametrize("kernel", [SPHERE, PLANE])
def test_the_bags_own_sums_are_those_of_every_pair(kernel):
    picture = planet(0.1) if kernel is SPHERE else grid_picture(0.1)
    with torch.no_grad():
        expected = gram_of_pairs(kernel.build(picture.names), sort_bags(picture.bags))
    assert float((region_sums.region_sums(kernel, picture).gram() - expected).abs().max()) < 1e-9


def test_the_cost_of_a_place_is_that_of_the_regions_rows(monkeypatch):
    picture, seen = planet(), []
    made = region_sums.region_sums(KernelSpec(SPHERE.terms[:1]), picture)
    inputs, cells = later(picture, (slice(4, 6), slice(0, 3)), 2)
    from deconditioning.bag_sums import sphere

    class Counted(sphere.Tiles):
        def __init__(self, kernel, left, right):
            seen.append(len(left) * len(right))
            super().__init__(kernel, left, right)

    monkeypatch.setattr(sphere, "Tiles", Counted)
    made.at(inputs, cells)
    assert sum(seen) == 12 * 2 * 20, "the bags' rows × the region's rows × offsets of longitude"
