"""The fast routes to bag sums against every pair of points written out."""

from dataclasses import replace

import pytest
import torch

from deconditioning.bag_sums import pixel_sums
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.cross_sums import Product, Windowed, Written
from deconditioning.bag_sums.low_rank import choice
from deconditioning.bag_sums.low_rank.certified import BOUND, certify
from deconditioning.bag_sums.offsets import Cells, GridLayout
from deconditioning.bag_sums.pixel_sums import Picture, picture_sums, term_sums
from deconditioning.bag_sums.sphere import SphereLayout
from deconditioning.fields.grids.sphere import unit_vectors
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate
from deconditioning.observations import Bags
from tests.core.kernels.test_kernels import grid_picture, membership
from tests.core.models.small import normal

NAMES = ("x", "y", "z", "c", "d")
EVERY = slice(None)


def planet(missing: float = 0.0, height: int = 12, width: int = 20, block: int = 4) -> Picture:
    """A grid that goes round a sphere in blocks of 4×4, every other block a bag, some pixels missing."""
    latitude = torch.linspace(-80, 70, height).double() ** 1.0 + torch.linspace(0, 1, height).double() ** 2
    longitude = torch.arange(width).double() * (340 / width)
    grid = torch.as_tensor(unit_vectors(*(v.numpy() for v in torch.meshgrid(latitude, longitude, indexing="ij"))))
    row, column = (v.reshape(-1) for v in torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"))
    keep = torch.rand(len(row), generator=torch.Generator().manual_seed(1)) >= missing
    row, column = row[keep], column[keep]
    vectors = 1.7 * grid - 0.3
    inputs = torch.cat([vectors[row, column], normal(len(row), 2, seed=2)], dim=1)
    cell = (row // block) * (width // block) + column // block
    points = torch.nonzero(cell % 2 == 0)[:, 0]
    bag = cell[points] // 2
    bags = Bags(inputs[points], bag, int(bag.max()) + 1, weights=torch.cos(torch.deg2rad(latitude))[row[points]])
    return Picture(inputs, NAMES, bags, points, SphereLayout(Cells((height, width), row, column), vectors, (0, 1, 2)))


def written_out(kernel: KernelSpec, picture: Picture) -> tuple[torch.Tensor, torch.Tensor]:
    """c (B, P) and K̄ (B, B) from the dense kernel."""
    spread = membership(picture.bags)
    with torch.no_grad():
        dense = evaluate(kernel.build(picture.names), picture.bags.inputs, picture.inputs)
    return spread.T @ dense, spread.T @ dense[:, picture.points] @ spread


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(
    ("factors", "route"),
    [
        ((Factor("matern32", ("x", "y", "z"), (0.8,)),), "longitudes"),
        ((Factor("rbf", ("x", "y", "z"), (0.8, 0.8, 0.3)),), "longitudes"),
        ((Factor("matern12", ("z", "y", "x"), (0.5,)), Factor("rational_quadratic", ("z",), (0.9,))), "longitudes"),
        ((Factor("rbf", ("x", "y", "z"), (0.8, 0.7, 0.3)),), "direct summation"),
        ((Factor("matern32", ("x", "y"), (0.8,)), Factor("matern32", ("c",), (0.8,))), "direct summation"),
        ((Factor("periodic", ("x", "y", "z"), (0.8,)),), "direct summation"),
    ],
)
def test_longitudes_give_the_sums_written_out(factors, route, missing):
    picture, kernel = planet(missing), KernelSpec((Term(factors, 1.3),))
    found = picture_sums(kernel, picture)
    cross, gram = written_out(kernel, picture)
    assert found.routes == (route,)
    assert torch.allclose(found.cross.at(EVERY), cross, atol=1e-12)
    assert torch.allclose(found.gram, gram, atol=1e-12)


def test_a_whole_kernel_is_the_sum_of_its_terms():
    terms = (
        Term((Factor("matern32", ("x", "y", "z"), (0.8,)),), 0.4),
        Term((Factor("rbf", ("c",), (0.9,)),), 0.7),
        Term((Factor("matern52", ("c", "d"), (0.9,)),), 1.1),
    )
    picture, kernel = planet(0.1), KernelSpec(terms)
    found, parts = picture_sums(kernel, picture), [term_sums(term, picture) for term in terms]
    assert found.routes == ("longitudes", "Chebyshev interpolation", "direct summation")
    for of in (lambda sums: sums.cross.at(EVERY), lambda sums: sums.gram, lambda sums: sums.prior):
        expected = sum(term.scale * of(part) for term, part in zip(terms, parts, strict=True))
        assert torch.allclose(of(found), expected, atol=1e-12)


def even_picture() -> Picture:
    """A 30×24 grid of which every block of 3×3 is a bag, all weights alike."""
    height, width, block = 30, 24, 3
    row, column = (v.reshape(-1) for v in torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij"))
    inputs = torch.stack([0.1 * row.double(), 0.13 * column.double(), normal(len(row), seed=1)], dim=1)
    bags = Bags(inputs, (row // block) * (width // block) + column // block, len(row) // block**2)
    layout = GridLayout(Cells((height, width), row, column), (0.1, 0.13), (0, 1))
    return Picture(inputs, ("a", "b", "c"), bags, torch.arange(len(row)), layout)


@pytest.mark.parametrize(
    ("factors", "kept", "route"),
    [
        ((Factor("matern32", ("a", "b"), (0.8, 0.5)),), Windowed, "block offsets"),
        ((Factor("rbf", ("c",), (0.9,)),), Product, "Chebyshev interpolation"),
        ((Factor("matern52", ("c", "a"), (0.9,)),), Written, "direct summation"),
    ],
)
@pytest.mark.parametrize("even", [True, False])
def test_sums_that_are_not_written_out_are_the_same(factors, kept, route, even):
    picture, term = even_picture() if even else grid_picture(0.2), Term(factors, 1.3)
    found = term_sums(term, picture)
    cross, gram = written_out(KernelSpec((Term(factors),)), picture)
    assert found.routes == (route,)
    assert isinstance(found.cross, kept if even else Written)  # as many kinds or nodes as bags: nothing would be saved
    assert found.cross.nbytes <= cross.nbytes
    assert torch.allclose(found.gram, gram, atol=1e-12)
    dual, some = normal(len(cross), seed=8), torch.tensor([3, 0, len(cross[0]) - 1])
    assert torch.allclose(found.cross.across(dual), cross.T @ dual, atol=1e-11)
    assert torch.allclose(found.cross.at(slice(2, 9)), cross[:, 2:9], atol=1e-12)
    assert torch.allclose(found.cross.at(some), cross[:, some], atol=1e-12)
    assert torch.equal(found.prior, picture_sums(KernelSpec((Term(factors),)), picture).prior)


@pytest.mark.parametrize("tile", [1, 200, 5000])
def test_direct_sums_do_not_depend_on_the_tile(monkeypatch, tile):
    picture, kernel = grid_picture(0.1), KernelSpec((Term((Factor("matern52", ("c", "a"), (0.8,)),), 0.6),))
    monkeypatch.setattr(pixel_sums, "TILE", tile)
    monkeypatch.setattr(pixel_sums, "sort_bags", lambda bags: sort_bags(bags, 40))

    found = picture_sums(kernel, picture)
    cross, gram = written_out(kernel, picture)
    assert torch.allclose(found.cross.at(EVERY), cross, atol=1e-12) and torch.allclose(found.gram, gram, atol=1e-12)


SMOOTH = KernelSpec((Term((Factor("rbf", ("c", "d"), (2.0, 1.5)), Factor("rational_quadratic", ("z",), (3.0,)))),))


def test_the_bound_of_few_points_holds_for_every_pair():
    inputs = torch.cat([normal(600, 5, seed=3), 6 * normal(5, 5, seed=4)])  # far points that hardly any sample meets
    kernel = SMOOTH.build(NAMES)
    found = certify(kernel, inputs, 400)
    assert found is not None and found.rank < 400 and 0 <= found.error <= BOUND
    with torch.no_grad():
        features = found.features(inputs)
        error = (evaluate(kernel, inputs, inputs) - features.T @ features).abs()
        assert float(error.max()) <= found.error + 1e-13
    assert torch.equal(found.points, certify(kernel, inputs, 400).points)
    assert certify(kernel, inputs, 20) is None
    rough = KernelSpec((Term((Factor("rbf", ("c", "d"), (0.01,)),)),)).build(NAMES)
    assert certify(rough, inputs, 300) is None
    assert certify(kernel.float(), inputs.float(), 400) is None


def test_few_points_give_the_sums_written_out(monkeypatch):
    monkeypatch.setattr(pixel_sums, "FEW", 0)
    monkeypatch.setattr(choice, "_WORTH", 1e6)
    kernel = KernelSpec((replace(SMOOTH.terms[0], scale=0.7),))
    picture = planet(0.1)
    found = picture_sums(kernel, picture)
    cross, gram = written_out(kernel, picture)
    assert found.routes == ("few points, error below 1e-10",)
    assert torch.allclose(found.cross.at(EVERY), cross, atol=2e-10) and torch.allclose(found.gram, gram, atol=2e-10)


FUSED = [
    (Term((Factor("rbf", ("x", "c"), (0.7, 1.3)),), 1.7),),
    (Term((Factor("matern32", ("x", "y"), (0.7,)), Factor("rbf", ("c",), (1.3,)), Factor("rbf", ("d",), (0.9,)))),),
    (
        Term((Factor("matern52", ("x",), (0.7,)), Factor("matern32", ("y",), (0.6,))), 0.3),
        Term((Factor("rbf", ("c",), (1.0,)),), 0.5),
    ),
    (Term((Factor("rational_quadratic", ("x", "y"), (0.7,), {"alpha": 1.3}),), 2.0),),
    (Term((Factor("matern12", ("x", "y"), (0.7,)),), 2.0),),
    (Term((Factor("mixed_matern", ("x", "y"), (0.7,), {"mixture": 0.6}), Factor("matern52", ("c",), (0.9,))), 2.0),),
    (Term((Factor("powered_exponential", ("x",), (0.7,), {"alpha": 0.6}), Factor("rbf", ("c",), (0.9,))), 2.0),),
    (Term((Factor("linear", ("x",), (0.7,)), Factor("periodic", ("y",), (0.7,), {"period": 1.1}))),),
]


@pytest.mark.parametrize("terms", FUSED)
def test_fused_tiles_are_the_kernel(terms):
    kernel = KernelSpec(terms).build(NAMES)
    left, right = normal(40, 5, seed=5) + 100, normal(90, 5, seed=6) + 100
    right[:40] = left
    with torch.no_grad():
        expected = evaluate(kernel, left, right)
    exact, rough = Tiles(kernel, left, right), Tiles(kernel, left, right, torch.float32)
    assert torch.allclose(exact(EVERY, EVERY), expected, rtol=0, atol=1e-11)
    assert torch.allclose(exact(slice(3, 9), slice(20, 70)), expected[3:9, 20:70], rtol=0, atol=1e-11)
    assert torch.allclose(rough(EVERY, EVERY).double(), expected, rtol=1e-4, atol=1e-4)
    assert rough(EVERY, EVERY).dtype == torch.float32


@pytest.mark.gpu
@pytest.mark.parametrize("make", [planet, grid_picture])
def test_routes_give_the_same_on_a_gpu(make, monkeypatch):
    monkeypatch.setattr(pixel_sums, "FEW", 0)
    monkeypatch.setattr(choice, "_WORTH", 1e6)
    picture = make(0.1)
    first, last = picture.names[:2], picture.names[-1]
    terms = (
        Term((Factor("matern32", (*first, *picture.names[2:3]) if make is planet else first, (0.8,)),), 0.4),
        Term((Factor("rbf", (last, first[0]), (2.0,)),)),
        Term((Factor("matern52", (last,), (0.9,)),), 1.1),
    )
    here, there = (picture_sums(KernelSpec(terms), picture.to(torch.device(name))) for name in ("cpu", "cuda"))
    assert here.routes == there.routes
    assert torch.allclose(here.cross.at(EVERY), there.cross.at(EVERY).cpu(), atol=1e-9)
    assert torch.allclose(here.gram, there.gram.cpu(), atol=1e-9)
