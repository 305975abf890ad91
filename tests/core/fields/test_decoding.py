"""One bad variable costs itself, one absurd time its dates; the rest of the file is read and the notes say so."""

from io import BytesIO

import h5py
import numpy as np
import pytest
import scipy.io
import xarray as xr

from deconditioning.errors import InputError
from deconditioning.fields.reading.decoding import decode
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.units import convert
from tests.core.fields.samples import netcdf, region
from tests.corpus.crafted import COLUMNS, ROWS, field, hdf5


def damaged(name: str) -> bytes:
    """A file in which a variable has a compressed chunk of zeros where its bytes should be."""
    raw = bytearray(netcdf(region(), **{name: {"zlib": True}}))
    with h5py.File(BytesIO(bytes(raw))) as file:
        chunk = file[name].id.get_chunk_info(0)
    raw[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    return bytes(raw)


def test_a_damaged_variable_is_left_out_and_named():
    found = open_upload(damaged("q"), "mine.nc")
    assert set(found.variables()) == {"t", "orog"}
    assert np.array_equal(found.values("t"), region().t.values)
    assert [note for note in found.notes if note.startswith("Skipped because it could not be read: `q`: ")]


@pytest.mark.parametrize("attributes", [{"scale_factor": "two"}, {"add_offset": [1.0, 2.0]}])
def test_attributes_that_make_no_sense_cost_their_variable(attributes, tmp_path):
    (tmp_path / "a.nc").write_bytes(hdf5(lambda file: file["bad"].attrs.update(attributes), fields=("q", "bad")))
    found = open_fields(tmp_path / "a.nc")
    assert set(found.variables()) == {"q"}
    name, value = next(iter(attributes.items()))
    assert any(f"`bad`: its `{name}` is {value}, which is not a number" in note for note in found.notes)


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT"])
@pytest.mark.parametrize(
    ("times", "units"),
    [([0.0, 1e300, 2.0], "days since 2000-01-01"), ([0.0, 1.0, 2.0], "days since yesterday"),
     ([0.0, -1e17, 2.0], "seconds since 1970-01-01")],
)  # fmt: skip
def test_an_absurd_time_keeps_its_numbers_and_all_fields(form, times, units):
    data = region(12, 16).expand_dims(time=3).copy()
    data["time"] = ("time", times, {"units": units})
    found = open_upload(netcdf(data, form), "mine.nc")
    assert set(found.variables()) == {"t", "orog", "q"} and len(found.variables()["t"].extra["time"]) == 3
    assert any(
        "`time` could not be read as dates" in note and "its raw numbers are used" in note for note in found.notes
    )
    assert found.time_label("t", {"time": 1}) is None
    assert np.array_equal(found.values("t", {"time": 2}), region(12, 16).t.values)


def test_a_lost_coordinate_is_told_with_what_it_costs():
    with pytest.raises(InputError, match=r"No latitude and longitude .*Skipped because .* `lat`: .*\.$"):
        open_upload(damaged("lat"), "mine.nc")


def test_a_dimension_of_two_lengths_costs_the_odd_variable(tmp_path):
    def odd(file):
        field(file, "t", np.zeros((ROWS, COLUMNS)) + np.arange(COLUMNS))
        wrong = file.create_dataset("wrong", data=np.zeros((ROWS + 1, COLUMNS)))
        wrong.dims[0].attach_scale(file["lat"])
        wrong.dims[1].attach_scale(file["lon"])

    (tmp_path / "a.nc").write_bytes(hdf5(odd))
    found = open_fields(tmp_path / "a.nc")
    assert set(found.variables()) == {"t", "q"}
    assert any("`wrong`: it holds 7 × 8 values, its dimensions say 6 × 8" in note for note in found.notes)


def test_nothing_to_be_read_is_a_sentence():
    raw = xr.Dataset({"words": ("n", ["a", "b"])})
    with pytest.raises(InputError, match="no numeric field"):
        open_upload(netcdf(raw), "mine.nc")


def test_memory_that_ends_is_no_fault_of_a_variable(tmp_path, monkeypatch):
    (tmp_path / "a.nc").write_bytes(netcdf(region(12, 16)))
    with decode(tmp_path / "a.nc") as decoded:
        monkeypatch.setattr(xr.Variable, "load", lambda self: (_ for _ in ()).throw(MemoryError()))
        with pytest.raises(MemoryError):
            decoded.load()


@pytest.mark.parametrize(
    ("head", "words"),
    [(b"BZh9....", r"a bzip2 archive .*it begins with 'BZh9'"),
     (b"\x89PNG\r\n\x1a\n", r"the bytes 89 50 4e 47"), (b"<html><body>", "begins with '<htm'"),
     (b"\x00\x01\x02\x03\x04", "the bytes 00 01 02 03"), ("äöü".encode(), "the bytes c3 a4 c3 b6")],
)  # fmt: skip
def test_first_bytes_are_told_as_people_read_them(head, words, tmp_path):
    (tmp_path / "a.nc").write_bytes(head)
    with pytest.raises(InputError, match=words) as error:
        open_fields(tmp_path / "a.nc")
    assert "b'" not in str(error.value)


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET"])
@pytest.mark.parametrize("letters", ["latin-1", "utf-8"])
def test_units_with_a_degree_sign_in_classic_files(tmp_path, form, letters):
    """°C in one byte, as Fortran and IDL programs write it, and in two; SciPy writes the bytes as they are."""
    data = region(24, 28)
    with scipy.io.netcdf_file(tmp_path / "a.nc", "w", version=1 if form == "NETCDF3_CLASSIC" else 2) as target:
        for name in ("lat", "lon"):
            target.createDimension(name, data.sizes[name])
            line = target.createVariable(name, "d", (name,))
            line[:] = data[name].values
            line.units = ("°N" if name == "lat" else "°E").encode(letters)
        sheet = target.createVariable("t", "d", ("lat", "lon"))
        sheet[:] = data.t.values - 273.15
        sheet.units, sheet.long_name = "°C".encode(letters), "Température".encode(letters)
        target.title = "Météo".encode(letters)
    for found in (open_fields(tmp_path / "a.nc"), open_upload(tmp_path / "a.nc", "a.nc")):
        about = found.check("t")
        assert (about.units, about.long_name) == ("°C", "Température") and "Météo" in found.source
        assert np.array_equal(found.values("t"), data.t.values - 273.15)
        assert np.array_equal(found.grid.latitude[:, 0], data.lat.values)
        kelvin, said = convert(found.values("t"), about.units, "K", "t")
        assert np.allclose(kelvin, data.t.values) and said
