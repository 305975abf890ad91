"""Coordinates by other standard names, numbered names and axes; fields that name several grid mappings."""

import numpy as np
import pytest
import xarray as xr
from pyproj import Transformer

from deconditioning.fields.reading.mappings import _mappings_in
from tests.core.fields.samples import fields, region

DATA = region(12, 14)


@pytest.mark.parametrize(
    ("names", "attributes"),
    [
        (("lat", "lon"), ({"standard_name": "lat", "units": "degrees_north"},
                          {"standard_name": "lon", "units": "degrees_east"})),
        (("a", "b"), ({"standard_name": "Latitude of cell centre", "units": "degrees_north"},
                      {"standard_name": "Longitude of cell centre", "units": "degrees_east"})),
        (("a", "b"), ({"standard_name": "lat"}, {"standard_name": "lon"})),
        (("lat_0", "lon_0"), ({"units": "degrees"}, {"units": "degrees"})),
        (("g0_lat_1", "g0_lon_2"), ({}, {})),
        (("northing", "easting"), ({"units": "degrees", "axis": "Y"}, {"units": "degrees", "axis": "X"})),
        (("lat", "lon"), ({"standard_name": "LATITUDE"}, {"standard_name": "Longitude"})),
    ],
)  # fmt: skip
def test_latitudes_and_longitudes_are_known_by(names, attributes):
    data = DATA.rename(lat=names[0], lon=names[1])
    for name, about in zip(names, attributes, strict=True):
        data[name].attrs = about
    found = fields(data)
    assert found.grid.kind == "latlon" and np.array_equal(found.grid.y, DATA.lat.values)
    assert np.array_equal(found.values("t"), DATA.t.values)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("crs", [("crs", set())]),
        ("crs: x y", [("crs", {"x", "y"})]),
        ("crsOSGB: x y crsWGS84: lat lon", [("crsOSGB", {"x", "y"}), ("crsWGS84", {"lat", "lon"})]),
        ("a:y x b: lon lat c:z", [("a", {"x", "y"}), ("b", {"lon", "lat"}), ("c", {"z"})]),
        ("a : x y b : lat lon", [("a", {"x", "y"}), ("b", {"lat", "lon"})]),
    ],
)
def test_grid_mappings_and_their_coordinates(text, parts):
    assert _mappings_in(text) == [(name, frozenset(about)) for name, about in parts]


OSGB = {
    "grid_mapping_name": "transverse_mercator", "semi_major_axis": 6377563.396, "semi_minor_axis": 6356256.910,
    "longitude_of_central_meridian": -2.0, "latitude_of_projection_origin": 49.0,
    "scale_factor_at_central_meridian": 0.9996012717, "false_easting": 400000.0, "false_northing": -100000.0,
}  # fmt: skip


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("in_encoding", [True, False])
@pytest.mark.parametrize("sheets", [True, False])
def test_each_pair_has_its_own_mapping(first, in_encoding, sheets):
    """CF's example 5.11: British National Grid beside latitudes and longitudes of WGS 84."""
    y, x = np.arange(2e5, 3e5, 1e4), np.arange(3e5, 4.2e5, 1e4)
    plane = "+proj=tmerc +lat_0=49 +lon_0=-2 +k=0.9996012717 +x_0=400000 +y_0=-100000 +a=6377563.396 +b=6356256.91"
    lon, lat = Transformer.from_crs(plane, "EPSG:4326", always_xy=True).transform(*np.meshgrid(x, y))
    parts = ["crsOSGB: x y", "crsWGS84: lat lon"]
    said = " ".join(parts if first else parts[::-1])
    data = xr.Dataset(
        {"t": (("y", "x"), 280 + lat), "crsWGS84": ((), 0, {"grid_mapping_name": "latitude_longitude"}),
         "crsOSGB": ((), 0, OSGB)},
        {"y": ("y", y, {"standard_name": "projection_y_coordinate", "units": "m"}),
         "x": ("x", x, {"standard_name": "projection_x_coordinate", "units": "m"})},
    )  # fmt: skip
    if sheets:
        data = data.assign_coords(
            lat=(("y", "x"), lat, {"units": "degrees_north"}), lon=(("y", "x"), lon, {"units": "degrees_east"})
        )
    (data.t.encoding if in_encoding else data.t.attrs)["grid_mapping"] = said
    found = fields(data)
    assert found.grid.kind == "projected" and found.grid.mapping["grid_mapping_name"] == "transverse_mercator"
    assert np.abs(found.grid.latitude - lat).max() < 0.02 and np.abs(found.grid.longitude - lon).max() < 0.02
