"""Everything wrong that a person can upload: one sentence each, and the application lives."""

import subprocess
import sys

import h5py
import numpy as np
import pytest
import xarray as xr

from deconditioning import sandbox
from deconditioning.errors import InputError
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.reading.upload import open_upload
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.store import load_fields, save_fields
from tests.core.fields.samples import fields, netcdf, region


def refused(data: bytes, words: str, **limits) -> str:
    with pytest.raises(InputError, match=words) as error:
        open_upload(data, "mine.nc", **limits)
    sentence = str(error.value)
    assert sentence.endswith(".") and "\n" not in sentence and "Traceback" not in sentence and len(sentence) < 400
    return sentence


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT"])
def test_an_upload_is_the_file(tmp_path, form):
    data = region().expand_dims(time=np.array(["2001-01-01"], dtype="datetime64[ns]"))
    raw = netcdf(data.assign(words=("lat", np.full(36, "ab"))), form)
    (tmp_path / "mine.nc").write_bytes(raw)
    sent, here = open_upload(raw, "C:\\files\\mine.nc"), open_fields(tmp_path / "mine.nc")
    assert set(sent.variables()) == set(here.variables()) == {"t", "orog", "q"}
    for name in here.variables():
        assert np.array_equal(sent.values(name), here.values(name))
        assert sent.variables()[name] == here.variables()[name]
    assert (sent.notes, sent.source, sent.licence) == (here.notes, here.source, here.licence)
    assert np.array_equal(sent.grid.area, here.grid.area) and sent.grid.wraps == here.grid.wraps
    spec = DownscalingSpec("t", ("orog",), block=(4, 6))
    assert make_problem(sent, spec).data.targets.equal(make_problem(here, spec).data.targets)


def test_not_a_netcdf():
    refused(b"name,value\na,1\n", "not a NetCDF file")
    refused(b"", "empty")


def test_truncated():
    refused(netcdf(region())[:9000], r"is incomplete \(9 of \d+ kB\): download or copy it again")
    refused(netcdf(region(), "NETCDF3_CLASSIC")[:9000], "damaged|truncated|cut short")


def test_damaged_file_with_good_header():
    raw = bytearray(netcdf(region(), t={"zlib": True}))
    raw[len(raw) // 2 : len(raw) // 2 + 4000] = bytes(4000)
    try:
        open_upload(bytes(raw), "mine.nc")
    except InputError as error:
        assert str(error).endswith(".")


def test_gigabytes_in_a_header(tmp_path):
    with h5py.File(tmp_path / "big.nc", "w") as file:
        for name, size in (("lat", 10_000), ("lon", 25_000)):
            file[name] = np.linspace(0, 80, size)
            file[name].make_scale(name)
            file[name].attrs["units"] = "degrees_north" if name == "lat" else "degrees_east"
        field = file.create_dataset("t", (10_000, 25_000), "f8", chunks=(100, 100))
        field.dims[0].attach_scale(file["lat"])
        field.dims[1].attach_scale(file["lon"])
    raw = (tmp_path / "big.nc").read_bytes()
    assert len(raw) < 1_000_000
    assert "2.0 GB" in refused(raw, "declares")


def test_gigabytes_in_a_classic_header():
    raw = bytearray(netcdf(region(), "NETCDF3_64BIT"))
    at = raw.index(b"lat\x00") + 4  # the length of a dimension follows its name
    raw[at : at + 4] = (40_000_000).to_bytes(4, "big")
    refused(bytes(raw), "declares|damaged|memory")


def test_memory_and_time_have_limits(real_readers):
    # a library that gets no memory says so, dies, or tries again until its time is up
    refused(netcdf(region()), "needs more memory|the reader stopped|longer than 3 s", memory_mb=250, seconds=3)
    refused(netcdf(region()), "longer than 0.05 s", seconds=0.05)


def test_what_may_be_declared_can_be_opened(tmp_path):
    """The largest data that are let through fit in the reader's memory."""
    with h5py.File(tmp_path / "large.nc", "w") as file:
        file["time"] = np.arange(110)
        file["time"].make_scale("time")
        for name, size in (("lat", 1000), ("lon", 1000)):
            file[name] = np.linspace(80, 0, size)
            file[name].make_scale(name)
            file[name].attrs["units"] = "degrees_north" if name == "lat" else "degrees_east"
        field = file.create_dataset("t", (110, 1000, 1000), "f4", chunks=(1, 1000, 1000))
        field[0] = np.arange(1e6).reshape(1000, 1000)
        for dim, name in enumerate(("time", "lat", "lon")):
            field.dims[dim].attach_scale(file[name])
    found = open_upload((tmp_path / "large.nc").read_bytes(), "large.nc")
    assert found.values("t")[0, 0] == 999_999 and found.dataset.t.shape == (110, 1000, 1000)


def test_every_kind_of_wrong_content():
    data = region()
    refused(netcdf(data.drop_vars(["lat", "lon"])), "No latitude and longitude")
    refused(netcdf(data.isel(lat=0, drop=True)), "one-dimensional")
    refused(netcdf(data.assign_coords(lat=np.append(data.lat[:-1], data.lat[-2]))), "twice")
    refused(netcdf(xr.Dataset({"name": (("lat", "lon"), np.full((36, 48), "x"))}, data.coords)), "no numeric field")


def test_all_missing_constant_and_text_fields_are_refused_when_chosen():
    data = region()
    empty, flat = data.t * np.nan, data.t * 0 + 5
    found = open_upload(
        netcdf(data.assign(empty=empty, flat=flat, words=(("lat", "lon"), np.full((36, 48), "x")))), "mine.nc"
    )
    for target, words in (("empty", "only missing values"), ("flat", "is constant"), ("words", "text")):
        with pytest.raises(InputError, match=words):
            make_problem(found, DownscalingSpec(target, ("orog",), block=(4, 6)))


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_CLASSIC"])
def test_flipped_bits_never_get_past_the_sentence(tmp_path, form):
    """Many damaged copies through the reader's own code, in one process that must survive."""
    rng = np.random.default_rng(0)
    raw = netcdf(region(12, 16), form)
    for number in range(60):
        damaged = bytearray(raw)
        reach = len(raw) if number % 2 else 2000
        for position in rng.integers(0, reach, 3):
            damaged[position] ^= 1 << int(rng.integers(8))
        (tmp_path / f"{number}.nc").write_bytes(bytes(damaged))
    program = (
        "import sys; from pathlib import Path; from deconditioning.fields.reading import upload_process as reader\n"
        "from deconditioning.sandbox import _sentence\n"
        "for p in sorted(Path(sys.argv[1]).glob('*.nc')):\n"
        "    try: reader.read(p, p.with_suffix('.out'), 'mine.nc', 10**9); print('ok')\n"
        "    except Exception as e: print(_sentence('mine.nc', e))\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert done.returncode == 0 and len(lines) == 60, done.stderr[-500:]
    assert all(line == "ok" or line.endswith(".") for line in lines)
    assert 0 < lines.count("ok") < 60
    for path in tmp_path.glob("*.out"):
        load_fields(path.read_bytes())


def test_the_reader_stays_light():
    program = (
        "import sys, deconditioning.fields.reading.upload_process, deconditioning.fields.reading.opening\n"
        "import deconditioning.fields.store\n"
        "print('torch' in sys.modules, 'streamlit' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_stored_fields_come_back_and_nothing_is_unpickled():
    found = fields(region())
    back = load_fields(save_fields(found))
    assert np.array_equal(back.values("t"), found.values("t")) and back.grid.kind == "latlon"
    with pytest.raises(InputError, match="could not be read back"):
        load_fields(b"something else")
    from io import BytesIO

    buffer = BytesIO()
    np.savez(buffer, head=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="could not be read back"):
        load_fields(buffer.getvalue())


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("x.so: failed to map segment"),
        OSError(12, "Cannot allocate memory"),
        SystemError("error return without exception set"),
    ],
)
def test_memory_that_ends_while_a_library_is_loaded_is_told_as_such(error):
    assert "needs more memory" in sandbox._sentence("mine.nc", error)
    assert "damaged" in sandbox._sentence("mine.nc", ValueError("odd bytes"))
