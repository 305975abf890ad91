"""Zarr stores as zarr itself, netCDF and DataTree write them: fill values, groups, names of dimensions."""

import json
import shutil

import numpy as np
import pytest
import xarray as xr
import zarr

from deconditioning.errors import InputError
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.zarr_reading import open_store, region
from tests.core.fields.samples import region as sample

DATA = sample(12, 14)
RAIN = np.where(DATA.orog.values > 100, DATA.orog.values, 0.0)


def by_zarr(path, form, fill=0, attributes=None, dtype="f8", values=RAIN):
    """A store that zarr writes without xarray: `rain` with a fill value, on latitudes from the equator."""
    root = zarr.open_group(path, mode="w", zarr_format=form)
    lines = {"lat": (np.arange(12.0), ["lat"], {"units": "degrees_north"}),
             "lon": (np.arange(14.0), ["lon"], {"units": "degrees_east"}),
             "rain": (values.astype(dtype), ["lat", "lon"], {"units": "mm"} | (attributes or {}))}  # fmt: skip
    for name, (held, dims, about) in lines.items():
        named = {"dimension_names": dims} if form == 3 else {}
        mark = fill if name == "rain" else 0
        array = root.create_array(name, shape=held.shape, chunks=held.shape, dtype=held.dtype, fill_value=mark, **named)
        array[...] = held
        array.attrs.update(about | ({"_ARRAY_DIMENSIONS": dims} if form == 2 else {}))
    return path


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_a_fill_value_of_zero_leaves_zeros_as_they_are(tmp_path, form, dtype):
    values = np.round(np.clip(RAIN, 0, 200))
    fields = open_store(by_zarr(tmp_path / "a.zarr", form, dtype=dtype, values=values))
    assert (values == 0).sum() > 50 and np.array_equal(fields.values("rain"), values)
    assert np.array_equal(region(fields, "rain", {}, (slice(0, 12), slice(0, 14))), values)
    assert fields.grid.latitude.min() == 0
    assert any("Zeros of `rain` are treated as data" in note for note in fields.notes) == (form == 2)


def test_names_of_several_fields_with_zeros_are_in_one_order(tmp_path):
    path = by_zarr(tmp_path / "a.zarr", 2)
    for name in ("snow", "hail", "dew", "fog"):
        shutil.copytree(path / "rain", path / name)
    said = "Zeros of `dew`, `fog`, `hail`, `rain`, `snow` are treated as data"
    assert any(said in note for note in open_store(path).notes)


def test_chunks_that_were_never_written_are_zeros(tmp_path):
    path = by_zarr(tmp_path / "a.zarr", 2)
    for chunk in (path / "rain").glob("0.*"):
        chunk.unlink()
    assert (open_store(path).values("rain") == 0).all()


@pytest.mark.parametrize("attributes", [{"_FillValue": 0.0}, {"missing_value": 0.0}])
@pytest.mark.parametrize("form", [2, 3])
def test_zeros_that_the_file_calls_missing_are(tmp_path, form, attributes):
    if form == 3 and "_FillValue" in attributes:
        attributes = {"_FillValue": "AAAAAAAAAAA="}  # as xarray writes a double into format 3
    fields = open_store(by_zarr(tmp_path / "a.zarr", form, attributes=attributes))
    assert np.array_equal(np.isnan(fields.values("rain")), RAIN == 0)


def test_zeros_of_packed_data_are_missing(tmp_path):
    packed = np.where(RAIN > 0, np.round(RAIN / 0.5), 0)
    about = {"scale_factor": 0.5, "add_offset": 10.0}
    found = open_store(by_zarr(tmp_path / "a.zarr", 2, attributes=about, dtype="u2", values=packed)).values("rain")
    assert np.array_equal(np.isnan(found), packed == 0)
    assert np.allclose(found[packed > 0], packed[packed > 0] * 0.5 + 10)


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("mark", [-9999.0, 1e20, 9.969209968386869e36])
def test_a_fill_value_that_can_be_nothing_else_marks_gaps(tmp_path, form, mark):
    values = np.where(RAIN > 0, RAIN, mark)
    found = open_store(by_zarr(tmp_path / "a.zarr", form, fill=mark, values=values)).values("rain")
    assert np.array_equal(np.isnan(found), RAIN == 0)


@pytest.mark.parametrize("form", [2, 3])
def test_what_xarray_writes_comes_back(tmp_path, form):
    data = DATA.copy(deep=True)
    data["rain"] = (("lat", "lon"), np.where(RAIN > 0, RAIN, np.nan), {"units": "mm"})
    data["count"] = (("lat", "lon"), (RAIN > 0).astype("i4"))
    encoding = {"rain": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": 0}}
    data.to_zarr(tmp_path / "a.zarr", zarr_format=form, encoding=encoding)
    fields = open_store(tmp_path / "a.zarr")
    assert np.array_equal(np.isnan(fields.values("rain")), RAIN == 0)
    assert np.array_equal(fields.values("count"), RAIN > 0) and np.array_equal(fields.values("t"), DATA.t.values)
    assert not fields.notes


@pytest.mark.parametrize("form", [2, 3])
@pytest.mark.parametrize("consolidated", [True, False])
def test_fields_in_nested_groups_are_read(tmp_path, form, consolidated):
    tree = xr.DataTree.from_dict({"/": xr.Dataset(attrs={"title": "a tree"}), "/model/monthly": DATA})
    tree.to_zarr(tmp_path / "a.zarr", zarr_format=form, consolidated=consolidated)
    fields = open_fields(tmp_path / "a.zarr")
    assert set(fields.variables()) == {"t", "orog", "q"} and np.array_equal(fields.values("t"), DATA.t.values)
    assert any("those of the file's group `model/monthly`" in note for note in fields.notes)
    assert "a tree" in fields.source


def test_children_share_the_coordinates_of_their_parent(tmp_path):
    root = DATA[["lat", "lon"]]
    parts = {
        "/": root,
        "/a": DATA[["t"]].drop_vars(["lat", "lon"]),
        "/b": DATA[["t", "orog"]].drop_vars(["lat", "lon"]),
    }
    xr.DataTree.from_dict(parts).to_zarr(tmp_path / "a.zarr")
    fields = open_fields(tmp_path / "a.zarr")
    assert set(fields.variables()) == {"a_t", "b_t", "orog"}
    assert np.array_equal(fields.values("b_t"), DATA.t.values)


@pytest.mark.parametrize("key", ["_nczarr_array", "_NCZARR_ARRAY"])
def test_dimensions_by_netcdfs_own_names(tmp_path, key):
    path = tmp_path / "a.zarr"
    DATA.to_zarr(path, zarr_format=2, consolidated=False)
    named = {"_nczarr_array": "dimension_references", "_NCZARR_ARRAY": "dimrefs"}[key]
    for name in DATA.variables:
        about = json.loads((path / name / ".zattrs").read_text())
        dims = [f"/{dim}" for dim in about.pop("_ARRAY_DIMENSIONS")]
        (path / name / ".zattrs").write_text(json.dumps(about | {key: {named: dims, "storage": "chunked"}}))
    assert np.array_equal(open_fields(path).values("t"), DATA.t.values)


def test_one_broken_array_costs_only_itself(tmp_path):
    path = tmp_path / "a.zarr"
    DATA.to_zarr(path, zarr_format=2, consolidated=False)
    (path / "q" / ".zattrs").write_text("{}")
    fields = open_fields(path)
    assert set(fields.variables()) == {"t", "orog"} and any("could not be read: `q`" in note for note in fields.notes)


def test_groups_without_end_are_refused(tmp_path):
    group = zarr.open_group(tmp_path / "a.zarr", mode="w")
    for _ in range(45):
        group = group.create_group("g")
    with pytest.raises(InputError, match="groups more than 40 deep"):
        open_fields(tmp_path / "a.zarr")
