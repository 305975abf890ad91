"""Coastlines: the finer they are, the shorter the way from a known place on the shore."""

import numpy as np
import pytest

from deconditioning.figures.coast import coast_lines, resolution_for

#: Places on the shore: longitude, latitude (degrees): South Stack, Land's End, Cape Agulhas, Cabo da Roca.
SHORE = [(-4.699, 53.307), (-5.716, 50.066), (20.002, -34.833), (-9.500, 38.781)]


def distance_km(place: tuple[float, float], lines: tuple[np.ndarray, ...]) -> float:
    """To the nearest vertex or middle of a segment."""
    points = np.concatenate([np.concatenate([line, (line[1:] + line[:-1]) / 2]) for line in lines])
    east = (points[:, 0] - place[0]) * np.cos(np.deg2rad(place[1]))
    return float(111.2 * np.hypot(east, points[:, 1] - place[1]).min())


@pytest.mark.parametrize("place", SHORE)
def test_lines_of_a_kilometre_pass_near_known_places_on_the_shore(place: tuple[float, float]) -> None:
    assert distance_km(place, coast_lines("1km")) < 3


def test_lines_stay_on_the_globe_and_do_not_jump() -> None:
    lines = coast_lines("1km")
    points = np.concatenate(lines)
    assert np.abs(points).max(0)[0] <= 180 and np.abs(points).max(0)[1] <= 90
    assert max(np.abs(np.diff(line, axis=0)).max() for line in lines) < 5
    assert sum(map(len, lines)) > 5 * sum(map(len, coast_lines("50m")))


def test_the_resolution_follows_the_field() -> None:
    assert [resolution_for(np.array([0.0, span])) for span in (3.0, 6.0, 12.0, 61.0)] == ["1km", "1km", "50m", "110m"]
