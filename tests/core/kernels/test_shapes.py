"""Shapes are really checked where `make test` says so."""

import pytest
import torch
from jaxtyping import TypeCheckError

from deconditioning.kernels.families.radial import distances
from tests.shapes import CHECKED


def test_a_wrong_shape_and_a_wrong_kind_of_number_are_found(pytestconfig):
    if pytestconfig.getoption("part") != "tensors":
        pytest.skip("shapes are checked in the part of tensors alone: pytest --part tensors")
    points = torch.zeros(3, 2)
    assert distances(points, points).shape == (3, 3)
    with pytest.raises(TypeCheckError, match="'m c'"):
        distances(points, torch.zeros(4, 3))
    with pytest.raises(TypeCheckError, match="'n c'"):
        distances(points.long(), points)
    for _ in range(2 * CHECKED):  # what was right as often as is checked is not looked at again; what differs is
        distances(points, points)
    with pytest.raises(TypeCheckError, match="'m c'"):
        distances(points, torch.zeros(3, 3))
    with pytest.raises(TypeCheckError):
        distances(points, points.long())


def test_where_wrong_shapes_are_given_on_purpose_nothing_is_checked(unchecked):
    with pytest.raises(RuntimeError):
        distances(torch.zeros(3, 2), torch.zeros(4, 3))
