"""The bundled UKV file is the one its README describes, and it shows what the design says it shows."""

import hashlib
import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

DATA = Path(__file__).resolve().parents[3] / "data"


@pytest.fixture(scope="module")
def ukv():
    with xr.open_dataset(DATA / "ukv_20091119.nc") as dataset:
        return dataset.load()


def test_sha256_of_every_bundled_file_is_in_the_readme():
    listed = dict(re.findall(r"`([\w.-]+\.(?:nc|csv))`[^\n]*`([0-9a-f]{64})`", (DATA / "README.md").read_text()))
    paths = (*DATA.glob("*.nc"), *DATA.glob("*.csv"))
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
    assert found == listed and len(found) == 6


def within_cell(field: np.ndarray, block: int) -> np.ndarray:
    """Anomalies from the block means, whole blocks only."""
    rows, columns = (size // block for size in field.shape)
    cells = field[: rows * block, : columns * block].astype(float).reshape(rows, block, columns, block)
    return (cells - cells.mean(axis=(1, 3), keepdims=True)).ravel()


@pytest.mark.parametrize("height, expected", [(645.0, 0.83), (75.0, 0.27)])
def test_orography_explains_the_stated_share_within_cells(ukv, height, expected):
    theta = ukv["air_potential_temperature"].sel(time="2009-11-19T12:00", level_height=height).values
    anomaly, relief = within_cell(theta, 9), within_cell(ukv["surface_altitude"].values, 9)
    slope = relief @ anomaly / (relief @ relief)
    share = 1 - np.sum((anomaly - slope * relief) ** 2) / np.sum(anomaly**2)
    assert share == pytest.approx(expected, abs=0.005)


def test_values_units_and_times(ukv):
    theta, altitude = ukv["air_potential_temperature"], ukv["surface_altitude"]
    assert theta.shape == (3, 7, 204, 187) and theta.dtype == altitude.dtype == np.float32
    assert (theta.attrs["units"], altitude.attrs["units"]) == ("K", "m")
    assert 285 < float(theta.min()) and float(theta.max()) < 300 and np.isfinite(theta).all()
    assert list(ukv["time"].dt.hour.values) == [10, 11, 12]
    assert list(ukv["level_height"].values) == [5, 75, 205, 395, 645, 955, 1325]


def test_true_coordinates_follow_from_the_rotated_pole(ukv):
    """Second route: the rotation written out, (λ, φ) → the sphere → turned about the y axis → (λ, φ)."""
    mapping = ukv["rotated_latitude_longitude"].attrs
    turn = np.deg2rad(90.0 - mapping["grid_north_pole_latitude"])
    x, y = np.meshgrid(np.deg2rad(ukv["grid_longitude"].values), np.deg2rad(ukv["grid_latitude"].values))
    point = np.stack([np.cos(y) * np.cos(x), np.cos(y) * np.sin(x), np.sin(y)])
    forward = np.cos(turn) * point[0] - np.sin(turn) * point[2]
    up = np.sin(turn) * point[0] + np.cos(turn) * point[2]
    latitude = np.rad2deg(np.arcsin(up))
    longitude = np.rad2deg(np.arctan2(point[1], forward)) + mapping["grid_north_pole_longitude"] - 180.0
    np.testing.assert_allclose(ukv["latitude"].values, latitude, atol=1e-4)
    np.testing.assert_allclose(ukv["longitude"].values, longitude, atol=1e-4)
    assert "Crown copyright" in ukv.attrs["license"] and ukv.attrs["Conventions"].startswith("CF-1.1")
