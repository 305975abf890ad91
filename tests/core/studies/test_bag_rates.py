"""The deconditional mean operator from bags: moments against samples written out, the two estimates, exponents."""

import numpy as np
import pytest
import torch

from deconditioning.embeddings.deconditional import conditional_operator_of_moments
from deconditioning.errors import InputError
from deconditioning.studies.conditional_means.bag_rates import (
    ESTIMATES,
    BagSizeSpec,
    bag_means,
    bag_size_errors,
    exponents,
    moments_of,
)
from deconditioning.studies.conditional_means.circle import Circle, estimate_error


def test_the_standard_estimate_of_bags_is_that_of_their_pairs():
    """Every pair (x, y) written out, against means weighted by their sizes."""
    spec = BagSizeSpec(12, 5, unequal=True, seed=3)
    generator = torch.Generator().manual_seed(1)
    sizes = spec.sizes(generator)
    y = torch.rand(12, generator=generator, dtype=torch.float64)
    x = spec.circle.draw_x(y.repeat_interleave(sizes), generator)
    phi = spec.circle.waves(x) * spec.circle.input_scales
    psi = (spec.circle.waves(y) * spec.circle.mediator_scales).repeat_interleave(sizes, dim=0)
    total, lam = len(x), 0.01
    pairs = phi.T @ psi @ torch.linalg.inv(psi.T @ psi + total * lam * torch.eye(psi.shape[1]).double())
    means, mediators, found = bag_means(spec, torch.Generator().manual_seed(1))
    assert torch.equal(found, sizes)
    moments = moments_of(means, mediators, sizes / total)
    assert torch.allclose(conditional_operator_of_moments(moments.cross, moments.second, lam), pairs, atol=1e-10)


def test_equal_bags_have_one_estimate_unequal_ones_two():
    equal, apart = (bag_size_errors(BagSizeSpec(40, 6, unequal, 200, 2)) for unequal in (False, True))
    assert [row["model"] for row in equal] == list(ESTIMATES)
    assert equal[0]["scores"]["risk"] == pytest.approx(equal[1]["scores"]["risk"], rel=1e-9)
    assert apart[0]["scores"]["risk"] != pytest.approx(apart[1]["scores"]["risk"], rel=1e-3)


def test_unequal_sizes_have_their_mean():
    sizes = BagSizeSpec(20_000, 7, True).sizes(torch.Generator().manual_seed(0)).double()
    assert float(sizes.min()) == 1 and float(sizes.mean()) == pytest.approx(7, rel=0.03)


def test_exponents_are_those_of_a_power_law():
    rows = [
        {"model": "standard", "bags": b, "per_bag": n, "unequal": u, "scores": {"risk": 3 * b**-0.7 * n**-0.4}}
        for b in (10, 100) for n in (1, 5, 20) for u in (False, True) if n > 1 or not u
    ]  # fmt: skip
    assert exponents(rows, "standard", True) == pytest.approx((0.7, 0.4))


def test_the_damping_of_values_astray_is_the_share_that_is_not():
    """By the average of e(x) given y over many draws; the constant is not damped."""
    circle = Circle(2.0, 1.5, astray=0.3, most=4)
    y = torch.full((200_000,), 0.13).double()
    x = circle.draw_x(y, torch.Generator().manual_seed(0))
    assert torch.allclose(circle.waves(x).mean(0), circle.damping * circle.waves(y[:1])[0], atol=0.01)
    assert len(circle.damping) == 9 and circle.damping[0] == 1


def test_more_frequencies_than_the_regulariser_sees_change_nothing():
    """The same draws: risks with 65 and 257 features differ by less than a hundredth."""
    few, many = (
        estimate_error(Circle(2.0, 1.5, astray=0.5, most=k), 40, 4000, 1e-3, 1e-2, torch.Generator().manual_seed(4))
        for k in (32, 128)
    )
    assert few.risk == pytest.approx(many.risk, rel=0.01)


def test_no_bags_are_refused():
    for bags, per_bag in ((0, 3), (5, 0), (100_000, 1000)):
        with pytest.raises(InputError, match="at least one of each"):
            BagSizeSpec(bags, per_bag)
    assert np.isfinite(bag_size_errors(BagSizeSpec(1, 1, targets=3))[0]["scores"]["risk"])
