"""NetCDF 4 as other tools write it: compressed by filters, texts of Latin-1, references, types of one's own."""

import h5py
import netCDF4
import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.writing.attributes import plain_text
from tests.core.fields.samples import netcdf, region

DATA = region(12, 15)


@pytest.fixture
def file(tmp_path):
    """A file of h5netcdf's to change."""
    path = tmp_path / "file.nc"
    path.write_bytes(netcdf(DATA))
    return path


def compressed(path, compression):
    """The fields `t` and `orog`, written by netCDF4 with a filter."""
    with netCDF4.Dataset(path, "w") as target:
        for name in ("lat", "lon"):
            target.createDimension(name, DATA.sizes[name])
            line = target.createVariable(name, "f8", (name,))
            line[:], line.units = DATA[name].values, DATA[name].attrs["units"]
        for name in ("t", "orog"):
            sheet = target.createVariable(name, "f8", ("lat", "lon"), compression=compression)
            sheet[:], sheet.units = DATA[name].values, DATA[name].attrs["units"]
    return path


@pytest.mark.parametrize("compression", ["zlib", "szip", "zstd", "bzip2", "blosc_lz", "blosc_lz4", "blosc_zstd"])
def test_every_filter_of_netcdf4_is_read_in_the_locked_process(tmp_path, compression):
    path = compressed(tmp_path / "file.nc", compression)
    fields = open_upload(path.read_bytes(), path.name)
    assert np.array_equal(fields.values("t"), DATA.t.values) and not fields.notes


def test_a_filter_that_nobody_has_is_named(file):
    with h5py.File(file, "a") as target:
        del target["t"]
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk(DATA.t.shape)
        plan.set_filter(32026, h5py.h5z.FLAG_OPTIONAL, ())
        space = h5py.h5s.create_simple(DATA.t.shape)
        held = h5py.h5d.create(target.id, b"t", h5py.h5t.IEEE_F64LE, space, plan)
        held.write_direct_chunk((0, 0), DATA.t.values.tobytes(), filter_mask=0)
        for side, name in enumerate(("lat", "lon")):
            target["t"].dims[side].attach_scale(target[name])
    fields = open_upload(file.read_bytes(), file.name)
    assert set(fields.variables()) == {"orog", "q"}
    assert any("`t`: it is compressed by Blosc2 (HDF5 filter 32026), which is not" in note for note in fields.notes)


@pytest.mark.parametrize("kind", [None, "utf-8"])
def test_texts_of_latin_1_are_text(file, kind):
    word = "°C".encode("latin-1")
    with h5py.File(file, "a") as target:
        del target["t"].attrs["units"]
        value, options = (np.bytes_(word), {}) if kind is None else (word, {"dtype": h5py.string_dtype(kind)})
        target["t"].attrs.create("units", value, **options)
        target.attrs.create("title", np.bytes_("Météo".encode("latin-1")))
    fields = open_fields(file)
    assert fields.check("t").units == "°C" and fields.name == "file.nc" and "Météo" in fields.source
    assert open_upload(file.read_bytes(), "x.nc").source.encode() == fields.source.replace("file.nc", "x.nc").encode()


@pytest.mark.parametrize("text", ["°C", "plain", "Météo", "温度"])
def test_text_survives_whichever_way_it_was_decoded(text):
    assert plain_text(text) == text == plain_text(text.encode())
    if max(map(ord, text)) < 256:
        assert plain_text(text.encode("latin-1")) == text
        assert plain_text(text.encode("latin-1").decode("utf-8", "surrogateescape")) == text


@pytest.mark.parametrize("place", ["/", "t"])
@pytest.mark.parametrize("region_of", [False, True])
def test_references_in_attributes_cost_nothing(file, place, region_of):
    with h5py.File(file, "a") as target:
        target[place].attrs["about"] = target["t"].regionref[:2] if region_of else target["t"].ref
        target[place].attrs["odd"] = np.zeros(1, dtype=[("a", "i4")])
    fields = open_fields(file)
    assert set(fields.variables()) == {"t", "orog", "q"} and np.array_equal(fields.values("t"), DATA.t.values)
    assert fields.check("t").units == "K" and "test field" in fields.source


def test_named_types_references_and_records_beside_fields(file):
    with h5py.File(file, "a") as target:
        target["record"] = np.dtype([("a", "i4"), ("b", "f8")])
        target["choice"] = h5py.enum_dtype({"land": 0, "sea": 1})
        target["t"].attrs["kind"] = h5py.Empty("f4")
        target.create_dataset("references", (2,), dtype=h5py.ref_dtype)[0] = target["t"].ref
        target.create_dataset("records", data=np.zeros(3, dtype=[("a", "i4")]))
        target.create_dataset("rows", (3,), dtype=h5py.vlen_dtype("i4"))
    fields = open_upload(file.read_bytes(), file.name)
    assert set(fields.variables()) == {"t", "orog", "q"} and np.array_equal(fields.values("t"), DATA.t.values)


@pytest.mark.parametrize("group", ["", "model/"])
@pytest.mark.parametrize("kind", [np.dtype("f4"), np.dtype("S5"), h5py.string_dtype(), np.dtype(("i4", (3,)))])
def test_named_types_of_single_numbers_and_texts_cost_nothing(file, group, kind):
    with h5py.File(file, "a") as target:
        if group:
            target.create_group(group)
            for name in [name for name in target if name != "model"]:
                target.move(name, group + name)
        target[f"{group}mine"] = kind
    fields = open_fields(file)
    assert set(fields.variables()) == {"t", "orog", "q"} and np.array_equal(fields.values("t"), DATA.t.values)


def test_a_file_of_one_filtered_variable_is_refused_by_its_filter(file):
    with h5py.File(file, "a") as target:
        for name in list(target):
            if name not in ("lat", "lon"):
                del target[name]
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plan.set_chunk(DATA.t.shape)
        plan.set_filter(40000, h5py.h5z.FLAG_OPTIONAL, ())
        h5py.h5d.create(target.id, b"t", h5py.h5t.IEEE_F64LE, h5py.h5s.create_simple(DATA.t.shape), plan)
        for side, name in enumerate(("lat", "lon")):
            target["t"].dims[side].attach_scale(target[name])
    with pytest.raises(InputError, match="HDF5 filter 40000, which is not installed"):
        open_fields(file)


def unnamed(path, rows, columns, two_dimensional, inside=("", ""), layers=0):
    """A file without dimension scales: `t` is ten times the latitude plus the longitude."""
    latitude, longitude = np.linspace(55, 40, rows), np.linspace(-10, 10, columns)
    across, down = np.meshgrid(longitude, latitude)
    values = 10 * down + across
    places = (down, across) if two_dimensional else (latitude, longitude)
    with h5py.File(path, "w") as target:
        for name, place, units in zip(
            ("latitude", "longitude"), places, ("degrees_north", "degrees_east"), strict=True
        ):
            target[f"{inside[0]}/{name}"] = place
            target[f"{inside[0]}/{name}"].attrs["units"] = units
        target[f"{inside[1]}/t"] = values
        if layers:
            target[f"{inside[1]}/u"] = np.stack([values] * layers)
    return path


@pytest.mark.parametrize(
    ("rows", "columns", "two_dimensional", "inside"),
    [
        (12, 15, False, ("", "")),
        (12, 15, True, ("", "")),
        (12, 12, True, ("", "")),
        (12, 15, True, ("swath", "swath")),
        (12, 15, True, ("geolocation", "data")),
        (12, 12, True, ("geolocation", "data")),
    ],
)
def test_axes_without_names_are_matched_by_their_lengths(tmp_path, rows, columns, two_dimensional, inside):
    fields = open_fields(unnamed(tmp_path / "file.h5", rows, columns, two_dimensional, inside))
    grid, values = fields.grid, fields.values("t")
    assert values == pytest.approx(10 * grid.latitude + grid.longitude, abs=1e-5)
    assert any("does not name its dimensions" in note for note in fields.notes)


def test_axes_that_cannot_be_told_apart_are_not_guessed(tmp_path):
    with pytest.raises(InputError, match="does not name its dimensions, and several have 12 values"):
        open_fields(unnamed(tmp_path / "square.h5", 12, 12, two_dimensional=False))
    for rows, columns in ((12, 15), (12, 12)):
        fields = open_fields(unnamed(tmp_path / "deep.h5", rows, columns, two_dimensional=True, layers=12))
        assert list(fields.variables()) == ["t"]
        assert any("`u`: has two axes of length 12 without names" in note for note in fields.notes)
    fields = open_fields(unnamed(tmp_path / "deep.h5", 12, 15, two_dimensional=True, layers=4))
    assert set(fields.variables()) == {"t", "u"}
