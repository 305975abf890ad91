"""Where cells lie: units of axes, and two accounts of one place, against pyproj."""

import time

import numpy as np
import pytest
import xarray as xr
from pyproj import CRS, Transformer

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.grids.sphere import wrap_longitude
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.units import compass, convert, factor, is_plain_number, read_unit

HEIGHT = 35786023.0
GEOS = {
    "grid_mapping_name": "geostationary", "perspective_point_height": HEIGHT, "semi_major_axis": 6378137.0,
    "semi_minor_axis": 6356752.31414, "latitude_of_projection_origin": 0.0, "longitude_of_projection_origin": -75.0,
    "sweep_angle_axis": "x",
}  # fmt: skip
LAMBERT = {
    "grid_mapping_name": "lambert_conformal_conic", "standard_parallel": [38.5, 38.5], "earth_radius": 6371229.0,
    "latitude_of_projection_origin": 38.5, "longitude_of_central_meridian": -97.5,
}  # fmt: skip
X, Y = -3e5 + 1.2e4 * np.arange(20), -2e5 + 1.2e4 * np.arange(16)
SCAN_X, SCAN_Y = -0.03 + 0.001 * np.arange(20), 0.06 + 0.001 * np.arange(16)


def true(mapping: dict, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(H, W) latitude and longitude by pyproj, of coordinates in the projection's own unit."""
    crs = CRS.from_cf(mapping)
    longitude, latitude = Transformer.from_crs(crs, crs.geodetic_crs, always_xy=True).transform(*np.meshgrid(x, y))
    return latitude, longitude


def on_map(mapping: dict, x, y, units: str | None, standard: str | None = "projection_{}_coordinate", sheets=None):
    """A field on rows and columns of a projection, with two-dimensional positions where they are given."""
    at = {}
    for name, values in (("x", x), ("y", y)):
        attributes = {} if units is None else {"units": units}
        at[name] = (name, values, attributes | ({"standard_name": standard.format(name)} if standard else {}))
    if sheets is not None:
        at["latitude"] = (("y", "x"), sheets[0], {"units": "degrees_north"})
        at["longitude"] = (("y", "x"), sheets[1], {"units": "degrees_east"})
    field = np.random.default_rng(0).standard_normal((len(y), len(x)))
    return xr.Dataset({"t": (("y", "x"), field, {"grid_mapping": "crs"}), "crs": ((), 0, mapping)}, at)


def is_at(data: xr.Dataset, expected: tuple[np.ndarray, np.ndarray], within: float = 1e-9) -> tuple[str, ...]:
    """Asserts where a file's cells lie; returns the notes."""
    found = fields_from_dataset(data)
    assert np.abs(found.grid.latitude - expected[0]).max() < within
    assert np.abs(wrap_longitude(found.grid.longitude - expected[1])).max() < within
    return found.notes


@pytest.mark.parametrize(
    ("units", "metres"),
    [
        ("m", 1), ("km", 1e3), ("KM", 1e3), ("1000 meter", 1e3), ("1000 m", 1e3), ("1e3 m", 1e3), ("10^3 m", 1e3),
        ("kilometers", 1e3), ("kilometres", 1e3), ("Kilometre", 1e3), ("cm", 0.01), ("0.01 m", 0.01), ("dam", 10),
        ("100 km", 1e5), ("feet", 0.3048), ("US_survey_foot", 1200 / 3937), ("miles", 1609.344),
    ],
)  # fmt: skip
def test_lengths_of_a_map_are_metres_however_they_are_spelt(units, metres):
    notes = is_at(on_map(LAMBERT, X / metres, Y / metres, units), true(LAMBERT, X, Y))
    assert any(f"was in {units} and is converted to metres" in note for note in notes) == (units != "m")


@pytest.mark.parametrize(
    ("units", "radians"), [("rad", 1), ("radian", 1), ("microradian", 1e-6), ("degree", np.pi / 180)]
)
@pytest.mark.parametrize("standard", ["projection_{}_coordinate", "projection_{}_angular_coordinate", None])
def test_scan_angles_are_lengths_at_the_height_of_the_satellite(units, radians, standard):
    data = on_map(GEOS, SCAN_X / radians, SCAN_Y / radians, units, standard)
    notes = is_at(data, true(GEOS, SCAN_X * HEIGHT, SCAN_Y * HEIGHT))
    assert any("scan angles" in note and "35,786 km" in note for note in notes)


def test_scan_angles_without_units_are_seen_to_be_radians():
    notes = is_at(on_map(GEOS, SCAN_X, SCAN_Y, None), true(GEOS, SCAN_X * HEIGHT, SCAN_Y * HEIGHT))
    assert any("scan angles in rad" in note for note in notes)


def test_angles_without_a_height_or_on_another_map_are_refused():
    without = {k: v for k, v in GEOS.items() if k != "perspective_point_height"}
    for mapping in (without, LAMBERT):
        with pytest.raises(InputError, match=r"`y` is in rad, an angle|is not supported|no `perspective_point_height`"):
            fields_from_dataset(on_map(mapping, SCAN_X, SCAN_Y, "rad"))


@pytest.mark.parametrize(
    ("units", "standard", "why"),
    [
        ("furlong-ish", "projection_{}_coordinate", "which are unknown"),
        ("kg", None, "which measure a different quantity"),
        ("kg", "projection_{}_coordinate", "No latitude and longitude"),
    ],
)
def test_units_that_are_no_length_are_refused(units, standard, why):
    with pytest.raises(InputError, match=why):
        fields_from_dataset(on_map(LAMBERT, X, Y, units, standard))


@pytest.mark.parametrize("to_metres", [1000.0, 0.3048])
def test_a_projection_that_counts_in_another_unit_gets_it(to_metres):
    """PROJ's own +to_meter: coordinates in the file's units, whichever those are, lie where metres do."""
    text = "+proj=lcc +lat_1=38.5 +lat_2=38.5 +lat_0=38.5 +lon_0=-97.5 +R=6371229"
    plain, scaled = ({"crs_wkt": CRS(f"{text} {more}").to_wkt()} for more in ("", f"+to_meter={to_metres}"))
    expected = true(plain, X, Y)
    assert np.abs(true(scaled, X / to_metres, Y / to_metres)[0] - expected[0]).max() < 1e-9
    is_at(on_map(scaled, X, Y, "m"), expected)
    is_at(on_map(scaled, X / 1e3, Y / 1e3, "km"), expected)


@pytest.mark.parametrize(
    ("names", "units", "signs"),
    [
        (("lat", "lon"), ("degrees_south", "degrees_west"), (-1, -1)),
        (("lat", "lon"), ("degreeS", "degrees_W"), (-1, -1)),
        (("a", "b"), ("degree_north", "degree_west"), (1, -1)),
        (("a", "b"), ("degrees latitude", "degrees longitude"), (1, 1)),
        (("lat", "lon"), ("degrees", "degrees"), (1, 1)),
        (("lat", "lon"), ("1", ""), (1, 1)),
    ],
)
def test_degrees_count_from_where_their_units_say(names, units, signs):
    y, x = np.arange(30.0, 40), np.arange(60.0, 72)
    field = y[:, None] + 100 * x[None, :]
    at = {name: (name, v, {"units": u}) for name, v, u in zip(names, (y, x), units, strict=True)}
    found = fields_from_dataset(xr.Dataset({"t": (names, field)}, at))
    assert np.allclose(found.values("t"), signs[0] * found.grid.latitude + 100 * signs[1] * found.grid.longitude)
    assert sum("degrees north" in n or "degrees east" in n for n in found.notes) == sum(s < 0 for s in signs)


@pytest.mark.parametrize("units", ["rad", "degrees_west", "arcmin"])
def test_two_dimensional_positions_have_units_too(units):
    latitude, longitude = np.meshgrid(np.linspace(30, 40, 8), np.linspace(-70, -50, 9), indexing="ij")
    per = {"rad": np.pi / 180, "degrees_west": -1, "arcmin": 60}[units]
    other = "degrees_north" if units == "degrees_west" else units
    data = xr.Dataset(
        {"t": (("j", "i"), latitude)},
        {
            "lat": (("j", "i"), latitude * abs(per) if per > 0 else latitude, {"units": other}),
            "lon": (("j", "i"), longitude * per, {"units": units}),
        },
    )
    assert sum(f"in {units}" in note for note in is_at(data, (latitude, longitude))) == 1 + (other == units)


def test_units_that_place_nothing_are_named_in_the_refusal():
    line = np.linspace(30, 40, 8)
    units = {"latitude": "K", "longitude": "degrees_east"}
    both = {name: (name, line, {"standard_name": name, "units": units[name]}) for name in units}
    data = xr.Dataset({"t": (("latitude", "longitude"), np.ones((8, 8)))}, both)
    with pytest.raises(InputError, match="`latitude` has the units 'K'"):
        fields_from_dataset(data)


@pytest.mark.parametrize("attributes", [{}, {"units": "1"}, {"units": "m", "long_name": "index"}, {"units": "pixel"}])
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("mapping", [LAMBERT, GEOS])
def test_counts_of_cells_give_way_to_two_dimensional_positions(attributes, first, mapping):
    x, y = (X, Y) if mapping is LAMBERT else (SCAN_X * HEIGHT, SCAN_Y * HEIGHT)
    expected = true(mapping, x, y)
    data = on_map(mapping, first + np.arange(len(x)), first + np.arange(len(y)), None, None, expected)
    data.x.attrs.update(attributes)
    data.y.attrs.update(attributes)
    notes = is_at(data, expected)
    assert any("`y` and `x` give different cell positions" in n or "`y` and `x` cannot be used" in n for n in notes)
    if attributes.get("units") != "m":  # which may be so on a map of a few metres
        with pytest.raises(InputError, match=r"counts|units 'pixel'"):
            fields_from_dataset(data.drop_vars(["latitude", "longitude"]))


@pytest.mark.parametrize("units", [None, "1", ""])
def test_kilometres_without_units_are_not_taken_for_metres(units):
    with pytest.raises(InputError, match=r"metres or kilometres\? Give it the units m or km"):
        fields_from_dataset(on_map(LAMBERT, X / 1000, Y / 1000, units))
    notes = is_at(on_map(LAMBERT, X, Y, units), true(LAMBERT, X, Y))
    assert any("assumed to be in metres" in note for note in notes)
    is_at(on_map(LAMBERT, X / 1000, Y / 1000, units, sheets=true(LAMBERT, X, Y)), true(LAMBERT, X, Y))


def test_lines_that_are_right_keep_their_exact_edges():
    latitude, longitude = true(LAMBERT, X, Y)
    for sheets in (
        (latitude.astype("f4"), longitude.astype("f4")),
        true(LAMBERT, X + 6e3, Y),  # staggered
        (np.where(latitude > 38, np.nan, latitude), longitude),
    ):
        data = on_map(LAMBERT, X, Y, "m", sheets=sheets)
        assert fields_from_dataset(data).grid.kind == "projected"
        is_at(data, (latitude, longitude))


def test_positions_that_cannot_be_right_give_way_to_the_lines():
    latitude, longitude = true(LAMBERT, X, Y)
    scrambled = np.random.default_rng(0).permutation(latitude.ravel()).reshape(latitude.shape)
    for sheets in ((0 * latitude, 0 * longitude), (latitude * 10, longitude), (scrambled, longitude)):
        notes = is_at(on_map(LAMBERT, X, Y, "m", sheets=sheets), (latitude, longitude))
        assert any("`latitude` and `longitude` cannot be used" in note for note in notes)


def test_positions_on_another_earth_than_the_mapping_says_are_taken():
    """WRF's sphere read as an ellipsoid: 20 km."""
    latitude, longitude = true(LAMBERT, X, Y)
    wrong = {k: v for k, v in LAMBERT.items() if k != "earth_radius"}
    assert np.abs(true(wrong, X, Y)[0] - latitude).max() < 0.2
    notes = is_at(on_map(LAMBERT | {"latitude_of_projection_origin": 38.2}, X, Y, "m", sheets=(latitude, longitude)),
                  (latitude, longitude))  # fmt: skip
    assert any("give different cell positions" in note for note in notes)


def test_nominal_latitudes_of_a_bent_ocean_grid_give_way():
    y, x = np.linspace(50, 89, 40), np.linspace(0, 90, 46)
    latitude, longitude = np.meshgrid(y, x, indexing="ij")
    bent = latitude - 0.2 * np.maximum(latitude - 65, 0) * np.cos(np.deg2rad(longitude))
    data = xr.Dataset(
        {"t": (("yt", "xt"), bent)},
        {
            "yt": ("yt", y, {"units": "degrees_N"}), "xt": ("xt", x, {"units": "degrees_E"}),
            "geolat_t": (("yt", "xt"), bent, {"units": "degrees_N"}),
            "geolon_t": (("yt", "xt"), longitude, {"units": "degrees_E"}),
        },
    )  # fmt: skip
    is_at(data, (bent, longitude))


def test_a_field_with_the_standard_name_of_a_latitude_is_no_coordinate():
    data = xr.Dataset(
        {"t": (("lat", "lon"), np.random.default_rng(0).random((5, 6)), {"standard_name": "latitude", "units": "K"})},
        {"lat": np.arange(5.0), "lon": np.arange(6.0)},
    )
    assert set(fields_from_dataset(data).variables()) == {"t"}


@pytest.mark.parametrize(
    ("have", "want", "expected"),
    [
        ("1000 m", "km", 2), ("g/kg", "kg kg-1", 0.002), ("%", "(0 - 1)", 0.02), ("mb", "Pa", 200),
        ("mm day-1", "m s**-1", 2e-3 / 86400), ("W/m2", "mW cm-2", 0.2), ("degC", "deg F", 35.6),
        ("deg c", "K", 275.15), ("gpm", "meters MSL", 2),
        ("knots", "km/h", 3.704), ("kg m⁻²", "g m-2", 2000), ("ppb", "1e-6", 0.002),
    ],
)  # fmt: skip
def test_fields_are_converted_by_the_registry(have, want, expected):
    assert convert(np.array([2.0]), have, want, "v")[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "text", ["9**9**9**9", "m**9**9", "m**99999999", "__import__('os')", "(" * 50, "m" * 500, "1/0", "\x00"]
)
def test_units_of_strangers_are_not_computed(text):
    start = time.monotonic()
    assert read_unit(text) is None
    assert time.monotonic() - start < 5


def test_a_compass_is_read_and_plain_degrees_are_none():
    assert [compass(u) for u in ("degrees", "deg", "K", "degrees_S", "degE")] == [None, None, None, ("y", -1), ("x", 1)]
    assert factor("degrees_west", "degree") == 1 and factor("m", "degree") is None


@pytest.mark.parametrize("form", ["NETCDF3_64BIT", "NETCDF4"])
@pytest.mark.parametrize(
    ("times", "label"), [(b"2020-07-14_12:00:00", "2020-07-14T12:00"), (b"0000-00-00_00:00:00", None)]
)
def test_files_of_the_wrf_preprocessing_system_are_read(tmp_path, form, times, label):
    """geo_em and met_em: positions "degrees latitude" at the middles, beside those of the computational grid."""
    j, i = np.meshgrid(np.arange(14.0), np.arange(18.0), indexing="ij")
    latitude, longitude = 40 + 0.09 * j + 0.002 * i, 5 + 0.11 * i - 0.003 * j

    def variable(values: np.ndarray, units: str, more: tuple[str, ...] = (), side: str = "west_east") -> tuple:
        levels = [3] * len(more)
        stored = values.reshape(1, *levels, *values.shape[-2:]).astype("f4")
        return (("Time", *more, "south_north", side), stored, {"units": units, "stagger": "M"})

    north, east = "degrees latitude", "degrees longitude"
    wide = np.zeros((14, 19))
    data = xr.Dataset(
        {
            "CLAT": variable(latitude + 1, north), "CLONG": variable(longitude, east),
            "XLAT_U": variable(wide, north, side="west_east_stag"),
            "XLONG_U": variable(wide, east, side="west_east_stag"),
            "XLAT_M": variable(latitude, north), "XLONG_M": variable(longitude, east),
            "HGT_M": variable(100 * j + i, "meters MSL"),
            "TT": variable(np.stack([280 + j + k for k in range(3)]), "K", ("num_metgrid_levels",)),
            "UU": variable(wide, "m s-1", side="west_east_stag"),
            "Times": (("Time",), np.array([times])),
        }
    )  # fmt: skip
    data.to_netcdf(tmp_path / "wps.nc", format=form)
    found = open_fields(tmp_path / "wps.nc")
    assert np.abs(found.grid.latitude - latitude).max() < 1e-5 and np.abs(found.grid.longitude - longitude).max() < 1e-5
    assert set(found.variables()) == {"HGT_M", "TT"} and np.allclose(found.values("HGT_M"), 100 * j + i)
    assert np.allclose(found.values("TT", {"num_metgrid_levels": 2}), 282 + j)
    assert found.time_label("TT") == label and found.is_static("HGT_M")


@pytest.mark.parametrize(
    "text", ["", "1", " 1 ", "m", "M", "metres", "Meter", "degrees", "DEG", " degree ", "K", "10 m", "%", "radian", "x"]
)
def test_whether_units_say_nothing_is_what_the_registry_says(text: str) -> None:
    unit = read_unit(text)
    assert is_plain_number(text) is (unit is not None and unit.quantity == "dimensionless" and unit.number == 1)
