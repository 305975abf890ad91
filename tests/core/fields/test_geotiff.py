"""GeoTIFF files: values, positions and names, against what they were written with and pyproj."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from pyproj import Transformer

from deconditioning.errors import InputError
from deconditioning.fields.reading.geotiff import open_geotiff
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from tests.core.fields.zoo.geotiff import DEGREES, UTM, VALUES, written

pytestmark = pytest.mark.skipif(importlib.util.find_spec("rasterio") is None, reason="rasterio is not installed")


def test_positions_are_the_centres_of_pixels_and_values_north_up(tmp_path: Path) -> None:
    written(tmp_path / "dem.tif", VALUES.astype("f4"), units=("m",), **UTM)
    found = open_fields(tmp_path / "dem.tif")
    assert found.holds("dem") and found.check("dem").units == "m"
    x, y = 400_000 + 30 * (np.arange(10) + 0.5), 5_200_000 - 30 * (np.arange(8) + 0.5)
    longitude, latitude = Transformer.from_crs(32649, 4326, always_xy=True).transform(*np.meshgrid(x, y))
    np.testing.assert_allclose(found.grid.latitude, latitude[::-1], atol=1e-9)
    np.testing.assert_allclose(found.grid.longitude, longitude[::-1], atol=1e-9)
    assert found.values("dem", {}).tolist() == VALUES[::-1].tolist()


def test_rows_that_are_turned_have_positions_of_their_own(tmp_path: Path) -> None:
    a, b, c, d, e, f = (28.2, 10.3, 400_000.0, 10.3, -28.2, 5_200_000.0)
    written(tmp_path / "t.tif", VALUES.astype("f4"), crs="EPSG:32649", transform=(a, b, c, d, e, f))
    found = open_fields(tmp_path / "t.tif")
    column, row = np.meshgrid(np.arange(10) + 0.5, np.arange(8) + 0.5)
    to_degrees = Transformer.from_crs(32649, 4326, always_xy=True)
    longitude, latitude = to_degrees.transform(a * column + b * row + c, d * column + e * row + f)
    order = found.values("t", {}).astype(int)
    np.testing.assert_allclose(found.grid.latitude, latitude.ravel()[order], atol=1e-9)
    np.testing.assert_allclose(found.grid.longitude, longitude.ravel()[order], atol=1e-9)


def test_scale_and_offset_apply_and_what_is_masked_is_missing(tmp_path: Path) -> None:
    numbers = VALUES.astype("i2")
    numbers[2, 3] = -999
    written(tmp_path / "a.tif", numbers, nodata=-999, packing=((0.01,), (273.15,)), **DEGREES)
    found = open_fields(tmp_path / "a.tif")
    expected = np.where(numbers == -999, np.nan, 0.01 * numbers + 273.15)
    np.testing.assert_allclose(found.values("a", {}), expected[::-1], rtol=1e-14)
    assert any("`a` is unpacked" in note for note in found.notes)


def test_bands_are_named_by_their_descriptions_or_numbers(tmp_path: Path) -> None:
    bands = np.stack([VALUES] * 4)
    written(tmp_path / "a.tif", bands, descriptions=("2 m temperature", "x", "wind speed", "x"), **DEGREES)
    assert [name for name in open_fields(tmp_path / "a.tif").variables()] == [
        "band_1",
        "band_2",
        "wind_speed",
        "band_4",
    ]


def test_an_upload_has_the_name_that_its_person_gave(tmp_path: Path) -> None:
    written(tmp_path / "a.tif", VALUES, **DEGREES)
    found = open_upload((tmp_path / "a.tif").read_bytes(), "my heights.tif")
    assert list(found.variables()) == ["my_heights"]


def test_a_huge_grid_in_a_small_file_is_refused_before_it_is_read(tmp_path: Path) -> None:
    import rasterio

    shape = {"count": 1, "height": 60_000, "width": 60_000, "dtype": "uint8"}
    profile = {**DEGREES, "transform": rasterio.Affine(*DEGREES["transform"])}
    with rasterio.open(tmp_path / "a.tif", "w", driver="GTiff", SPARSE_OK=True, tiled=True, **shape, **profile):
        pass
    with pytest.raises(InputError, match=r"declares 14\.4 GB"):
        open_fields(tmp_path / "a.tif")


def test_a_file_that_ends_early_is_damaged(tmp_path: Path) -> None:
    written(tmp_path / "a.tif", np.random.default_rng(0).normal(size=(64, 64)), **DEGREES)
    data = (tmp_path / "a.tif").read_bytes()
    with pytest.raises(InputError, match="`a`: its pixels look damaged"):
        open_upload(data[: len(data) // 2], "a.tif")


def test_without_rasterio_a_sentence_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "a.tif", VALUES, **DEGREES)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with (
        pytest.raises(InputError, match=r"requirements-geotiff\.txt.*gdal_translate"),
        open_geotiff(tmp_path / "a.tif", ""),
    ):
        pass
