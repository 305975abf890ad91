"""Zarr stores of both formats read part by part, and one written chunk by chunk."""

import json
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.reading.zarr_reading import chunks_of, is_store, open_store, region
from deconditioning.fields.writing.zarr_writing import (
    Chunk,
    Layout,
    about_store,
    create_store,
    missing_chunks,
    write_chunk,
)

VALUES = np.random.default_rng(0).normal(size=(2, 6, 8)).astype("f4")
WINDOW = slice(1, 4), slice(2, 7)


@pytest.fixture(scope="module")
def dataset() -> xr.Dataset:
    """Latitudes that descend, one missing value, one left without a mark."""
    values = VALUES.copy()
    values[1, 4, 3], values[1, 3, 3] = np.nan, 9.96921e36
    coordinates = {
        "time": ("time", np.array(["2001-01-15", "2001-02-15"], "M8[ns]")),
        "lat": ("lat", np.linspace(50, 40, 6), {"units": "degrees_north"}),
        "lon": ("lon", np.linspace(0, 14, 8), {"units": "degrees_east"}),
    }
    return xr.Dataset({"t": (("time", "lat", "lon"), values, {"units": "°C"})}, coordinates)


@pytest.fixture(scope="module", params=[2, 3])
def path(request, dataset, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("zarr") / "in.zarr"
    dataset.to_zarr(path, zarr_format=request.param, encoding={"t": {"chunks": (1, 4, 8)}}, consolidated=False)
    return path


def test_a_window_of_either_format_is_what_was_written(path):
    expected = VALUES[1, ::-1][WINDOW].astype(float)
    expected[0, 1] = expected[1, 1] = np.nan  # rows 4 and 3 from the north are 1 and 2 from the south
    for fields in (open_store(path), open_store(f"file://{path}")):
        assert np.array_equal(region(fields, "t", {"time": 1}, WINDOW), expected, equal_nan=True)
        assert fields.check("t").units == "°C" and chunks_of(fields.dataset["t"]) == {"time": 1, "lat": 4, "lon": 8}
        assert fields.time_label("t", {"time": 1}) == "2001-02-15T00:00"


def test_fields_on_dask_arrays_are_read_in_this_thread(path):
    """Whatever scheduler is set: inside a task of a cluster that would be the cluster itself."""
    import dask

    def refuse(*_, **__):
        raise AssertionError("handed to a scheduler")

    fields = fields_from_dataset(xr.open_zarr(path, chunks={}, consolidated=False))
    with dask.config.set(scheduler=refuse):
        found = region(fields, "t", {"time": 1}, WINDOW)
    assert np.array_equal(found, region(open_store(path), "t", {"time": 1}, WINDOW), equal_nan=True)


def test_what_is_no_store_is_a_sentence(path, tmp_path):
    assert is_store(path) and not is_store(tmp_path)
    with pytest.raises(InputError, match="every worker must see the same path"):
        open_store(tmp_path / "none.zarr")
    with pytest.raises(InputError, match=r"none.zarr could not be read"):
        open_store(f"file://{tmp_path}/none.zarr")


@pytest.mark.parametrize("url", ["reference://?fo={}", "simplecache::reference://{}", "reference::{}://x"])
def test_a_description_of_chunks_in_other_files_is_refused(url, tmp_path):
    with pytest.raises(InputError, match=r"parts of other files.*: write the fields into a Zarr store"):
        open_store(url.format(tmp_path / "refs.json"))


def test_names_in_a_stores_own_list_do_not_lead_out_of_it(dataset, tmp_path):
    """A list of the store's arrays that names one beside it, as a crafted store may have."""
    inside, beside = tmp_path / "in.zarr", tmp_path / "beside.zarr"
    dataset.to_zarr(inside, zarr_format=2, consolidated=True)
    dataset.rename(t="secret").to_zarr(beside, zarr_format=2, consolidated=False)
    listed = json.loads((inside / ".zmetadata").read_text())
    for part in (".zarray", ".zattrs"):
        listed["metadata"][f"../beside.zarr/secret/{part}"] = json.loads((beside / "secret" / part).read_text())
    (inside / ".zmetadata").write_text(json.dumps(listed))
    with pytest.raises(InputError, match=r"in\.zarr could not be read"):
        open_store(inside)


def test_chunks_are_there_whole_or_not_at_all(tmp_path):
    layout, path = Layout((2, 5, 7), (3, 4)), tmp_path / "out.zarr"
    line = {"y": xr.Variable("y", np.arange(5.0)), "x": xr.Variable("x", np.arange(7.0))}
    create_store(path, ("time", "y", "x"), layout, {"mean": {"units": "K"}, "sd": {}}, line, {"title": "both"})
    assert [file.name for file in tmp_path.iterdir()] == ["out.zarr"] and about_store(path) == {"title": "both"}
    assert missing_chunks(path, layout, ("mean", "sd")) == layout.chunks() and len(layout.chunks()) == 8
    whole = VALUES[0, :5, :7].astype(float)
    for chunk in layout.chunks():
        part = whole[layout.window(chunk)]
        # a chunk of missing values is a chunk, too
        assert write_chunk(path, layout, chunk, {"mean": part, "sd": np.full_like(part, np.nan)}) == 8 * part.size
    assert missing_chunks(path, layout, ("mean", "sd")) == []
    found = xr.open_zarr(path, consolidated=False)
    assert np.array_equal(found["mean"][1], VALUES[0, :5, :7]) and np.isnan(found["sd"]).all()
    assert found["mean"].attrs == {"units": "K"} and found["mean"].dims == ("time", "y", "x")
    (path / "sd/c/1/0/1").rename(path / "sd/c/1/0/1.5d.partial")
    assert missing_chunks(path, layout, ("mean", "sd")) == [Chunk(1, 0, 1)]
    with pytest.raises(InputError, match="cannot be created"):
        create_store(tmp_path / "none" / "out.zarr", ("time", "y", "x"), layout, {}, line, {})
    with pytest.raises(InputError, match="cannot be written"):
        write_chunk(tmp_path / "none.zarr", layout, Chunk(0, 0, 0), {"mean": whole[:3, :4]})
