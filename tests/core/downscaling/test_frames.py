"""Pictures along one slider between those that were computed: against the previews themselves, and in closed form."""

from collections.abc import Callable

import numpy as np
import pytest

from deconditioning.downscaling.frames import TOLERANCE, Family, family, sampled


def waves(t: float) -> np.ndarray:
    """Pictures that no few bases hold exactly; one pixel is missing."""
    x = np.linspace(0, 1, 50)
    return np.where(x == x[7], np.nan, np.sin(3 * x * (1 + 0.4 * t)) + 0.1 * t)


def along(picture: Callable[[float], np.ndarray], low: float, high: float, around: float = 0.0) -> tuple[Family, int]:
    """The family of a picture of one part, and how many were computed."""
    ((places, values),) = sampled(lambda t: [lambda: picture(t)], low, high)
    return family(places, values, around), len(places)


def test_a_family_holds_between_its_pictures_and_keeps_what_is_missing() -> None:
    found, count = along(waves, -1, 1)
    assert found.error <= TOLERANCE and count <= 13 and (found.low, found.high) == (-1, 1)
    for t in np.random.default_rng(0).uniform(-1, 1, 40):
        shown = found.at(t)
        assert np.isnan(shown[7]) and np.nanmax(np.abs(shown - waves(t))) < TOLERANCE
    np.testing.assert_array_equal(found.at(5.0), found.at(1.0))


def test_pictures_on_a_line_need_one_basis_and_seven_of_them() -> None:
    found, count = along(lambda t: np.arange(9.0) + t * np.arange(9.0)[::-1], 0, 2, 1)
    assert found.bases.shape == (1, 9) and count == 7
    np.testing.assert_allclose(found.at(0.37), np.arange(9.0) + 0.37 * np.arange(9.0)[::-1], atol=1e-5)


def test_a_picture_that_does_not_move_needs_no_basis() -> None:
    found, _ = along(lambda t: np.array([1.0, 2, 3]), 0, 1)
    assert found.bases.shape[0] == 0
    np.testing.assert_allclose(found.at(0.5), [1, 2, 3])


def leaping(t: float) -> np.ndarray:
    """Smooth but for a jump."""
    return np.array([float(t > 0.413), np.sin(t)])


@pytest.mark.parametrize("around", [-0.6, 0.0, 0.2])
def test_its_range_ends_before_a_jump(around: float) -> None:
    found, count = along(leaping, -1, 1, around)
    assert count == 25 and found.error <= TOLERANCE
    assert found.low <= around <= found.high <= 0.413
    for t in np.linspace(found.low, found.high, 30):
        np.testing.assert_allclose(found.at(t), leaping(t), atol=TOLERANCE)


def test_beyond_a_jump_it_begins_after_it() -> None:
    found, _ = along(leaping, -1, 1, 0.9)
    assert found.low >= 0.413 or found.error > TOLERANCE


def test_a_part_that_jumps_asks_for_a_dozen_and_the_first_for_what_it_needs() -> None:
    calls: list[float] = []

    def costly(t: float) -> np.ndarray:
        calls.append(t)
        return leaping(t)

    first, second = sampled(lambda t: [lambda: np.array([np.sin(12 * t)]), lambda: costly(t)], -1, 1)
    assert first[1].shape == (25, 1) and second[1].shape == (13, 2) and len(calls) == 13
    np.testing.assert_allclose(second[1], [leaping(t) for t in second[0]], rtol=1e-6)


def test_it_stops_where_it_is_told_to() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sampled(lambda t: [lambda: waves(t)], 0, 1, check=check)
