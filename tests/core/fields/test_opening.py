"""Files as people have them: every order, seam, name and kind of grid."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.grids.sphere import wrap_longitude
from deconditioning.fields.reading.opening import open_fields
from tests.core.fields.samples import fields, netcdf, rectilinear, region, rotated_dataset, smooth


def agrees(found) -> bool:
    """Values sit where their latitude and longitude say, whatever was turned."""
    expected = smooth(found.grid.latitude, found.grid.longitude) - 0.01 * found.values("orog")
    return np.allclose(found.values("t"), expected, atol=1e-3)


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT"])
def test_both_netcdf_generations(tmp_path, form):
    path = tmp_path / "a.nc"
    path.write_bytes(netcdf(region(), form))
    found = open_fields(path)
    assert agrees(found) and set(found.variables()) == {"t", "orog", "q"}
    described = found.variables()["t"]
    assert (described.units, described.standard_name) == ("K", "air_temperature")
    assert found.licence == "CC0" and found.source == "a.nc; test field"


def test_descending_latitude_is_turned_and_said():
    found = fields(rectilinear(np.arange(60.0, 20, -1), np.arange(5.0, 40)))
    assert agrees(found) and np.all(np.diff(found.grid.y) > 0)
    assert any("`lat` was descending" in note for note in found.notes)


def test_region_given_from_0_to_360_across_greenwich():
    x = np.concatenate([np.arange(0, 20.0), np.arange(345, 360.0)])  # as a subset of a sorted 0–360 axis
    found = fields(rectilinear(np.arange(30, 60.0), x))
    assert agrees(found) and not found.grid.wraps
    assert found.grid.x[0] == -15 and found.grid.x[-1] == 19 and np.allclose(np.diff(found.grid.x), 1)
    assert any("without a break" in note for note in found.notes)
    assert np.allclose(found.grid.longitude[0], found.grid.x)


def test_region_west_of_greenwich_in_0_to_360():
    found = fields(rectilinear(np.arange(30, 60.0), np.arange(230, 300.0)))
    assert agrees(found) and found.grid.x[0] == -130 and any("0 to 360" in note for note in found.notes)


def test_region_across_the_date_line_stays_in_one_piece():
    x = np.concatenate([np.arange(-180, -160.0), np.arange(170, 180.0)])
    found = fields(rectilinear(np.arange(-20, 20.0), x))
    assert agrees(found) and found.grid.x[0] == 170 and found.grid.x[-1] == 199
    assert found.grid.longitude.min() == -180


@pytest.mark.parametrize("start", [0.0, -180.0, 20.0])
def test_a_global_field_keeps_its_seam(start):
    x = start + np.arange(0, 360, 5.0)
    found = fields(rectilinear(np.linspace(-87.5, 87.5, 36), x))
    assert agrees(found) and found.grid.wraps and np.allclose(found.grid.x, x)
    assert found.grid.longitude.max() < 180 and found.grid.longitude.min() >= -180


def test_the_repeated_column_of_a_cyclic_file_is_left_out():
    found = fields(rectilinear(np.linspace(-87.5, 87.5, 36), np.arange(0, 361, 5.0)))
    assert found.grid.wraps and found.grid.shape == (36, 72) and agrees(found)
    assert any("repeats the first" in note for note in found.notes)


def test_descending_longitude():
    found = fields(rectilinear(np.arange(30, 60.0), np.arange(40.0, 0, -1)))
    assert agrees(found) and np.all(np.diff(found.grid.x) > 0)


@pytest.mark.parametrize(
    "names",
    [("lat", "lon"), ("latitude", "longitude"), ("nav_lat", "nav_lon"), ("Latitude", "Longitude"), ("XLAT", "XLONG")],
)
def test_usual_names_without_attributes(names):
    data = rectilinear(np.arange(30, 60, 0.5), np.arange(0, 30, 0.5), names=names, attributes=False)
    assert agrees(fields(data))


def test_axes_called_y_and_x_in_degrees():
    data = rectilinear(np.arange(30, 60, 0.5), np.arange(0, 30, 0.5), names=("y", "x"), attributes=False)
    assert fields(data).grid.kind == "latlon"
    data = data.assign_coords(y=np.arange(60), x=np.arange(60))
    with pytest.raises(InputError, match=r"map projection.*grid mapping|latitude and longitude"):
        fields(data)


def test_cf_attributes_win_over_odd_names():
    data = region().rename(lat="north", lon="east")
    assert agrees(fields(data))
    data.north.attrs, data.east.attrs = {"standard_name": "latitude"}, {"standard_name": "longitude"}
    assert agrees(fields(data))


def test_dimensions_in_any_order_with_time_and_level():
    base = region()
    data = base.expand_dims(
        {"time": np.array(["2001-01-01T06", "2001-01-01T12"], dtype="datetime64[ns]"), "level": [850.0, 500.0]}
    )
    data = data.assign(t=data.t + xr.DataArray([0.0, 100.0], dims="time") + xr.DataArray([0.0, 7.0], dims="level"))
    data.t.attrs = base.t.attrs
    data.level.attrs["units"] = "hPa"
    found = fields(data.transpose("lon", "time", "lat", "level"))
    assert found.variables()["t"].extra == {
        "time": ("2001-01-01 06:00", "2001-01-01 12:00"),
        "level": ("850 hPa", "500 hPa"),
    }
    assert np.allclose(found.values("t", {"time": 1}), base.t + 100)
    assert np.allclose(found.values("t", {"time": 1, "t:time": 0, "level": 1}), base.t + 7)
    assert found.time_label("t", {"time": 1}) == "2001-01-01T12:00"
    notes = found.selection_notes("t", {"time": 1})
    assert any("`time` has 2 values; 2001-01-01 12:00" in note for note in notes)
    with pytest.raises(InputError, match="choose 0 to 1"):
        found.values("t", {"time": 2})
    assert found.when_and_where("t", {"time": 1}) == ("1 January 2001, 12:00 UTC", "level 850 hPa")


def test_when_and_where_reads_dates_and_heights_without_a_dimension():
    data = region().expand_dims({"member": 3, "band": 1})
    data = data.assign_coords(
        made=np.datetime64("2000-01-01T00:00", "ns"),
        time=((), np.datetime64("2001-07-14T06:30", "ns"), {"standard_name": "time"}),
        height=((), 2.0, {"units": "m", "positive": "up"}),
        version=7,
    )
    found = fields(data)
    assert found.when_and_where("t", {"member": 1}) == ("14 July 2001, 06:30 UTC", "member number 2", "height 2 m")
    assert fields(region()).when_and_where("t") == ()
    far = region().assign_coords(time=np.datetime64("12000-02-03T04", "s"))
    assert fields(far).when_and_where("t") == ("12000-02-03, 04:00 UTC",)


def test_missing_values_of_every_kind():
    data = region()
    packed = data.t.copy()
    packed[0, 0] = np.nan
    raw = netcdf(
        data.assign(t=packed), t={"dtype": "int16", "scale_factor": 0.01, "add_offset": 280, "_FillValue": -9999}
    )
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.nc"
        path.write_bytes(raw)
        values = open_fields(path).values("t")
    assert np.isnan(values[0, 0]) and np.isfinite(values).sum() == values.size - 1
    assert np.allclose(values[1:], data.t[1:], atol=0.006)
    unmarked = data.t.copy()
    unmarked[3, 3] = 9.969209968386869e36  # NetCDF's own fill value, without an attribute
    assert np.isnan(fields(data.assign(t=unmarked)).values("t")[3, 3])


def test_rotated_grid_has_true_positions():
    found = fields(rotated_dataset())
    assert found.grid.kind == "rotated" and set(found.variables()) == {"t", "h"}
    assert found.grid.latitude.mean() == pytest.approx(52.5, abs=0.5)
    with pytest.raises(InputError, match=r"rotated pole.*grid mapping"):
        fields(rotated_dataset().drop_vars("pole"))


def test_curvilinear_grid():
    y, x = np.meshgrid(np.arange(40.0), np.arange(50.0), indexing="ij")
    latitude, longitude = 30 + 0.5 * y + 0.05 * x, wrap_longitude(175 + 0.6 * x - 0.03 * y)
    rng = np.random.default_rng(0)
    height = rng.standard_normal(y.shape)
    data = xr.Dataset(
        {"t": (("time", "j", "i"), (smooth(latitude, longitude) - 0.01 * height)[None]), "orog": (("j", "i"), height)},
        {"nav_lat": (("j", "i"), latitude), "nav_lon": (("j", "i"), longitude)},
    )
    found = fields(data)
    assert found.grid.kind == "curvilinear" and agrees(found) and not found.grid.wraps
    assert found.grid.area[0, 0] > found.grid.area[-1, 0]
    assert any("curvilinear" in note for note in found.notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda d: d.drop_vars(["lat", "lon"]), "No latitude and longitude"),
        (lambda d: d.isel(lat=0), "one-dimensional"),
        (lambda d: d.isel(lat=slice(0, 1)), "at least two of each"),
        (lambda d: d.assign_coords(lat=np.append(d.lat[:-1], d.lat[-2])), "twice"),
        (lambda d: d.assign_coords(lon=np.append(d.lon[:-1], d.lon[-2])), "twice"),
        (lambda d: d.assign_coords(lat=("lat", d.lat.values + 60, {"units": "degrees_north"})), "between −90 and 90"),
        (
            lambda d: d.assign_coords(lat=("lat", np.append(d.lat[:-1], np.nan), {"units": "degrees_north"})),
            "missing values",
        ),
        (lambda d: xr.Dataset({"name": (("lat", "lon"), np.full((36, 48), "x"))}, d.coords), "no numeric field"),
    ],
)
def test_wrong_files_are_one_sentence(change, words):
    with pytest.raises(InputError, match=words) as error:
        fields(change(region()))
    assert str(error.value).endswith(".") and "\n" not in str(error.value)


def test_wrong_choices_are_one_sentence():
    data = region()
    found = fields(
        data.assign(
            words=(("lat", "lon"), np.full((36, 48), "x")), line=("lat", np.arange(36.0)), empty=data.t * np.nan
        )
    )
    for name, words in (
        ("words", "text"),
        ("line", "dimensions"),
        ("empty", "only missing values"),
        ("nothing", "choose one of `t`"),
    ):
        with pytest.raises(InputError, match=words):
            found.values(name)
    assert any("`line`" in note or "line" in note for note in found.notes)
    with pytest.raises(InputError, match="does not exist"):
        open_fields("/nowhere/a.nc")
