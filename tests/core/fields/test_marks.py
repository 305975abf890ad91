"""Marks of missing values as files give them: in other types, as text, by other names, or without a word."""

import netCDF4
import numpy as np
import pytest
import xarray as xr

from deconditioning.fields.reading.missing_values import repaired
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.reading.validity import DOUBTFUL, only_valid, too_large
from deconditioning.fill_values import is_fill_value
from tests.core.fields.samples import netcdf, region

DATA = region(24, 28)
WHERE = np.zeros(DATA.t.shape, dtype=bool)
WHERE[:9, :11] = True


def written(path, kind, mark, form="NETCDF4", plain=None, **attributes):
    """`t` (K) as a type, with a mark in 99 pixels, and whatever the file says of it."""
    values = np.where(WHERE, mark, DATA.t.values if plain is None else plain).astype(kind)
    with netCDF4.Dataset(path, "w", format=form) as target:
        for name in ("lat", "lon"):
            target.createDimension(name, DATA.sizes[name])
            line = target.createVariable(name, "f8", (name,))
            line[:], line.units = DATA[name].values, DATA[name].attrs["units"]
        sheet = target.createVariable("t", kind, ("lat", "lon"))
        sheet.set_auto_maskandscale(False)
        sheet[:], sheet.units = values, "K"
        for key, value in attributes.items():
            sheet.setncattr(key, value)
    return path


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("mark", [1e20, -9999.9, -999.99, -99.9, -8.88e8, -99999.99, -9.99e33])
@pytest.mark.parametrize("said", [np.float64, str, lambda m: np.array([m, -1.0]), np.float32])
def test_a_mark_of_another_type_is_missing(tmp_path, form, mark, said):
    path = written(tmp_path / "a.nc", "f4", mark, form, missing_value=said(mark))
    found = open_fields(path).values("t")
    assert np.array_equal(np.isnan(found), WHERE)
    assert np.array_equal(found[~WHERE], DATA.t.values.astype("f4")[~WHERE])


@pytest.mark.parametrize("said", [np.float32(-9999.9), np.float64(-9999.9), "-9999.9"])
@pytest.mark.parametrize("held", [-9999.9, float(np.float32(-9999.9))])
def test_doubles_that_were_singles(tmp_path, said, held):
    found = open_fields(written(tmp_path / "a.nc", "f8", held, missing_value=said)).values("t")
    assert np.array_equal(np.isnan(found), WHERE)


@pytest.mark.parametrize("key", ["nodata", "FillValue", "missing_values", "NODATA_value", "fill_value"])
def test_a_mark_by_another_name_is_missing_and_said(tmp_path, key):
    found = open_fields(written(tmp_path / "a.nc", "f4", -9999.9, **{key: np.float64(-9999.9)}))
    assert np.array_equal(np.isnan(found.values("t")), WHERE)
    assert any(f"`t`: -9999.9, its `{key}`, counts as missing." == note for note in found.notes)


@pytest.mark.parametrize(
    "said", [np.int16(-9999), np.int32(-9999), np.float64(-9999), "-9999", np.float32(-719.9), np.float64(-719.9)]
)
def test_packed_data_have_their_mark_in_packed_or_unpacked_units(tmp_path, said):
    """Values v are stored as (v − 280) / 0.1; −9999 there is −719.9 K."""
    raw = np.round((DATA.t.values - 280) / 0.1)
    path = written(tmp_path / "a.nc", "i2", -9999, plain=raw, missing_value=said, scale_factor=0.1, add_offset=280.0)
    found = open_fields(path).values("t")
    assert np.array_equal(np.isnan(found), WHERE)
    assert np.abs(found - DATA.t.values)[~WHERE].max() < 0.051


def test_a_mark_that_is_no_number_is_said(tmp_path):
    found = open_fields(written(tmp_path / "a.nc", "f4", 280.0, missing_value="none"))
    assert np.isfinite(found.values("t")).all()
    assert any("its `missing_value` 'none' is not a number, and is not applied" in note for note in found.notes)


def test_whole_numbers_cannot_hold_every_mark(tmp_path):
    found = open_fields(written(tmp_path / "a.nc", "i2", 7, plain=np.arange(DATA.t.size).reshape(DATA.t.shape),
                                missing_value=np.float32(1e20)))  # fmt: skip
    assert np.isfinite(found.values("t")).all()
    assert any("its `missing_value` '1e+20' cannot occur in its data" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["i1", "u1"])
def test_unsigned_data_are_left_as_they_are(kind):
    variable = xr.Variable("x", np.array([1, -1, 3], kind) if kind == "i1" else np.array([1, 255, 3], kind),
                           {"_Unsigned": "true", "_FillValue": np.int8(-1)})  # fmt: skip
    assert repaired("t", variable)[0] is variable


@pytest.mark.parametrize("kind", ["i8", "i4"])
def test_times_that_are_not_a_time_need_no_fill_value(tmp_path, kind):
    data = region(8, 9)
    data = xr.concat([data.t] * 3, "time").to_dataset(name="t")
    path = tmp_path / "a.nc"
    path.write_bytes(netcdf(data))
    with netCDF4.Dataset(path, "a") as target:
        line = target.createVariable("time", kind, ("time",))
        line.set_auto_mask(False)
        line[:] = np.array([0, np.iinfo(kind).min, 48])
        line.units, line.standard_name = "hours since 2001-01-01", "time"
    for fields in (open_fields(path), open_upload(path.read_bytes(), "a.nc")):
        assert fields.check("t").extra["time"] == ("2001-01-01 00:00", "no date", "2001-01-03 00:00")


MARKS = [-99.0, -99.9, -999.0, -999.99, -9999.0, -9999.9, -99999.99, -888.8, -8.88e8, 1e20, 9.999e20, 99999.0, -32768.0]


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_without_a_word_is_asked(tmp_path, kind, mark):
    fields = open_fields(written(tmp_path / "a.nc", kind, mark))
    assert len(fields.doubts) == 1 and DOUBTFUL in fields.doubts[0] and "99 values of " in fields.doubts[0]
    assert float(fields.doubts[0].split(" values of ")[1].split(", far")[0]) == pytest.approx(mark, rel=1e-7)
    assert np.isfinite(fields.values("t")).all()


def test_two_marks_are_both_asked(tmp_path):
    plain = DATA.t.values.copy()
    plain[20, :5] = -99.0
    fields = open_fields(written(tmp_path / "a.nc", "f4", -999.0, plain=plain))
    assert [word in " ".join(fields.doubts) for word in ("99 values of -999,", "5 values of -99,")] == [True, True]


def test_temperatures_below_the_mark_of_ninety_nine(tmp_path):
    """−99.9 beside −60 to 45 °C lies within half their range, but stands often."""
    plain = np.linspace(-60, 45, DATA.t.size).reshape(DATA.t.shape)
    assert len(open_fields(written(tmp_path / "a.nc", "f4", -99.9, plain=plain)).doubts) == 1
    assert not open_fields(written(tmp_path / "b.nc", "f4", -61.0, plain=plain)).doubts


@pytest.mark.parametrize("seed", range(20))
def test_honest_data_keep_every_value_without_a_doubt(seed):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-12, 12)
    values = scale * rng.choice([rng.standard_normal(500), rng.gamma(0.2, size=500), rng.uniform(-1, 1, 500)])
    assert not any(is_fill_value(value) for value in values)
    assert np.array_equal(only_valid(values.copy(), {}), values)


@pytest.mark.parametrize(
    ("values", "missing"),
    [
        ([1.0, 2.0, 9.96921e36], [False, False, True]),
        ([280.0, 1e34, 3.3e35, 9.97e36, 2e36], [False, True, True, True, True]),
        ([0.0, 9.96921e36, 9.96921e36], [False, True, True]),
        ([1e30, 2e30, 3e30, 4e30, 1.5e30], [False] * 5),
        ([8e29, 2e30, 3e30, 9.969209968386869e36], [False, False, False, True]),
        ([1e30, 2e30, 3e30, 4e30, 1e36], [False] * 4 + [True]),
        ([5e28, 1e30, np.inf, np.nan], [False] * 4),
    ],
)  # fmt: skip
def test_values_near_1e30_are_data_where_others_are_as_large(values, missing):
    assert too_large(np.array(values)).tolist() == missing


def test_a_field_near_1e30_is_read(tmp_path):
    plain = 1e30 * (1 + np.arange(DATA.t.size).reshape(DATA.t.shape) / DATA.t.size)
    fields = open_fields(written(tmp_path / "a.nc", "f8", 9.969209968386869e36, plain=plain))
    assert np.array_equal(np.isnan(fields.values("t")), WHERE)
    assert np.array_equal(fields.values("t")[~WHERE], plain[~WHERE])
