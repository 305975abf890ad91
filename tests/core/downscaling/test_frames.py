"""Pictures along one slider between those that were computed: against the previews themselves, and in closed form."""

import numpy as np
import pytest

from deconditioning.downscaling.frames import TOLERANCE, family


def waves(t: float) -> np.ndarray:
    """Pictures that no few bases hold exactly; one pixel is missing."""
    x = np.linspace(0, 1, 50)
    return np.where(x == x[7], np.nan, np.sin(3 * x * (1 + 0.4 * t)) + 0.1 * t)


def test_a_family_holds_between_its_pictures_and_keeps_what_is_missing() -> None:
    found = family(waves, -1, 1)
    assert found.error <= TOLERANCE and found.pictures <= 13
    for t in np.random.default_rng(0).uniform(-1, 1, 40):
        shown = found.at(t)
        assert np.isnan(shown[7]) and np.nanmax(np.abs(shown - waves(t))) < TOLERANCE
    np.testing.assert_array_equal(found.at(5.0), found.at(1.0))


def test_pictures_on_a_line_need_one_basis_and_seven_of_them() -> None:
    found = family(lambda t: np.arange(9.0) + t * np.arange(9.0)[::-1], 0, 2)
    assert found.bases.shape == (1, 9) and found.pictures == 7
    np.testing.assert_allclose(found.at(0.37), np.arange(9.0) + 0.37 * np.arange(9.0)[::-1], atol=1e-5)


def test_a_picture_that_does_not_move_needs_no_basis() -> None:
    found = family(lambda t: np.array([1.0, 2, 3]), 0, 1)
    assert found.bases.shape[0] == 0
    np.testing.assert_allclose(found.at(0.5), [1, 2, 3])


def test_steps_are_halved_until_it_holds_and_the_end_is_told() -> None:
    calls: list[float] = []

    def jump(t: float) -> np.ndarray:
        calls.append(t)
        return np.array([float(t > 0.013), t])

    found = family(jump, -1, 1)
    assert found.error > TOLERANCE and found.pictures == len(calls) == 25


def test_it_stops_where_it_is_told_to() -> None:
    def check() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        family(waves, 0, 1, check=check)
