"""Small pictures of runs: read back by another library and held against the values that they were made of."""

import io

import numpy as np
import pytest
from matplotlib import image
from matplotlib.colors import LinearSegmentedColormap

from deconditioning.errors import InputError
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.printed.thumbnail import CURVE, LONGEST, curve_thumbnail, field_thumbnail


def read(png: bytes) -> np.ndarray:
    return np.round(255 * image.imread(io.BytesIO(png))).astype(int)[..., :3]


def colour(share: float) -> list[int]:
    """By Matplotlib's own way through the scale's colours."""
    scale = LinearSegmentedColormap.from_list("", [(at, text) for at, text in colour_scale("sequential")], N=100_000)
    return [round(255 * part) for part in scale(share)[:3]]


def test_colours_tell_values_with_north_above() -> None:
    values = np.linspace(0, 1, 12).reshape(3, 4)
    values[0, 1] = np.nan
    picture = read(field_thumbnail(values, 0.0, 1.0))
    assert picture.shape == (3, 4, 3)
    for row, column in np.ndindex(3, 4):
        expected = [160] * 3 if (row, column) == (0, 1) else colour(values[row, column])
        assert np.abs(picture[2 - row, column] - expected).max() <= 3


def test_a_large_field_is_thinned_and_the_ends_are_its_own() -> None:
    values = np.random.default_rng(0).normal(size=(700, 350))
    picture = read(field_thumbnail(values))
    assert max(picture.shape[:2]) <= LONGEST and picture.shape[0] == 2 * picture.shape[1]
    low, high = np.quantile(values, [0.005, 0.995])
    assert np.abs(picture[-1, 0] - colour(float(np.clip((values[0, 0] - low) / (high - low), 0, 1)))).max() <= 3


def test_a_rising_curve_rises() -> None:
    picture = image.imread(io.BytesIO(curve_thumbnail([None, 0.0, 1.0, 4.0, float("nan"), 9.0])))
    ink = picture[..., 3] > 0.5
    assert 0.01 < ink.mean() < 0.2 and (picture[..., 3] == 0).mean() > 0.7  # a line, on a page of any colour
    assert picture.shape[:2] == CURVE[::-1]
    first, last = (np.flatnonzero(ink[:, column]).mean() for column in (8, CURVE[0] - 9))
    assert first > last + 30


@pytest.mark.parametrize("values", [[], [1.0], [None, 2.0]])
def test_nothing_to_draw_is_a_sentence(values: list) -> None:
    with pytest.raises(InputError, match="two values"):
        curve_thumbnail(values)
    with pytest.raises(InputError, match="no value"):
        field_thumbnail(np.full((3, 3), np.nan))
