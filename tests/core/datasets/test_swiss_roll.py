"""The swiss roll: its slices, its split, and the experiment on it."""

import numpy as np
import pytest
import torch

from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
from deconditioning.errors import InputError


def test_slices_have_equal_extent_unequal_sizes_and_hold_every_point():
    roll = make_swiss_roll(RollSpec())
    sizes = torch.bincount(roll.slice)
    assert len(sizes) == 50 and int(sizes.sum()) == 5000
    assert int(sizes.min()) < 40 and int(sizes.max()) > 250
    step = roll.heights.diff()
    assert torch.allclose(step, step[0].expand_as(step))
    inside = (roll.inputs[:, 2] - roll.heights[roll.slice]).abs()
    assert float(inside.max()) <= float(step[0]) / 2 + 1e-9
    assert torch.allclose(roll.inputs.std(0, unbiased=False), torch.ones(3).double())


def test_the_slice_means_are_means_with_the_asked_noise():
    quiet, loud = (make_swiss_roll(RollSpec(noise=noise)) for noise in (0.0, 0.5))
    means = [float(quiet.truth[quiet.slice == j].mean()) for j in range(50)]
    assert np.allclose(quiet.means, means, atol=1e-12)
    assert 0.35 < float((loud.means - quiet.means).std()) < 0.65


def test_unmatched_slices_have_either_points_or_a_mean():
    roll = make_swiss_roll(RollSpec(matching="indirect", seed=3))
    first, second = set(roll.with_points.tolist()), set(roll.with_means.tolist())
    assert not first & second and len(first | second) == 50 and not roll.data.matched
    assert torch.equal(roll.data.mediators[:, 0], roll.heights[roll.with_points])
    assert torch.equal(roll.data.targets, roll.means[roll.with_means])
    again = make_swiss_roll(RollSpec(matching="indirect", seed=3))
    assert torch.equal(again.data.targets, roll.data.targets)


@pytest.mark.parametrize(
    "wrong",
    [{"bags": 1}, {"bags": 3, "matching": "indirect"}, {"points": 10}, {"noise": -1.0}, {"matching": "none"}],
)
def test_what_cannot_be_cut_is_said(wrong):
    with pytest.raises(InputError):
        RollSpec(**wrong)
