"""Small pictures of runs: read back by another library and held against the values that they were made of."""

import io

import numpy as np
import pytest
from matplotlib import image

from deconditioning.errors import InputError
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.printed.thumbnail import CURVE, LONGEST, curve_thumbnail, field_thumbnail


def read(png: bytes) -> np.ndarray:
    return np.round(255 * image.imread(io.BytesIO(png))).astype(int)[..., :3]


def colour(share: float) -> list[int]:
    scale = colour_scale("sequential")
    text = scale[round(share * (len(scale) - 1))][1]
    return [int(text[at : at + 2], 16) for at in (1, 3, 5)]


def test_colours_tell_values_with_north_above() -> None:
    values = np.linspace(0, 1, 12).reshape(3, 4)
    values[0, 1] = np.nan
    picture = read(field_thumbnail(values, 0.0, 1.0))
    assert picture.shape == (3, 4, 3)
    for row, column in np.ndindex(3, 4):
        expected = [160] * 3 if (row, column) == (0, 1) else colour(values[row, column])
        assert picture[2 - row, column].tolist() == expected


def test_a_large_field_is_thinned_and_the_ends_are_its_own() -> None:
    values = np.random.default_rng(0).normal(size=(700, 350))
    picture = read(field_thumbnail(values))
    assert max(picture.shape[:2]) <= LONGEST and picture.shape[0] == 2 * picture.shape[1]
    assert picture[-1, 0].tolist() == colour(
        float(np.clip((values[0, 0] - (low := np.quantile(values[::5, ::5], 0.005)))
                      / (np.quantile(values[::5, ::5], 0.995) - low), 0, 1))
    )  # fmt: skip


def test_a_rising_curve_rises() -> None:
    picture = image.imread(io.BytesIO(curve_thumbnail([None, 0.0, 1.0, 4.0, float("nan"), 9.0])))
    ink = picture[..., 3] == 1
    assert 0.01 < ink.mean() < 0.2 and set(picture[..., 3].ravel()) == {0.0, 1.0}  # a line, on a page of any colour
    assert picture.shape[:2] == CURVE[::-1]
    first, last = (np.flatnonzero(ink[:, column]).mean() for column in (8, CURVE[0] - 9))
    assert first > last + 30


@pytest.mark.parametrize("values", [[], [1.0], [None, 2.0]])
def test_nothing_to_draw_is_a_sentence(values: list) -> None:
    with pytest.raises(InputError, match="two values"):
        curve_thumbnail(values)
    with pytest.raises(InputError, match="no value"):
        field_thumbnail(np.full((3, 3), np.nan))
