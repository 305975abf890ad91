"""Every family against what it says of itself, and through every route that takes it for that."""

import math

import pytest
import torch

from deconditioning.bag_sums import pixel_sums
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.chebyshev import interpolate_kernel
from deconditioning.bag_sums.cross_sums import Product
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.gradients import in_one_pass
from deconditioning.bag_sums.line_sums import sort_line, sorted_cross, sorted_gram
from deconditioning.bag_sums.low_rank import choice
from deconditioning.bag_sums.moving import over_pairs
from deconditioning.bag_sums.pixel_sums import is_cheap, picture_sums, term_sums
from deconditioning.bag_sums.region_sums import region_sums
from deconditioning.errors import InputError
from deconditioning.kernels.families.registry import FAMILIES, family_of
from deconditioning.kernels.fused import Tiles
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.kernels.tiles import evaluate, features_of
from deconditioning.models.learning.parameters import ParameterVector, kernel_parameters
from tests.core.bag_sums.test_routes import planet, written_out
from tests.core.kernels.test_kernels import grid_picture, membership
from tests.core.models.small import assert_gradient, dense, normal, problem

NAMES = ("a", "b", "c")
EVERY = slice(None)


def declared(what: str) -> list[str]:
    """Families that say so of themselves; a test over none of them would be no test."""
    found = [name for name, family in FAMILIES.items() if getattr(family, what)]
    assert found
    return found


def kernel_of(name: str, columns: tuple[str, ...], scale: float = 0.8) -> KernelSpec:
    """One factor of that family, its own parameters away from their defaults but inside their bounds."""
    own = {each.name: min(max(0.8 * each.default, each.low), each.high) for each in FAMILIES[name].parameters}
    return KernelSpec((Term((Factor(name, columns, () if FAMILIES[name].without_scales else (scale,), own),), 1.3),))


def values(spec: KernelSpec, left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """The kernel matrix of inputs with the columns a, b, c."""
    with torch.no_grad():
        return evaluate(spec.build(NAMES), left, right)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_its_closed_formula_and_positive_definite(name):
    spec, points = kernel_of(name, ("a", "c")), normal(40, 3, seed=1)
    found = values(spec, points, points)
    assert torch.allclose(found[:9, :9], dense(spec, NAMES, points[:9], points[:9]), atol=1e-12)
    assert float(torch.linalg.eigvalsh(found).min()) > -1e-10


@pytest.mark.parametrize("name", FAMILIES)
def test_stationary_and_isotropic_are_what_is_said(name):
    spec, (left, right) = kernel_of(name, NAMES), (normal(6, 3, seed=1), normal(5, 3, seed=2))
    turn = torch.linalg.qr(normal(3, 3, seed=3))[0]
    found = values(spec, left, right)
    assert torch.allclose(values(spec, left + 0.7, right + 0.7), found, atol=1e-12) is FAMILIES[name].stationary
    if FAMILIES[name].isotropic:
        assert torch.allclose(values(spec, left @ turn, right @ turn), found, atol=1e-12)
        assert values(spec, left, left).diagonal() == pytest.approx(1.3)
    assert FAMILIES[name].stationary or not FAMILIES[name].isotropic


def nodes_for(name: str) -> object:
    """The interpolation of a family on one column, None where 512 nodes do not reach the tolerance."""
    kernel = kernel_of(name, ("x",)).build(("x",))
    with torch.no_grad():
        return interpolate_kernel(lambda left, right: evaluate(kernel, left, right), normal(200, seed=4))


@pytest.mark.parametrize("name", declared("smooth"))
def test_few_nodes_are_enough_for_what_is_smooth(name):
    assert nodes_for(name) is not None


@pytest.mark.parametrize("name", [name for name, f in FAMILIES.items() if not f.smooth and (f.order or 0) < 2])
def test_they_are_not_for_what_is_rough(name):
    assert nodes_for(name) is None


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.without_scales])
def test_gradients_of_bag_sums_are_central_differences(name):
    spec, bags = kernel_of(name, ("a", "c")), problem().bags
    kernel, weight = spec.build(NAMES), normal(5, 5, seed=4)
    vector = ParameterVector(tuple(kernel_parameters("k", spec, kernel)))
    assert_gradient(lambda: (gram(kernel, sort_bags(bags, 8)) * weight).sum(), vector, absolute=1e-7)
    assert in_one_pass(kernel) is (FAMILIES[name].isotropic or name == "linear")
    learned = [own.name for own in FAMILIES[name].parameters if own.learned]
    assert all(f"k1 {own} [a+c]" in vector.names for own in learned)
    assert spec.updated(kernel).terms[0].factors[0].numbers == pytest.approx(spec.terms[0].factors[0].numbers)


@pytest.mark.parametrize("name", FAMILIES)
def test_bag_sums_of_any_picture_are_those_written_out(name, monkeypatch):
    monkeypatch.setattr(pixel_sums, "FEW", 0)
    monkeypatch.setattr(choice, "_WORTH", 1e6)
    family = FAMILIES[name]
    few = "features" if family.degenerate else None
    for columns, picture, route in (
        (("a", "b"), grid_picture(0.1), few or ("block offsets" if family.stationary else None)),
        (("x", "y", "z"), planet(0.1), few or ("longitudes" if family.isotropic else None)),
        (("c",), grid_picture(0.1), few or ("Chebyshev interpolation" if family.smooth else "direct summation")),
        (("c", "a"), grid_picture(0.1), few or (None if family.smooth else "direct summation")),
    ):
        spec = kernel_of(name, columns, 1.5)
        found, (cross, bag_gram) = picture_sums(spec, picture), written_out(spec, picture)
        assert torch.allclose(found.cross.at(EVERY), cross, atol=1e-9), found.routes
        assert torch.allclose(found.gram, bag_gram, atol=1e-9), found.routes
        assert found.routes == (route,) if route else found.routes[0] not in ("block offsets", "longitudes")


@pytest.mark.parametrize("name", declared("degenerate"))
def test_features_are_all_of_a_degenerate_kernel_and_sums_keep_to_them(name):
    spec, picture = kernel_of(name, ("a", "c"), 0.8), grid_picture(0.1)
    kernel, scale = spec.build(NAMES), spec.terms[0].scale
    assert scale == (1.0 if FAMILIES[name].slopes_for_scales else 1.3)
    for left, right in ((normal(6, 3, seed=1), normal(5, 3, seed=2)), (normal(1, 3, seed=3), normal(0, 3, seed=4))):
        found = features_of(kernel.kernels[0], left) @ features_of(kernel.kernels[0], right).T
        assert torch.allclose(scale * found, values(spec, left, right), atol=1e-14)
    cross, bag_gram = written_out(spec, picture)
    apart, region = term_sums(spec.terms[0], picture), region_sums(spec, picture)
    assert torch.allclose(scale * apart.cross.at(EVERY), cross) and torch.allclose(scale * apart.gram, bag_gram)
    assert isinstance(apart.cross, Product) and is_cheap(spec.terms[0], picture)
    found, fallen = region.at(picture.inputs)
    assert fallen == 0 and torch.allclose(found, cross) and torch.allclose(region.gram(), bag_gram)


def test_slopes_of_several_columns_are_learned_apart_and_not_their_scale():
    spec = KernelSpec((Term((Factor("linear", ("a", "c"), (0.8, 2.0)),)), Term((Factor("constant", ("a",), ()),), 1.3)))
    kernel, bags = spec.build(NAMES), problem().bags
    vector = ParameterVector(tuple(kernel_parameters("k", spec, kernel)))
    assert vector.names == ("k1 slope variance [a]", "k1 slope variance [c]")
    together = KernelSpec((Term((Factor("constant", ("a",), ()), Factor("rbf", ("c",), (1.0,)))),))
    assert "k1 variance" in ParameterVector(tuple(kernel_parameters("k", together, together.build(NAMES)))).names
    weight = normal(5, 5, seed=4)
    assert_gradient(lambda: (over_pairs(bags)(kernel) * weight).sum(), vector, absolute=1e-7)
    with torch.no_grad():
        assert torch.allclose(over_pairs(bags)(kernel), gram(kernel, sort_bags(bags)), atol=1e-13)
    vector.set(vector.get() + 0.5)
    learned = spec.updated(kernel)
    assert learned.terms[0].factors[0].lengthscales == pytest.approx((0.8 * math.exp(-0.25), 2.0 * math.exp(-0.25)))
    assert learned.terms[1] == spec.terms[1]


def test_the_scale_of_straight_lines_is_in_their_slopes():
    lines = Term((Factor("linear", ("a", "c"), (1.0, 0.5)),), 4.0)
    assert lines.scale == 1 and lines.factors[0].lengthscales == (0.5, 0.25)
    assert lines.variance == pytest.approx(4 + 16) and KernelSpec(
        (lines, *kernel_of("rbf", ("a",)).terms)
    ).variance == pytest.approx(21.3)
    curved = Factor("rbf", ("b",), (2.0,))
    both, points = KernelSpec((Term((Factor("linear", ("a",), (1.0,)), curved), 4.0),)), normal(5, 3, seed=1)
    apart = [
        values(KernelSpec((Term((factor,)),)), points, points) for factor in (Factor("linear", ("a",), (1.0,)), curved)
    ]
    assert torch.allclose(values(both, points, points), 4 * apart[0] * apart[1])
    assert KernelSpec.from_dict(both.to_dict()) == both


def test_tiles_of_a_sum_are_those_of_its_terms():
    spec = KernelSpec((*kernel_of("matern32", ("a", "b")).terms, *kernel_of("linear", ("c",)).terms,
                       *kernel_of("rbf", ("c",)).terms, *kernel_of("constant", ("a",)).terms))  # fmt: skip
    left, right = normal(7, 3, seed=1), normal(6, 3, seed=2)
    tiles = Tiles(spec.build(NAMES), left, right)
    for rows, columns in ((EVERY, EVERY), (slice(2, 5), slice(1, 4)), (EVERY, EVERY)):
        assert torch.allclose(tiles(rows, columns), dense(spec, NAMES, left[rows], right[columns]), atol=1e-12)


@pytest.mark.parametrize("name", FAMILIES)
def test_fused_tiles_are_the_kernel_far_from_the_origin_too(name):
    kernel = kernel_of(name, NAMES).build(NAMES)
    left, right = normal(40, 3, seed=5), normal(60, 3, seed=6)
    right[:9] = left[:9]
    for away in (0.0, 30.0):
        with torch.no_grad():
            expected = evaluate(kernel, left + away, right + away)
        exact, rough = (Tiles(kernel, left + away, right + away, kind) for kind in (torch.float64, torch.float32))
        assert torch.allclose(exact(EVERY, EVERY), expected, rtol=1e-12, atol=1e-11)
        assert torch.allclose(rough(EVERY, EVERY).double(), expected, rtol=1e-3, atol=1e-3)


def decaying() -> list[str]:
    """Families that say that they are a polynomial times an exponential."""
    factors = [kernel_of(name, ("x",)).terms[0].factors[0] for name in FAMILIES]
    found = [factor.family for factor in factors if factor.kind.decay(factor) is not None]
    assert {"matern12", "matern32", "matern52", "mixed_matern"} <= set(found)
    return found


@pytest.mark.parametrize("name", decaying())
def test_sums_along_a_line_are_those_written_out(name):
    factor = kernel_of(name, ("x",)).terms[0].factors[0]
    decay, bags = factor.kind.decay(factor), problem().bags
    x, points = bags.inputs[:, 0].contiguous(), normal(7, seed=3)
    line, spec = sort_line(x, bags.bag, bags.weights, bags.count), KernelSpec((Term((factor,)),))
    across = membership(bags).T @ dense(spec, ("x",), x[:, None], points[:, None])
    among = membership(bags).T @ dense(spec, ("x",), x[:, None], x[:, None]) @ membership(bags)
    assert torch.allclose(sorted_cross(line, decay, points), across, atol=1e-13)
    assert torch.allclose(sorted_gram(line, decay), among, atol=1e-13)


@pytest.mark.parametrize("name", declared("stationary"))
def test_frequencies_have_the_kernel_as_their_mean_cosine(name):
    spec, points = kernel_of(name, ("a", "c")), normal(12, 3, seed=7)
    factor = spec.terms[0].factors[0]
    omega = factor.kind.frequencies(factor, (200_000, 2), torch.Generator().manual_seed(0))
    found = torch.cos((points[:, None] - points)[:, :, [0, 2]] @ omega.T).mean(2)
    assert float((found - values(spec, points, points) / 1.3).abs().max()) < 5.5 / math.sqrt(2 * 200_000)


def test_the_new_families_meet_those_between_which_they_lie():
    at = torch.linspace(0, 4, 9).double()[:, None]

    def along(name: str, scale: float, **own: float) -> torch.Tensor:
        with torch.no_grad():
            return evaluate(KernelSpec((Term((Factor(name, ("x",), (scale,), own),)),)).build(("x",)), at[:1], at)

    assert torch.allclose(along("powered_exponential", 0.7, alpha=1.0), along("matern12", 0.7), atol=1e-15)
    assert torch.allclose(along("powered_exponential", 0.7, alpha=2.0), along("rbf", 0.7 / math.sqrt(2)), atol=1e-15)
    assert torch.allclose(along("mixed_matern", 0.7, mixture=1.0), along("matern52", 0.7 * math.sqrt(5)), atol=1e-15)
    assert torch.allclose(along("mixed_matern", 0.7, mixture=1e-9), along("matern12", 0.7), atol=1e-8)


def test_an_unknown_family_is_named():
    with pytest.raises(InputError, match=r"'nonsense' is unknown: choose one of .*rbf"):
        family_of("nonsense")
