"""Malformed and odd files, each with what must come of it. Made anew each time, with no randomness.

``python -m tests.corpus.make FOLDER`` writes them out, to be looked at.
"""

import gzip
import struct
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from tests.core.fields.samples import netcdf, region, rotated_dataset
from tests.corpus.crafted import COLUMNS, ROWS, field, hdf5, outside

VALUES = np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS)


@dataclass(frozen=True)
class Case:
    """A file: what it is ``read`` as (names, in order), or part of the sentence that it is ``refused`` with.

    ``noted`` is part of one of the notes. ``reader`` as in ``tests.corpus.batch``.
    """

    name: str
    data: bytes
    refused: str = ""
    read: str = ""
    noted: str = ""
    reader: str = "fields"


def cases(secret: Path) -> list[Case]:
    """All of them; ``secret`` is the file that crafted ones reach for."""
    return [*_no_netcdf(), *_cut(), *_outside(secret), *_hdf5(), *_classic(), *_grids(), *_values(), *_tables(),
            *_simulations(), *_subjects()]  # fmt: skip


def small() -> xr.Dataset:
    """8 × 10 cells of one degree with `t`, `orog` and `q`."""
    return region(8, 10)


def _outside(secret: Path) -> Iterator[Case]:
    for name, data, words in outside(secret):
        yield Case(name, data, words)


def _no_netcdf() -> Iterator[Case]:
    for name, data, words in (
        ("empty.nc", b"", "The file is empty"),
        ("one-byte.nc", b"C", "not a NetCDF file"),
        ("columns.nc", b"lat lon t\n1 2 3\n", "begins with 'lat '"),
        ("page.nc", b"<!DOCTYPE html><title>404</title>", "not a NetCDF file"),
        ("picture.nc", b"\x89PNG\r\n\x1a\n" + bytes(50), "a picture"),
        ("report.pdf", b"%PDF-1.7\n", "a PDF"),
        ("packed.nc.gz", gzip.compress(b"CDF\x01" * 20, mtime=0), "a gzip archive"),
        ("forecast.grib", b"GRIB" + bytes(40), "damaged or truncated|needs the package"),
        ("cdf5.nc", b"CDF\x05" + bytes(40), "damaged"),
        ("hdf4.nc", b"\x0e\x03\x13\x01" + bytes(40), "an HDF4 file"),
        ("zeros.nc", bytes(4096), "not a NetCDF file"),
    ):
        yield Case(name, data, words)


def _cut() -> Iterator[Case]:
    for form, end in (("NETCDF4", "h5"), ("NETCDF3_CLASSIC", "cdf")):
        raw = netcdf(small(), form)
        for part in (0.002, 0.1, 0.5, 0.97):
            yield Case(
                f"cut-{part:g}-{end}.nc", raw[: max(8, int(part * len(raw)))], "damaged or truncated|is incomplete"
            )
        yield Case(f"whole-{end}.nc", raw, read="t orog q")
        yield Case(f"longer-{end}.nc", raw + b"x" * 1000, read="t orog q")


def _hdf5() -> Iterator[Case]:
    def made(name: str, write: Callable[[h5py.File], object], **expected: str) -> Case:
        return Case(f"{name}.nc", hdf5(lambda file: write(file) and None), **{"read": "q", **expected})

    yield made("soft-nowhere", lambda f: f.__setitem__("t", h5py.SoftLink("/none")), noted="`t`")
    yield made("soft-round", lambda f: f.__setitem__("t", h5py.SoftLink("/t")), noted="`t`")
    yield made("hard-loop", lambda f: f.create_group("a").__setitem__("up", f["/"]))
    yield made("deep", lambda f: f.create_group("/".join("a" * 60)), refused="more than 40 deep", read="")
    yield made("no-scales", lambda f: f.__setitem__("t", VALUES), noted="`t`: variable '/t' has no dimension scale")
    yield made("compound", lambda f: field(f, "t", np.zeros((ROWS, COLUMNS), [("a", "f4"), ("b", "i4")])))
    yield made("text", lambda f: field(f, "t", np.full((ROWS, COLUMNS), b"x")))
    yield made("truth", lambda f: field(f, "t", VALUES > 9), read="q t")
    yield made("half", lambda f: field(f, "t", VALUES.astype("f2")), read="q t")
    yield made("big-endian", lambda f: field(f, "t", VALUES.astype(">f4")), read="q t")
    yield made("complex", lambda f: field(f, "t", VALUES + 1j))
    yield made("ragged", lambda f: f.create_dataset("t", (3,), h5py.vlen_dtype("f8")), noted="`t`")
    yield made("references", lambda f: f.create_dataset("t", (3,), h5py.ref_dtype), noted="`t`")
    yield made("nothing-written", lambda f: field(f, "t", np.zeros((ROWS, COLUMNS)), chunks=(2, 2)), read="q t")
    yield made("scale-of-words", lambda f: f["q"].attrs.__setitem__("scale_factor", "two"), read="",
               refused="Skipped because it could not be read: `q`")  # fmt: skip
    yield made("units-of-bytes", lambda f: f["q"].attrs.__setitem__("units", np.bytes_(b"\xff\xfe")))
    yield made("units-of-numbers", lambda f: f["q"].attrs.__setitem__("units", [1.0, 2.0]))
    yield made("long-attribute", lambda f: f["q"].attrs.__setitem__("long_name", "x" * 60_000))
    yield made("marked-up-name", lambda f: field(f, "![p](http:∕∕x)", VALUES), read="![p](http:∕∕x) q")
    yield made("scalar-axis", lambda f: (f.__delitem__("lat"), f.__setitem__("lat", 3.0)), read="", refused="`q`")
    yield made("endless", _endless, read="", refused="declares")
    yield Case("damaged-chunk.nc", _damaged("q"), read="t orog", noted="Skipped because it could not be read: `q`")
    yield Case("damaged-axis.nc", _damaged("lat"), "Skipped because it could not be read: `lat`")
    yield Case("heap-without-end.nc", _endless_heap(), "damaged or truncated .a heap of texts without end")
    for filler in (0x00, 0xFF):
        raw = bytearray(hdf5(lambda file: None))
        raw[600:900] = bytes([filler]) * 300
        yield Case(f"hole-{filler:02x}.nc", bytes(raw), "damaged or truncated")


def _endless(file: h5py.File) -> None:
    """A field of 4 TB in which nothing is written."""
    found = file.create_dataset("t", (10**6, ROWS, 10**5), "f8", chunks=(1, ROWS, 100))
    found.dims[1].attach_scale(file["lat"])
    for number, (name, size) in enumerate((("time", 10**6), ("x", 10**5))):
        file.create_dataset(name, (size,), "i1", chunks=(1000,)).make_scale(name)
        found.dims[2 * number].attach_scale(file[name])


def _endless_heap() -> bytes:
    """The heap of the attributes' texts ends in free room of size 0, so that HDF5 finds it again and again."""
    raw = bytearray(hdf5(lambda file: None))
    at = raw.index(b"GCOL") + 16
    while raw[at : at + 2] != b"\0\0":
        at += 16 + (int.from_bytes(raw[at + 8 : at + 16], "little") + 7 & ~7)
    raw[at + 8 : at + 16] = bytes(8)
    return bytes(raw)


def _damaged(name: str) -> bytes:
    """A compressed chunk of zeros where its bytes should be."""
    from io import BytesIO

    raw = bytearray(netcdf(small(), **{name: {"zlib": True}}))
    with h5py.File(BytesIO(bytes(raw))) as file:
        chunk = file[name].id.get_chunk_info(0)
    raw[chunk.byte_offset : chunk.byte_offset + chunk.size] = bytes(chunk.size)
    return bytes(raw)


def _classic() -> Iterator[Case]:
    raw = netcdf(small(), "NETCDF3_64BIT")
    at = raw.index(b"lat\x00") + 4  # the length of a dimension follows its name
    for name, length, words in (
        ("huge", 40_000_000, "damaged|declares|memory"), ("negative", 2**32 - 8, "damaged|columns"),
        ("none", 0, "damaged|columns|rows"), ("one-more", 9, "damaged|cut short"),
    ):  # fmt: skip
        yield Case(f"classic-{name}.nc", raw[:at] + struct.pack(">I", length) + raw[at + 4 :], words)
    yield Case("classic-magic.nc", b"CDF\x01", "damaged or truncated")
    yield Case("classic-records.nc", b"CDF\x01" + b"\xff" * 4 + raw[8:], "damaged or truncated|declares")


def _grids() -> Iterator[Case]:
    data = small()
    degrees = {"units": "degrees_north"}

    def with_lat(values: np.ndarray) -> bytes:
        return netcdf(data.assign_coords(lat=("lat", values, degrees)))

    lat = data.lat.values
    yield Case("no-axes.nc", netcdf(data.drop_vars(["lat", "lon"])), "No latitude and longitude")
    yield Case("one-row.nc", netcdf(data.isel(lat=[0])), "at least two of each")
    yield Case("one-line.nc", netcdf(data.isel(lat=0, drop=True)), "one-dimensional")
    yield Case("words-only.nc", netcdf(xr.Dataset({"w": (("lat", "lon"), np.full((8, 10), "x"))}, data.coords)),
               "no numeric field")  # fmt: skip
    yield Case("twice.nc", with_lat(np.append(lat[:-1], lat[-2])), "twice")
    yield Case("beyond.nc", with_lat(lat + 80), "between −90 and 90")
    yield Case("gap.nc", with_lat(np.append(lat[:-1], np.nan)), "missing values")
    yield Case("infinite.nc", with_lat(np.append(lat[:-1], np.inf)), "missing values")
    yield Case("all-zero.nc", with_lat(lat * 0), "twice")
    yield Case("shuffled.nc", with_lat(np.roll(lat, 3)), read="t orog q", noted="was unsorted")
    yield Case("far-longitudes.nc", netcdf(data.assign_coords(lon=("lon", data.lon.values * 1e6))), "give degrees")
    for name, value in (("grid_north_pole_latitude", 97.5), ("grid_north_pole_longitude", 1e9)):
        turned = rotated_dataset().isel(rlat=slice(8), rlon=slice(10))
        turned.pole.attrs[name] = value
        yield Case(f"{name}.nc", netcdf(turned), "no(t a)? position on Earth")
    y, x = np.meshgrid(np.linspace(40, 50, 8), np.linspace(0, 12, 10), indexing="ij")
    for name, longitude, words in (
        ("scrambled", x[:, [3, 8, 0, 6, 1, 9, 4, 2, 7, 5]], "scrambled"), ("huge", x * 1e30, "missing values"),
        ("far", x * 1e3, "use degrees"),
    ):  # fmt: skip
        sheet = xr.Dataset({"t": (("j", "i"), y)}, {"nav_lat": (("j", "i"), y), "nav_lon": (("j", "i"), longitude)})
        yield Case(f"sheet-{name}.nc", netcdf(sheet), words)
    axes = {name: (name, 4000.0 * np.arange(size), {"units": "m", "standard_name": f"projection_{name}_coordinate"})
            for name, size in (("y", 8), ("x", 10))}  # fmt: skip
    mapping = {"m": ((), 0, {"grid_mapping_name": "nonsense"})}
    plane = xr.Dataset({"t": (("y", "x"), y, {"grid_mapping": "m"}), **mapping}, axes)
    yield Case("nonsense-mapping.nc", netcdf(plane), "is not supported")


def _values() -> Iterator[Case]:
    whole = "t orog q"

    def changed(name: str, change: Callable[[xr.Dataset], object], noted: str = "", **encoding: dict) -> Case:
        data = small().copy(deep=True)
        found = change(data)
        return Case(f"{name}.nc", netcdf(found if isinstance(found, xr.Dataset) else data, **encoding), read=whole,
                    noted=noted)  # fmt: skip

    yield changed("valid-range", lambda d: d.t.attrs.update(valid_range=np.array([260.0, 280.0])), "valid range 260")
    yield changed("valid-words", lambda d: d.t.attrs.update(valid_min="cold"), "not understood")
    yield changed("valid-none", lambda d: d.t.attrs.update(valid_max=0.0), "no value is in its valid range up to 0")
    yield changed("mark-9999", lambda d: d.q.values.__setitem__((3, 3), -9999), "1 value of -9999, far from all")
    yield changed("mark-1e20", lambda d: d.t.values.__setitem__((3, 3), 1e20), "1 value of 1e+20, far from all")
    yield changed("fill-1e36", lambda d: d.t.values.__setitem__((3, 3), 9.96921e36), "too large to be data")
    yield changed("all-missing", lambda d: d.t.values.fill(np.nan))
    yield changed("infinite-values", lambda d: d.t.values.__setitem__((3, 3), np.inf))
    yield changed("absurd-time", lambda d: _timed(d, [0.0, 1e300]), "`time` could not be read as dates")
    yield changed("odd-calendar", lambda d: _timed(d, [0.0, 1.0], calendar="martian"), "could not be read as dates")
    yield changed("time-of-nothing", lambda d: _timed(d, [0.0, 1.0], units="days since"))
    yield changed("missing-time", lambda d: _timed(d, [0.0, np.nan]))
    yield changed("far-time", lambda d: _timed(d, [0.0, 4e6]))
    yield changed("no-times", lambda d: _timed(d, [0.0, 1.0]).isel(time=slice(0)))


def _timed(data: xr.Dataset, values: list[float], units: str = "days since 2000-01-01", **more: str) -> xr.Dataset:
    return data.expand_dims(time=2).assign_coords(time=("time", values, {"units": units, **more}))


def _tables() -> Iterator[Case]:
    for name, data, refused, read in (
        ("plain", b"a,b\n1,2\n3,4\n", "", "a b"),
        ("long-row", b"a,b\n1,2\n3,4,5\n", "Line 3 of", ""),
        ("long-first-row", b"a,b\n1,2,3\n4,5,6\n", "Line 2 of", ""),
        ("short-row", b"a,b\n1\n3,4\n", "", "a b"),
        ("quote", b'a,b\n1,"2\n3,4\n', "not a regular table", ""),
        ("header-only", b"a,b\n", "contains no rows", ""),
        ("empty", b"", "is empty", ""),
        ("blank", b"\n\n \n", "contains no rows|is empty", ""),
        ("nulls", b"a,b\n1,\x00\n", "contains no rows|is not a text", ""),
        ("utf-16", "a,b\n1,2\n".encode("utf-16"), "", "a b"),
        ("latin-1", "größe,b\n1,2\n".encode("latin-1"), "", "größe b"),
        ("late-latin-1", b"a,b\n" + b"1,2\n" * 3000 + b"\xe4,2\n", "", "a b"),
        ("twice", b"a,a\n1,2\n", "'a' occurs twice", ""),
        ("wide", ",".join(f"c{i}" for i in range(600)).encode() + b"\n" + b",".join([b"1"] * 600) + b"\n",
         "600 columns; the limit is 512", ""),
        ("carriage-returns", b"a,b\r1,2\r3,4\r", "", "a b"),
        ("large-numbers", b"a,b\n1e400,-1e400\n1,99999999999999999999999\n", "", "a b"),
        ("large-cell", b"a,b\n" + b"x" * 200_000 + b",2\n", "", "a b"),
        ("formula", b"a,b\n=1+1,2\n@x,3\n", "", "a b"),
        ("semicolons", b"a;b\n1,5;2\n", "", "a b"),
        ("packed", gzip.compress(b"a,b\n1,2\n", mtime=0), "is not a text", ""),
    ):  # fmt: skip
        yield Case(f"table-{name}.csv", data, refused, read, reader="table")
    series = xr.Dataset({"x": ("time", np.arange(5.0)), "y": ("time", np.ones(5))})
    yield Case("table-series.nc", netcdf(series), read="x y", reader="table")
    yield Case("table-cut.nc", netcdf(series)[:3000], "is incomplete", reader="table")
    yield Case("table-scalar.nc", netcdf(xr.Dataset({"x": 1.0})), "no variable along a dimension", reader="table")


def _simulations() -> Iterator[Case]:
    good = b"theta,s\n" + b"".join(b"%d,%d\n" % (i, i * i) for i in range(12))
    for name, data, refused, read in (
        ("plain", good + b",3\n", "", "theta s"),
        ("no-observation", good, "has no observation", ""),
        ("long-row", good + b"1,2,3\n,3\n", "has 3 cells", ""),
        ("words", good + b"1,high\n,3\n", "'high' under 's'", ""),
        ("infinite", good + b"1,inf\n,3\n", "'inf' under 's'", ""),
        ("few", b"theta,s\n1,2\n,3\n", "1 simulations", ""),
        ("many", b"theta,s\n" + b"1,2\n" * 4000, "about 4,001 rows", ""),
        ("twice", b"s,s\n1,2\n", "occurs twice", ""),
        ("binary", b"\xff\xfe\x00\x01", "has no observation", ""),
        ("large-cell", b"theta,s\n" + b"9" * 200_000 + b",2\n", "give a finite number", ""),
    ):
        yield Case(f"simulations-{name}.csv", data, refused, read, reader="simulations")


def _subjects() -> Iterator[Case]:
    good = b"subject,value,outcome\na,1,10\na,2,10\nb,3,20\nb,5,20\n"
    for name, data, refused, read in (
        ("plain", good, "", "a b"),
        ("long-row", good + b"c,1,2,3\n", "Line 6 of the table has 4 cells", ""),
        ("words", good + b"c,high,2\n", "it must contain numbers", ""),
        ("gap", good + b"c,,2\n", "has no measurement", ""),
        ("two-outcomes", good + b"a,1,11\n", "must be the same in every row", ""),
        ("no-column", b"who,value,outcome\na,1,2\n", "no column 'subject'", ""),
        ("binary", good + b"\xff,1,2\n", "", "a b ÿ"),
        ("empty", b"", "[Tt]he table is empty", ""),
        ("header", b"subject,value,outcome\n", "no rows under its header", ""),
        ("large-header", b"x" * 200_000 + b",value,outcome\n1,2,3\n", "header of the table cannot be read", ""),
    ):
        yield Case(f"subjects-{name}.csv", data, refused, read, reader="subjects")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases(folder / "secret.nc"):
        (folder / case.name).write_bytes(case.data)
