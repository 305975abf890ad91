"""Values that are none: the file's own valid range, marks that it does not explain, positions that cannot be."""

import numpy as np
import pytest
import xarray as xr

from deconditioning.cli.program import main
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.reading.validity import valid_bounds
from deconditioning.fields.reading.zarr_reading import open_store, region
from deconditioning.fields.spec import DownscalingSpec
from tests.core.fields.samples import fields, netcdf, rotated_dataset, smooth
from tests.core.fields.samples import region as sample


def written(tmp_path, data: xr.Dataset, form: str = "NETCDF4", **encoding):
    (tmp_path / "a.nc").write_bytes(netcdf(data, form, **encoding))
    return open_fields(tmp_path / "a.nc")


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
@pytest.mark.parametrize(
    "attributes",
    [{"valid_range": np.array([260.0, 285.0])}, {"valid_min": 260.0, "valid_max": 285.0}, {"valid_max": 285.0}],
)
def test_values_outside_the_valid_range_are_missing_and_said(form, attributes, tmp_path):
    data = sample()
    data.t.attrs.update(attributes)
    found = written(tmp_path, data, form)
    plain = data.t.values
    good = (plain <= 285) & (plain >= attributes.get("valid_min", 260 if "valid_range" in attributes else -np.inf))
    assert 0 < good.sum() < good.size
    assert np.array_equal(np.isfinite(found.values("t")), good)
    assert np.array_equal(found.values("t")[good], plain[good])
    note = next(note for note in found.notes if "valid range" in note)
    assert f"`t`: {(~good).sum():,} values outside its valid range" in note and note.endswith("are taken as missing.")


def packed(tmp_path, **attributes):
    """Values 270 to 300 packed as (v − 280) / 0.01 in 16 bits, with attributes as they stand in the file."""
    data = sample()
    data["t"] = data.t.copy(data=np.linspace(270, 300, data.t.size).reshape(data.t.shape))
    data.t.attrs.update(attributes)
    scale = {"dtype": "int16", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": np.int16(-32767)}
    return written(tmp_path, data, t=scale)


def test_a_packed_range_is_in_packed_units(tmp_path):
    """Bounds themselves are valid, though scaling rounds them."""
    found = packed(tmp_path, valid_range=np.array([-500, 1000], "i2"))
    values = found.values("t")
    steps = np.round((np.linspace(270, 300, values.size).reshape(values.shape) - 280) / 0.01)
    assert np.array_equal(np.isfinite(values), (steps >= -500) & (steps <= 1000))
    assert np.nanmin(values) == pytest.approx(275, abs=0.011) and np.nanmax(values) == pytest.approx(290, abs=0.011)
    assert (steps == -500).any() or (steps == 1000).any()


def test_a_range_of_the_unpacked_type_is_in_unpacked_units(tmp_path):
    values = packed(tmp_path, valid_range=np.array([275.0, 290.0])).values("t")
    assert np.nanmin(values) == pytest.approx(275, abs=0.011) and np.nanmax(values) == pytest.approx(290, abs=0.011)


@pytest.mark.parametrize(
    ("attributes", "encoding", "bounds"),
    [
        ({}, {}, None),
        ({"valid_min": np.int16(3)}, {"dtype": "i2"}, (3, np.inf)),
        ({"valid_range": np.array([0, 100], "i2")}, {"dtype": "i2", "scale_factor": -2.0}, (-200, 0)),
        ({"valid_range": np.array([0, -6], "i1")}, {"dtype": "i1", "_Unsigned": "true"}, (0, 250)),
        ({"valid_range": np.array([0, 1], "f4"), "valid_max": 0.5}, {"dtype": "f4"}, (0, 1)),
        ({"valid_max": np.int32(8)}, {"dtype": "i4", "scale_factor": np.float32(2)}, (-np.inf, 16)),
        ({"valid_max": np.float32(8)}, {"dtype": "i4", "scale_factor": np.float32(2)}, (-np.inf, 16)),
        ({"valid_max": np.float32(8)}, {"dtype": "i2", "scale_factor": np.float32(2)}, (-np.inf, 8)),
    ],
)
def test_bounds_in_the_units_of_the_data(attributes, encoding, bounds):
    found = valid_bounds(attributes, encoding)
    if bounds is None:
        assert found is None
        return
    half = abs(float(encoding.get("scale_factor", 0))) / 2 * (np.dtype(encoding["dtype"]).kind == "i")
    assert found == pytest.approx(bounds, abs=half + 1e-3)


@pytest.mark.parametrize(
    "value", ["low to high", np.array([1.0, 2.0, 3.0]), np.array([2.0, 1.0]), np.array([np.nan, 1.0])]
)
def test_a_range_that_is_none_is_said_and_not_applied(value, tmp_path):
    data = sample()
    data.t.attrs["valid_range"] = value
    found = written(tmp_path, data)
    assert np.array_equal(found.values("t"), data.t.values)
    assert any(
        "`t`: its valid range (" in note and "not understood, so it is not applied" in note for note in found.notes
    )


def test_a_range_without_any_value_is_not_applied(tmp_path):
    data = sample()
    data.t.attrs["valid_range"] = np.array([0.0, 1.0])
    found = written(tmp_path, data)
    assert np.array_equal(found.values("t"), data.t.values)
    assert any(
        "`t`: no value is in its valid range 0 to 1, so the range is not applied." == note for note in found.notes
    )


@pytest.mark.parametrize("form", [2, 3])
def test_a_store_is_read_with_its_valid_range(form, tmp_path):
    data = sample()
    data.t.attrs["valid_range"] = [260.0, 285.0]
    data.to_zarr(tmp_path / "a.zarr", zarr_format=form, consolidated=False)
    found = open_store(tmp_path / "a.zarr")
    values = region(found, "t", {}, (slice(0, 36), slice(0, 48)))
    assert np.array_equal(np.isfinite(values), (data.t >= 260) & (data.t <= 285))
    assert np.array_equal(found.values("t"), values, equal_nan=True)
    assert any("`t`: values outside its valid range 260 to 285 are taken as missing." in note for note in found.notes)


@pytest.mark.parametrize("mark", [1e20, -9999.0, -32767.0, -999.0, 99999.0, 1e15])
def test_marks_without_a_word_are_data_and_said(mark, tmp_path, capsys):
    data = sample().astype("f4")
    data.q.values[3, 3:6] = mark
    found = written(tmp_path, data)
    assert (found.values("q")[3, 3:6] == np.float32(mark)).all()
    words = f"`q`: 3 values of {mark:g}, far from all others, count as data but look like missing values"
    assert any(words in note for note in found.notes) and not any("`t`" in note for note in found.notes)
    assert len(found.doubts) == 1 and words in found.doubts[0]
    spec = DownscalingSpec("t", ("q",), block=(4, 6))
    assert any(words in note for note in make_problem(found, spec).notes)
    main(["downscale", str(tmp_path / "a.nc"), "--target", "t", "--covariates", "q", "--block", "4", "6",
          "--no-learn", "--json", str(tmp_path / "out.json")])  # fmt: skip
    assert words in capsys.readouterr().err


def test_a_fill_value_without_an_attribute_is_missing_and_said(tmp_path):
    data = sample()
    data.t.values[3, 3] = 9.969209968386869e36
    found = open_upload(netcdf(data), "mine.nc")
    assert np.isnan(found.values("t")[3, 3]) and np.isfinite(found.values("t")).sum() == data.t.size - 1
    assert any(
        "`t`: 1 value of 9.97e+36 or so are too large to be data and count as missing." in n for n in found.notes
    )


@pytest.mark.parametrize("mark", [999.0, -999.0, 9999.0])
def test_ordinary_values_are_no_marks(mark, tmp_path):
    """A height of 999 m among others, and a field that only takes such values."""
    data = sample()
    data.orog.values[:] = mark - np.sign(mark) * np.arange(data.orog.size).reshape(data.orog.shape)
    data.q.values[:] = mark
    found = written(tmp_path, data)
    assert not [note for note in found.notes if "look like missing values" in note]


def test_many_remarks_are_cut_short(tmp_path):
    data = sample(8, 10)
    for number in range(30):
        data[f"v{number}"] = data.t.copy()
        data[f"v{number}"].values[0, 0] = -9999
    found = written(tmp_path, data)
    assert len(found.notes) == 13 and found.notes[-1] == "18 more notes of this kind are not shown."


def test_an_empty_dimension_has_no_index_to_choose():
    data = sample(8, 10).expand_dims(time=3).isel(time=slice(0, 0))
    found = fields(data.assign(q=sample(8, 10).q))
    with pytest.raises(InputError, match="Dimension `time` of `t` has no values"):
        found.values("t")
    with pytest.raises(InputError, match="the only index is 0"):
        fields(sample(8, 10).expand_dims(time=1)).values("t", {"t:time": 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [("grid_north_pole_latitude", 97.5), ("grid_north_pole_latitude", np.nan), ("grid_north_pole_longitude", 4000.0),
     ("north_pole_grid_longitude", np.inf), ("north_pole_grid_longitude", "east")],
)  # fmt: skip
def test_an_impossible_pole_is_refused(name, value):
    data = rotated_dataset(offset=0.0)
    data.pole.attrs[name] = value
    with pytest.raises(InputError, match=f"`{name}` is .*, which is not a position on Earth: use degrees within"):
        fields(data)


def test_a_projection_that_leads_nowhere_is_refused():
    mapping = {"grid_mapping_name": "geostationary", "perspective_point_height": 35_786_023.0,
               "longitude_of_projection_origin": 0.0, "sweep_angle_axis": "y"}  # fmt: skip
    line = np.linspace(-8e7, 8e7, 9)
    data = xr.Dataset({"t": (("y", "x"), np.eye(9), {"grid_mapping": "where"}), "where": ((), 0, mapping)})
    data = data.assign_coords(y=("y", line, {"units": "m", "standard_name": "projection_y_coordinate"}),
                              x=("x", line, {"units": "m", "standard_name": "projection_x_coordinate"}))  # fmt: skip
    with pytest.raises(InputError, match="no position on Earth under the grid mapping"):
        fields(data)


def curvilinear(latitude: np.ndarray, longitude: np.ndarray) -> xr.Dataset:
    dims = ("j", "i")
    return xr.Dataset(
        {"t": (dims, smooth(latitude, longitude))}, {"nav_lat": (dims, latitude), "nav_lon": (dims, longitude)}
    )


def sheet() -> tuple[np.ndarray, np.ndarray]:
    y, x = np.meshgrid(np.arange(40.0), np.arange(50.0), indexing="ij")
    return 30 + 0.5 * y + 0.05 * x, -20 + 0.6 * x - 0.03 * y


@pytest.mark.parametrize("turned", [lambda a: a, lambda a: a[::-1], lambda a: a[:, ::-1], lambda a: a.T])
def test_whole_sheets_pass_however_they_lie(turned):
    latitude, longitude = sheet()
    assert fields(curvilinear(turned(latitude), turned(longitude))).grid.kind == "curvilinear"


def test_stretched_polar_folded_and_overlapping_sheets_pass():
    """Steps that grow along a row, a row at the pole, rows that lie twice, scans that overlap as a satellite's do."""
    latitude, longitude = sheet()
    stretched = np.cumsum(np.geomspace(0.01, 3, 50))[None] + 0 * latitude
    y, x = np.meshgrid(np.linspace(60, 90, 40), np.linspace(0, 357, 120), indexing="ij")
    folded = [np.concatenate([a, a[-1:, ::1], a[-2:-1]]) for a in (latitude, longitude)]
    scans = latitude + 0.0
    for first in range(0, 40, 10):
        scans[first : first + 10] += 0.02 * np.arange(10)[:, None] * np.abs(np.linspace(-1, 1, 50))[None]
    for pair in ((latitude, stretched), (y, x), folded, (scans, longitude)):
        assert fields(curvilinear(*pair)).grid.kind == "curvilinear"


def scrambled(which: str) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    latitude, longitude = sheet()
    if which == "columns":
        longitude = longitude[:, rng.permutation(50)]
    elif which == "each longitude":
        longitude = rng.permutation(longitude.ravel()).reshape(longitude.shape)
    elif which == "one cell":
        longitude[20, 30] += 90
    elif which == "rows":
        order = rng.permutation(40)
        latitude, longitude = latitude[order], longitude[order]
    return latitude, longitude


@pytest.mark.parametrize("which", ["columns", "each longitude", "one cell", "rows"])
def test_scrambled_positions_are_refused(which):
    with pytest.raises(InputError, match=r"scrambled. Write them again"):
        fields(curvilinear(*scrambled(which)))


@pytest.mark.parametrize("mark", [-777.0, -9.9, 0.0, 1234.5])
def test_a_number_that_stands_often_and_far_from_all_others_is_told(mark, tmp_path):
    data = sample()
    values = data.t.values.copy()
    values.flat[:20] = mark
    data["t"] = data.t.copy(data=values)
    found = written(tmp_path, data)
    assert any(f"`t`: 20 values of {mark:g}, far from all others" in note for note in found.notes)
    assert np.array_equal(found.values("t"), values)


@pytest.mark.parametrize(
    "change",
    [
        lambda v: np.where(v > np.median(v), 3 * (v - np.median(v)), 0.0),  # rain: half of it none
        lambda v: np.clip((v - v.min()) / np.ptp(v) * 2 - 0.5, 0, 1),  # cloud cover
        lambda v: (v > np.median(v)) * 1.0,  # a mask
        lambda v: np.where(v > np.median(v), np.round(v - v.min()) % 4 + 20, 0.0),  # classes
        lambda v: np.maximum(v - 275.0, -1.8),  # sea that freezes
    ],
)
def test_values_that_fields_really_repeat_are_not_told(change, tmp_path):
    data = sample()
    data["t"] = data.t.copy(data=change(data.t.values))
    assert not any("far from all others" in note for note in written(tmp_path, data).notes)


def test_a_limit_given_as_text_is_read(tmp_path):
    data = sample()
    data.t.attrs["valid_min"] = "273.15"
    values = written(tmp_path, data).values("t")
    assert np.array_equal(np.isfinite(values), data.t.values >= 273.15)
