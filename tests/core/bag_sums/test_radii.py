"""K̄ from a table of distances against every pair of points, and its gradient against the one of all pairs."""

import pytest
import torch

from deconditioning.bag_sums import radii
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.moving import moving_gram
from deconditioning.bag_sums.pixel_sums import Picture
from deconditioning.bag_sums.radii import ERROR, RadialTable, tabulate
from deconditioning.bag_sums.routes import by_radii
from deconditioning.errors import Cancelled
from deconditioning.kernels.families.registry import FAMILIES
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags
from tests.core.bag_sums.test_routes import planet, written_out
from tests.core.kernels.test_kernels import grid_picture

ISOTROPIC = [name for name, family in FAMILIES.items() if family.isotropic]


def plane(missing: float = 0.0) -> Picture:
    """A grid in a plane, its cells 4×4."""
    return grid_picture(missing=missing)


def place_of(picture: Picture) -> tuple[str, ...]:
    """The columns of the place."""
    assert picture.layout is not None
    return tuple(picture.names[axis] for axis in picture.layout.axes)


def kernel_of(name: str, columns: tuple[str, ...], scale: float, own: dict[str, float] | None = None) -> KernelSpec:
    """One isotropic factor."""
    return KernelSpec((Term((Factor(name, columns, (scale,), own or {}),), 1.3),))


def moving(kernel: KernelSpec, picture: Picture, few: Bags | None = None):
    """K̄ by radii of a picture's bags."""
    return moving_gram(kernel, few or picture.bags, lambda: table_of(picture), picture.layout, picture.names)


def table_of(picture: Picture) -> RadialTable | None:
    """The distances of a picture's bags."""
    return tabulate(picture.bags, picture.layout, picture.points)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("make", [plane, planet])
def test_a_table_holds_every_pair_once_at_its_distance(make, missing):
    """A Gaussian of distance and a straight line of it, over the radii and over every pair of points."""
    picture = make(missing)
    table = tabulate(picture.bags, picture.layout, picture.points)
    assert len(table.table) < picture.bags.count * (picture.bags.count + 1) / 2 or missing
    place = picture.bags.inputs[:, list(picture.layout.axes)]
    spread = torch.zeros(len(place), picture.bags.count).double()
    spread[torch.arange(len(place)), picture.bags.bag] = picture.bags.weights
    distance = torch.cdist(place, place, compute_mode="donot_use_mm_for_euclid_dist")
    for function in (lambda d: torch.exp(-d.square()), lambda d: 1 - 0.1 * d):
        expected = spread.T @ function(distance) @ spread
        assert torch.allclose(table.gram(function(table.radii)), expected, atol=ERROR, rtol=0)
    assert torch.allclose(table.gram(torch.ones_like(table.radii)), torch.ones_like(expected), atol=1e-13)


@pytest.mark.parametrize("make", [plane, planet])
@pytest.mark.parametrize("name", ISOTROPIC)
def test_every_isotropic_family_is_within_the_bound_at_any_hyperparameters(name, make):
    picture = make(0.1)
    columns = place_of(picture)
    owns = [{}] + [{own.name: end} for own in FAMILIES[name].parameters for end in (own.low, own.high)]
    for scale in (0.02, 0.3, 2.0, 50.0):
        for own in owns:
            spec = kernel_of(name, columns, scale, own)
            with torch.no_grad():
                found = moving(spec, picture)(spec.build(picture.names))
            assert float((found - written_out(spec, picture)[1]).abs().max()) <= 1.3 * ERROR, (scale, own)


@pytest.mark.parametrize("make", [plane, planet])
@pytest.mark.parametrize("name", ISOTROPIC)
def test_the_gradient_is_that_of_all_pairs(name, make):
    picture = make()
    spec = kernel_of(name, place_of(picture), 0.7)
    weights = torch.randn(picture.bags.count, picture.bags.count, generator=torch.Generator().manual_seed(1)).double()
    found = []
    for take in (moving(spec, picture), lambda kernel: gram(kernel, sort_bags(picture.bags))):
        kernel = spec.build(picture.names)
        (weights * take(kernel)).sum().backward()
        found.append(torch.cat([p.grad.flatten() for p in kernel.parameters()]))
    assert len(found[0]) == 2 + len(FAMILIES[name].parameters)
    assert torch.allclose(found[0], found[1], atol=2e-6 * float(found[1].abs().max()))


def test_terms_of_other_columns_go_over_the_few_points():
    picture = planet()
    place = place_of(picture)
    spec = KernelSpec(
        (
            Term((Factor("matern32", place, (0.8,)),), 0.4),
            Term((Factor("rbf", ("c", "d"), (0.9, 1.1)),), 0.7),
            Term((Factor("rbf", place, (0.8,)), Factor("matern12", place, (0.3,))), 0.2),
        )
    )
    kernel = spec.build(picture.names)
    found = moving(spec, picture)
    assert found.tabulated == (True, False, True)
    assert torch.allclose(found(kernel), written_out(spec, picture)[1], atol=2 * ERROR)
    few = Bags(picture.bags.inputs + 0.1, picture.bags.bag, picture.bags.count, weights=picture.bags.weights)
    elsewhere, covariate = moving(spec, picture, few)(kernel), KernelSpec(spec.terms[1:2])
    moved = gram(covariate.build(picture.names), sort_bags(few)) - written_out(covariate, picture)[1]
    assert torch.allclose(elsewhere - found(kernel), moved, atol=1e-12)


@pytest.mark.parametrize(
    ("factors", "open_"),
    [
        ((Factor("matern12", ("x", "y", "z"), (1.0,)),), True),
        ((Factor("matern12", ("z", "x", "y"), (1.0,)), Factor("rbf", ("x", "y", "z"), (2.0,))), True),
        ((Factor("matern12", ("x", "y", "z"), (1.0, 1.0, 1.0)),), False),
        ((Factor("matern12", ("x", "y"), (1.0,)),), False),
        ((Factor("matern12", ("x", "y", "z", "c"), (1.0,)),), False),
        ((Factor("matern12", ("x", "y", "z"), (1.0,)), Factor("rbf", ("c",), (1.0,))), False),
        ((Factor("periodic", ("x", "y", "z"), (1.0,)),), False),
        ((Factor("linear", ("x", "y", "z"), (1.0,)),), False),
    ],
)
def test_only_what_stays_a_function_of_distance_goes_by_radii(factors, open_):
    picture = planet()
    assert by_radii(Term(factors, 1.0), picture.layout, picture.names) == open_
    assert not by_radii(Term(factors, 1.0), None, picture.names)
    assert (moving(KernelSpec((Term(factors, 1.0),)), picture) is not None) == open_


def test_a_table_too_large_is_none_and_a_cancel_is_heard(monkeypatch):
    picture = planet()

    def cancel():
        raise Cancelled

    with pytest.raises(Cancelled):
        tabulate(picture.bags, picture.layout, picture.points, cancel)
    monkeypatch.setattr(radii, "MOST_ENTRIES", 100)
    assert tabulate(picture.bags, picture.layout, picture.points) is None


@pytest.mark.parametrize("make", [planet, lambda: grid_picture(0.2)])
def test_what_is_told_too_large_early_is_so_in_the_end(monkeypatch, make):
    """Some groups span no more than all of them, so that a table is refused early only where it would be refused."""
    picture, seen = make(), []
    whole = radii._range
    monkeypatch.setattr(radii, "_range", lambda *given: seen.append(whole(*given)) or seen[-1])
    table = tabulate(picture.bags, picture.layout, picture.points)
    (near, far), (low, high) = seen
    assert low <= near and far <= high and 0 < near < far
    monkeypatch.setattr(radii, "MOST_ENTRIES", len(table.table) * radii._count(near, far) - 1)
    seen.clear()
    assert tabulate(picture.bags, picture.layout, picture.points) is None and len(seen) == 1


@pytest.mark.gpu
def test_cuda_gives_the_same_numbers():
    picture = planet()
    spec = kernel_of("matern32", place_of(picture), 0.7)
    there = moving(spec, picture.to(torch.device("cuda")))(spec.build(picture.names).cuda())
    assert torch.allclose(there.cpu(), moving(spec, picture)(spec.build(picture.names)), atol=1e-12)


def test_some_bags_are_those_among_all():
    picture = plane(0.2)
    kernel = kernel_of("matern12", place_of(picture), 0.7)
    whole = moving(kernel, picture)
    chosen = torch.tensor([5, 0, 3])
    few, built = whole.only(chosen), kernel.build(picture.names)
    assert torch.allclose(few(built), whole(built)[chosen][:, chosen], atol=1e-12)
    assert len(few.table.table) < len(whole.table.table)
