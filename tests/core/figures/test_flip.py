"""A flip book's bytes, read back as the browser reads them."""

import base64

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.fields.grids.grid import make_grid
from deconditioning.figures.colours import colour_scale
from deconditioning.figures.flip_book import LEVELS, coded, flip_book
from deconditioning.figures.map_panel import MapScale

SCALE = MapScale("t", "K", "sequential", -2.0, 2.0)


def grid(rows: int = 6, columns: int = 8):
    return make_grid("latlon", np.linspace(50, 55, rows), np.linspace(-4, 3, columns))


def test_bytes_are_values_to_half_a_level_from_north_to_south() -> None:
    frames = np.random.default_rng(0).uniform(-2, 2, (3, 6, 8))
    frames[1, 2, 3] = np.nan
    book = flip_book(frames, grid(), SCALE)
    read = np.frombuffer(base64.b64decode(book["frames"]), np.uint8).reshape(3, book["rows"], book["columns"])
    assert book["count"] == 3 and read[1, 6 - 1 - 2, 3] == 0 and (read == 0).sum() == 1
    values = -2 + 4 * (read[:, ::-1].astype(float) - 1) / LEVELS
    known = np.isfinite(frames)
    assert np.abs(values - frames)[known].max() <= 0.5 * 4 / LEVELS + 1e-9


def test_values_beyond_the_ends_take_their_colours_and_the_table_is_that_of_maps() -> None:
    assert coded(np.array([-9.0, -2.0, 2.0, 9.0, np.nan]), -2, 2).tolist() == [1, 1, 255, 255, 0]
    table = np.array(flip_book(np.zeros((1, 6, 8)), grid(), SCALE)["colours"]).reshape(256, 3)
    for byte, (_, text) in ((1, colour_scale("sequential", 255)[0]), (255, colour_scale("sequential", 255)[-1])):
        assert table[byte].tolist() == [int(text[at : at + 2], 16) for at in (1, 3, 5)]


def test_thinned_frames_and_a_coast_inside_the_picture() -> None:
    book = flip_book(np.zeros((2, 3, 4)), grid(), SCALE, stride=2)
    coast = np.concatenate([np.reshape(line, (-1, 2)) for line in book["coast"]])
    assert book["rows"] == 3 and len(coast) > 10 and coast.min() > -0.01 and coast.max() < 1.01
    with pytest.raises(InputError, match="frames"):
        flip_book(np.zeros((2, 3, 5)), grid(), SCALE, stride=2)
