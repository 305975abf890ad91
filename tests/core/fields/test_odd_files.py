"""Files of odd but real kinds: units of axes and bounds, grid mappings, missing values, times; each with its value."""

from typing import Any

import numpy as np
import pytest
import xarray as xr
from pyproj import CRS, Transformer

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.sphere import true_position
from deconditioning.fields.reading.opening import open_fields

LATITUDE, LONGITUDE = 40 + 0.5 * np.arange(6), 5 + 0.5 * np.arange(8)
X, Y = 4_321_000 + 25_000.0 * np.arange(8), 3_210_000 + 25_000.0 * np.arange(6)
LAEA = {
    "grid_mapping_name": "lambert_azimuthal_equal_area", "latitude_of_projection_origin": 52.0,
    "longitude_of_projection_origin": 10.0, "false_easting": 4_321_000.0, "false_northing": 3_210_000.0,
    "semi_major_axis": 6_378_137.0, "inverse_flattening": 298.257222101,
}  # fmt: skip
SPHERE = {"earth_radius": 6_371_229.0}


def _of(crs: Any, y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Latitudes and longitudes from Greenwich by PROJ's own words, not by a CF mapping."""
    projection = CRS.from_user_input(crs)
    ellipsoid = projection.ellipsoid
    plain = CRS.from_dict({"proj": "longlat", "a": ellipsoid.semi_major_metre, "b": ellipsoid.semi_minor_metre})
    east, north = Transformer.from_crs(projection, plain, always_xy=True).transform(*np.meshgrid(x, y))
    return north, east


def _latlon(latitude: np.ndarray, longitude: np.ndarray, units: tuple[str, str], **more: Any) -> xr.Dataset:
    coordinates = {
        name: (name, values, {"units": each})
        for name, values, each in zip(("lat", "lon"), (latitude, longitude), units, strict=True)
    }
    values = np.arange(latitude.size * longitude.size, dtype=float).reshape(latitude.size, longitude.size)
    return xr.Dataset({"t": (("lat", "lon"), values), **more}, coordinates)


def _on_map(y: np.ndarray, x: np.ndarray, units: str, mapping: dict[str, Any]) -> xr.Dataset:
    about = {"units": units} if units else {}
    return xr.Dataset(
        {"t": (("y", "x"), np.zeros((y.size, x.size)), {"grid_mapping": "crs"}), "crs": ((), 0, mapping)},
        {"y": ("y", y, about), "x": ("x", x, about)},
    )


def _expect(fields: Fields, latitude: np.ndarray, longitude: np.ndarray, within: float = 1e-6) -> None:
    np.testing.assert_allclose(fields.grid.latitude, latitude, atol=within)
    np.testing.assert_allclose(fields.grid.longitude, longitude, atol=within)


@pytest.mark.parametrize("units", [("decimal degrees",) * 2, ("degree_true",) * 2, ("°N", "°E")])
def test_degrees_spelled_otherwise(units: tuple[str, str]) -> None:
    _expect(fields_from_dataset(_latlon(LATITUDE, LONGITUDE, units)), *np.meshgrid(LATITUDE, LONGITUDE, indexing="ij"))


def test_degrees_south_and_west_with_a_sign() -> None:
    fields = fields_from_dataset(_latlon(LATITUDE, LONGITUDE, ("°S", "°W")))
    _expect(fields, *np.meshgrid(-LATITUDE[::-1], -LONGITUDE[::-1], indexing="ij"))


@pytest.mark.parametrize("units", [("", ""), ("degrees_north", "degrees_east")])
def test_once_round_in_radians(units: tuple[str, str]) -> None:
    longitude = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    latitude = np.linspace(-1.5, 1.5, 12)
    with pytest.raises(InputError, match="a full circle in radians"):
        fields_from_dataset(_latlon(latitude, longitude, units))
    with pytest.raises(InputError, match="a full circle in radians"):
        fields_from_dataset(_sheets(*np.meshgrid(latitude, longitude, indexing="ij"), units))
    fields = fields_from_dataset(_latlon(latitude, longitude, ("radians", "radians")))
    np.testing.assert_allclose(fields.grid.latitude[0], np.rad2deg(-1.5))


def _sheets(latitude: np.ndarray, longitude: np.ndarray, units: tuple[str, str]) -> xr.Dataset:
    dataset = xr.Dataset({"t": (("y", "x"), np.zeros(latitude.shape))})
    for name, values, each in zip(("lat", "lon"), (latitude, longitude), units, strict=True):
        dataset[name] = (("y", "x"), values, {"units": each} if each else {})
    return dataset


def test_positions_in_radians() -> None:
    latitude, longitude = _of(3035, Y, X)
    turned = np.deg2rad(latitude), np.deg2rad(longitude)
    _expect(fields_from_dataset(_sheets(*turned, ("radian", "radian"))), latitude, longitude)
    with pytest.raises(InputError, match="may be degrees or radians"):
        fields_from_dataset(_sheets(*turned, ("", "")))
    fields = fields_from_dataset(_sheets(*turned, ("degrees_north", "degrees_east")))
    assert "if they are radians" in " ".join(fields.notes)
    assert "radians" not in " ".join(fields_from_dataset(_sheets(latitude, longitude, ("", ""))).notes)


@pytest.mark.parametrize("units", [("", ""), ("degrees_north", "degrees_east")])
def test_positions_in_radians_beside_a_map(units: tuple[str, str]) -> None:
    latitude, longitude = _of(3035, Y, X)
    dataset = _on_map(Y, X, "m", LAEA)
    for name, values, each in zip(("lat", "lon"), (latitude, longitude), units, strict=True):
        dataset[name] = (("y", "x"), np.deg2rad(values), {"units": each})
    fields = fields_from_dataset(dataset)
    assert fields.grid.kind == "projected" and "are in radians, although" in " ".join(fields.notes)
    _expect(fields, latitude, longitude)


@pytest.mark.parametrize("units", ["nm", "point"])
def test_lengths_that_make_no_map(units: str) -> None:
    with pytest.raises(InputError, match="no map: give it the units m or km"):
        fields_from_dataset(_on_map(Y / 1852, X / 1852, units, LAEA))


@pytest.mark.parametrize(("start", "step", "units"), [(0, 1, "m"), (1, 1, "m"), (0, 2, ""), (0.5, 1, "")])
def test_counts_beside_a_mapping_are_refused(start: float, step: float, units: str) -> None:
    with pytest.raises(InputError, match=r"counts|metres or kilometres"):
        fields_from_dataset(_on_map(start + step * np.arange(6.0), start + step * np.arange(8.0), units, LAEA))


@pytest.mark.parametrize("own", ["radians", "degrees"])
def test_bounds_in_other_units_than_labels_at_an_edge(own: str) -> None:
    edges = [np.stack([each - 0.25, each + 0.25], axis=1) for each in (LATITUDE, LONGITUDE)]
    labels = [each[:, 0] for each in edges]
    turn = np.deg2rad if own == "radians" else np.asarray
    other = np.asarray if own == "radians" else np.deg2rad
    dataset = _latlon(
        other(labels[0]), other(labels[1]), ("degrees_north", "degrees_east") if own == "radians" else ("rad", "rad"),
        lat_bnds=(("lat", "b"), turn(edges[0]), {"units": own}),
        lon_bnds=(("lon", "b"), turn(edges[1]), {"units": own}),
    )  # fmt: skip
    _expect(fields_from_dataset(dataset), *np.meshgrid(LATITUDE, LONGITUDE, indexing="ij"))


@pytest.mark.parametrize("attribute", ["bounds", "edges"])
def test_edges_instead_of_bounds(attribute: str) -> None:
    edges = [np.append(each - 0.25, each[-1] + 0.25) for each in (LATITUDE, LONGITUDE)]
    dataset = _latlon(
        edges[0][:-1], edges[1][:-1], ("degrees_north", "degrees_east"), e1=("n1", edges[0]), e2=("n2", edges[1])
    )
    for name, of in (("lat", "e1"), ("lon", "e2")):
        dataset[name].attrs[attribute] = of
    _expect(fields_from_dataset(dataset), *np.meshgrid(LATITUDE, LONGITUDE, indexing="ij"))


def test_bounds_in_kilometres_of_an_axis_in_metres() -> None:
    dataset = _on_map(Y - 12_500, X - 12_500, "m", LAEA)
    for name, centre in (("y", Y), ("x", X)):
        both = np.stack([centre - 12_500, centre + 12_500], axis=1) / 1e3
        dataset[f"{name}_bnds"] = ((name, "b"), both, {"units": "km"})
    _expect(fields_from_dataset(dataset), *_of(3035, Y, X))


@pytest.mark.parametrize("kind", ["radians", "nodes"])
def test_corners_of_curvilinear_cells(kind: str) -> None:
    nodes = _of(3035, np.append(Y - 12_500, Y[-1] + 12_500), np.append(X - 12_500, X[-1] + 12_500))
    dataset = xr.Dataset({"t": (("y", "x"), np.zeros((6, 8)))})
    for name, each, units in (("lat", nodes[0], "degrees_north"), ("lon", nodes[1], "degrees_east")):
        dataset[name] = (("y", "x"), each[:-1, :-1], {"units": units, "bounds": f"{name}_b"})
        four = np.stack([each[:-1, :-1], each[:-1, 1:], each[1:, 1:], each[1:, :-1]], axis=-1)
        dataset[f"{name}_b"] = (
            (("y", "x", "nv"), np.deg2rad(four), {"units": "radians"}) if kind == "radians" else (("y1", "x1"), each)
        )
    _expect(fields_from_dataset(dataset), *_of(3035, Y, X), within=1e-5)


def test_positions_half_a_cell_away_are_told() -> None:
    dataset = _on_map(Y - 12_500, X - 12_500, "m", LAEA)
    for name, each, units in zip(("lat", "lon"), _of(3035, Y, X), ("degrees_north", "degrees_east"), strict=True):
        dataset[name] = (("y", "x"), each, {"units": units})
    assert any("by much of a cell from" in note for note in fields_from_dataset(dataset).notes)


@pytest.mark.parametrize(("units", "metres"), [("km", 1000.0), ("US_survey_foot", 1200 / 3937)])
def test_false_origins_are_in_the_units_of_the_axes(units: str, metres: float) -> None:
    mapping = {**LAEA, "false_easting": 4_321_000 / metres, "false_northing": 3_210_000 / metres}
    _expect(fields_from_dataset(_on_map(Y / metres, X / metres, units, mapping)), *_of(3035, Y, X))


def test_false_origins_beyond_the_earth_are_metres() -> None:
    _expect(fields_from_dataset(_on_map(Y / 1e3, X / 1e3, "km", LAEA)), *_of(3035, Y, X))


NORTH = {"grid_mapping_name": "polar_stereographic", "latitude_of_projection_origin": 90.0,
         "straight_vertical_longitude_from_pole": -45.0}  # fmt: skip
CONE = {"grid_mapping_name": "lambert_conformal_conic", "longitude_of_central_meridian": -97.5, **SPHERE}
MAPPINGS = {
    "a cone that touches beside its origin": (
        {**CONE, "standard_parallel": 38.5, "latitude_of_projection_origin": 46.0},
        "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=46 +lon_0=-97.5 +R=6371229",
    ),
    "a cone that touches at its origin": (
        {**CONE, "standard_parallel": 38.5, "latitude_of_projection_origin": 38.5},
        "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=38.5 +lon_0=-97.5 +R=6371229",
    ),
    "Albers with one parallel": (
        {"grid_mapping_name": "albers_conical_equal_area", "standard_parallel": 29.5, **SPHERE,
         "latitude_of_projection_origin": 23.0, "longitude_of_central_meridian": -96.0},
        "+proj=aea +lat_1=29.5 +lat_2=29.5 +lat_0=23 +lon_0=-96 +R=6371229",
    ),
    "one axis is a sphere": (
        {**NORTH, "standard_parallel": 60.0, "semi_major_axis": 6_371_229.0},
        "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-45 +R=6371229",
    ),
    "stereographic at the pole": (
        {"grid_mapping_name": "stereographic", "latitude_of_projection_origin": 90.0, "standard_parallel": 60.0,
         "longitude_of_projection_origin": 10.0, **SPHERE},
        "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=10 +R=6371229",
    ),
    "south with a parallel in the north": (
        {**NORTH, "latitude_of_projection_origin": -90.0, "standard_parallel": 71.0, **SPHERE},
        "+proj=stere +lat_0=-90 +lat_ts=-71 +lon_0=-45 +R=6371229",
    ),
    "Paris and its grads": ({"crs_wkt": CRS.from_epsg(27572).to_wkt()}, 27572),
}  # fmt: skip


@pytest.mark.parametrize("name", MAPPINGS)
def test_grid_mappings_against_proj(name: str) -> None:
    mapping, proj = MAPPINGS[name]
    y, x = (
        (2.2e6 if "Paris" in name else 1e6) + 3e4 * np.arange(3),
        (6e5 if "Paris" in name else 0) + 3e4 * np.arange(4),
    )
    latitude, longitude = _of(proj, y, x)
    result = true_position("projected", *np.meshgrid(y, x, indexing="ij"), mapping)
    np.testing.assert_allclose(result[0], latitude, atol=1e-6)
    np.testing.assert_allclose((result[1] - longitude + 180) % 360 - 180, 0, atol=1e-6)


POLES = {
    "GRIB in Java": {"grid_mapping_name": "rotated_latlon_grib", "grid_south_pole_latitude": -39.25,
                     "grid_south_pole_longitude": 18.0, "grid_south_pole_angle": 0.0},
    "keys of GRIB": {"grid_mapping_name": "rotated_latitude_longitude", "latitudeOfSouthernPoleInDegrees": -39.25,
                     "longitudeOfSouthernPoleInDegrees": 18.0},
    "COSMO": {"pollat": 39.25, "pollon": -162.0},
    "text of PROJ": {"proj4_params": "-m 57.295779506 +proj=ob_tran +o_proj=latlon +o_lat_p=39.25 +lon_0=18.0"},
}  # fmt: skip


def _rotated(mapping: dict[str, Any]) -> xr.Dataset:
    dataset = _on_map(np.linspace(-2, 3, 6), np.linspace(-4, 3, 8), "degrees", mapping)
    return dataset.rename(y="rlat", x="rlon")


@pytest.mark.parametrize("kind", POLES)
def test_rotated_poles_in_other_words(kind: str) -> None:
    turned = "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +R=6371229"
    ahead = Transformer.from_crs(turned, "+proj=longlat +R=6371229", always_xy=True)
    east, north = ahead.transform(*np.meshgrid(np.linspace(-4, 3, 8), np.linspace(-2, 3, 6)))
    _expect(fields_from_dataset(_rotated(POLES[kind])), north, east)


def test_a_rotated_grid_that_is_turned_about_its_pole() -> None:
    with pytest.raises(InputError, match="turned about its pole by 10°"):
        fields_from_dataset(_rotated({**POLES["GRIB in Java"], "grid_south_pole_angle": 10.0}))


SCAN = {"grid_mapping_name": "geostationary", "perspective_point_height": 35_786_023.0,
        "semi_major_axis": 6_378_137.0, "semi_minor_axis": 6_356_752.31414,
        "longitude_of_projection_origin": -75.0}  # fmt: skip


@pytest.mark.parametrize(("about", "axis"), [("GOES-16 ABI", "x"), ("Meteosat-11, SEVIRI", "y"), ("Himawari-8", "y")])
def test_the_sweep_of_a_satellite_by_its_name(about: str, axis: str) -> None:
    y, x = np.linspace(0.05, 0.08, 6), np.linspace(-0.04, 0.02, 8)
    dataset = _on_map(y, x, "rad", SCAN).assign_attrs(platform_ID=about)
    proj = f"+proj=geos +h=35786023 +lon_0=-75 +sweep={axis} +a=6378137 +b=6356752.31414"
    fields = fields_from_dataset(dataset)
    _expect(fields, *_of(proj, y * 35_786_023, x * 35_786_023))
    assert f"'{axis}' is used, that of" in " ".join(fields.notes)


def test_parameters_that_a_mapping_lacks_are_named() -> None:
    scan = np.linspace(0.01, 0.05, 8)
    without = {key: value for key, value in LAEA.items() if "longitude" not in key}
    for dataset, words in (
        (_on_map(scan[:6], scan, "rad", SCAN), "no `sweep_angle_axis`: add it, 'x' for GOES-R"),
        (_on_map(Y, X, "m", without), "add `longitude_of_projection_origin`"),
        (_on_map(Y, X, "m", {"grid_mapping_name": "lambert_conformal_conic", "longitude_of_central_meridian": 9.0}),
         "no `standard_parallel`: add it"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            fields_from_dataset(dataset)


def test_the_middle_of_a_cone_under_another_name() -> None:
    mapping = {**CONE, "standard_parallel": 38.5, "latitude_of_projection_origin": 38.5}
    mapping["longitude_of_projection_origin"] = mapping.pop("longitude_of_central_meridian")
    y, x = 1e6 + 3e4 * np.arange(6), 3e4 * np.arange(8)
    proj = "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=38.5 +lon_0=-97.5 +R=6371229"
    _expect(fields_from_dataset(_on_map(y, x, "m", mapping)), *_of(proj, y, x))


def test_positions_beside_an_unclear_mapping_are_used() -> None:
    dataset = _on_map(Y, X, "m", {"grid_mapping_name": "geostationary"})
    latitude, longitude = _of(3035, Y, X)
    dataset = dataset.assign_coords(
        lat=(("y", "x"), latitude, {"units": "degrees_north"}), lon=(("y", "x"), longitude, {"units": "degrees_east"})
    )
    _expect(fields_from_dataset(dataset), latitude, longitude)


@pytest.mark.parametrize(
    "mapping",
    [{**NORTH, "standard_parallel": 60.0, "earth_radius": 6371.229},
     {"grid_mapping_name": "geostationary", "perspective_point_height": 35_786.023, "sweep_angle_axis": "x",
      "longitude_of_projection_origin": -75.0}],
)  # fmt: skip
def test_lengths_of_a_mapping_in_kilometres(mapping: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"too small for the Earth|give it in metres"):
        true_position("projected", np.zeros(2), np.zeros(2), mapping)


TIMES = {
    "months since 2000-01-15 12:00:00": ("standard", ["2000-01-15 12:00", "2000-02-15 12:00"]),
    "months since 2001-1-31": ("standard", ["2001-01-31 00:00", "2001-02-28 00:00"]),
    "Seconds Since 1970-01-01": ("standard", ["1970-01-01 00:00:00", "1970-01-01 00:00:01"]),
    "days since 2000-02-28": ("365_days", ["2000-02-28 00:00", "2000-03-01 00:00"]),
    "days since 01/02/2000": ("standard", ["0 days since 01/02/2000", "1 days since 01/02/2000"]),
    "hours since 2000-01-01 00:00 EST": ("standard", ["2000-01-01 00:00", "2000-01-01 01:00"]),
}
NOTES = {"days since 01/02/2000": "day or month first", "hours since 2000-01-01 00:00 EST": "read as UTC"}


@pytest.mark.parametrize("units", TIMES)
def test_times(tmp_path: Any, units: str) -> None:
    calendar, labels = TIMES[units]
    dataset = _latlon(LATITUDE, LONGITUDE, ("degrees_north", "degrees_east")).expand_dims(time=[0.0, 1.0])
    dataset["time"] = ("time", [0.0, 1.0], {"units": units, "calendar": calendar})
    dataset.to_netcdf(tmp_path / "a.nc")
    fields = open_fields(tmp_path / "a.nc")
    assert list(fields.labels("time")) == labels
    assert NOTES.get(units, "") in " ".join(fields.notes)


def test_labels_at_the_end_of_periods_are_told() -> None:
    dataset = _latlon(LATITUDE, LONGITUDE, ("degrees_north", "degrees_east")).expand_dims(time=2)
    ends = np.array(["2000-02-01", "2000-03-01"], "datetime64[ns]")
    starts = np.array(["2000-01-01", "2000-02-01"], "datetime64[ns]")
    dataset["time"] = ("time", ends, {"bounds": "time_bnds"})
    dataset["time_bnds"] = (("time", "bnds"), np.stack([starts, ends], axis=1))
    assert "the one that ends at 2000-02-01 00:00 begins at 2000-01-01 00:00" in " ".join(
        fields_from_dataset(dataset).notes
    )
