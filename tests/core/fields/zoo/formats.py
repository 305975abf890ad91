"""Containers: NetCDF of every generation and in groups, GRIB, Zarr, references, and what is none of these."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import h5py
import numpy as np
import xarray as xr

from deconditioning.sandbox import ROOT
from tests.core.fields.samples import netcdf
from tests.core.fields.zoo.animal import Animal, small

ALL = "t orog q"


def animals() -> Iterator[Animal]:
    for form in ("NETCDF3_CLASSIC", "NETCDF3_64BIT"):
        yield Animal(f"{form.lower()}.nc", lambda path, form=form: path.write_bytes(netcdf(small(), form)), ALL)
    for form in ("NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC"):
        yield Animal(
            f"{form.lower()}.nc", lambda p, form=form: small().to_netcdf(p, engine="netcdf4", format=form), ALL
        )
    yield Animal("one-group.nc", lambda path: _groups(path, {"model": small()}), ALL, noted="group `model`")
    yield Animal("satellite-groups.nc", _satellite, "chlor", noted="groups", grid="curvilinear")
    yield Animal("same-names-in-groups.nc", lambda path: _groups(path, {"a": small()[["t"]], "b": small()[["t"]]}),
                 "a_t b_t", noted="groups")  # fmt: skip
    yield Animal("wrong-suffix.grib", lambda path: path.write_bytes(netcdf(small())), ALL)
    yield Animal("two-heights.grib", _grib, "t2m u10", when=("14 July 1995, 12:00 UTC",), needs="eccodes")
    yield Animal("first-edition.grib", lambda path: _grib(path, "regular_ll_sfc_grib1"), "t2m u10", needs="eccodes")
    yield Animal("reduced.grib", lambda path: _grib(path, "reduced_gg_sfc_grib2"), refused="unstructured mesh",
                 needs="eccodes")  # fmt: skip
    for version in (2, 3):
        yield Animal(f"store-{version}.zarr", lambda path, version=version: small().to_zarr(
            path, zarr_format=version, consolidated=version == 2), ALL, folder=True)  # fmt: skip
    yield Animal("reference.json", _reference, ALL, folder=True)
    yield Animal("reference-elsewhere.json", lambda path: _reference(path, "/etc/hostname"), folder=True,
                 refused="refers to files outside its folder")  # fmt: skip
    yield Animal("no-reference.json", lambda path: path.write_text('{"a": 1}'), folder=True,
                 refused="does not describe a store")  # fmt: skip
    for name, head, words in (
        ("packed.nc.gz", gzip.compress(b"CDF\x01" * 9, mtime=0), "gzip archive.*gunzip"),
        ("archive.zip", b"PK\x03\x04" + bytes(40), "zip archive.*unzip"),
        ("old.hdf", b"\x0e\x03\x13\x01" + bytes(40), "HDF4.*h4tonccf|HDF4.*gdal_translate"),
        ("page.nc", b"<!DOCTYPE html><title>404</title>", "web page"),
    ):
        yield Animal(name, lambda path, head=head: path.write_bytes(head), refused=words)


def _groups(path: Path, groups: dict[str, xr.Dataset]) -> None:
    for number, (name, data) in enumerate(groups.items()):
        data.to_netcdf(path, group=name, mode="a" if number else "w", engine="h5netcdf")


def _satellite(path: Path) -> None:
    """As ocean colour has it: dimensions above, positions in one group, fields in another."""
    y, x = np.meshgrid(np.arange(40, 48.0), np.arange(5, 15.0), indexing="ij")
    with h5py.File(path, "w") as file:
        for name, size in (("number_of_lines", 8), ("pixels_per_line", 10)):
            file.create_dataset(name, (size,), "f4").make_scale(
                f"This is a netCDF dimension but not a netCDF variable.{size:10d}"
            )
        for name, values in (("navigation_data/latitude", y), ("navigation_data/longitude", x),
                             ("geophysical_data/chlor", y * x)):  # fmt: skip
            found = file.create_dataset(name, data=values)
            found.dims[0].attach_scale(file["number_of_lines"])
            found.dims[1].attach_scale(file["pixels_per_line"])


def _grib(path: Path, sample: str = "regular_ll_sfc_grib2") -> None:
    subprocess.run([sys.executable, "-m", "tests.core.fields.zoo.grib", str(path), sample], cwd=ROOT, check=True)


def _reference(path: Path, elsewhere: str = "") -> None:
    """What kerchunk writes: the metadata of a store, and where its chunks lie in a NetCDF file beside it."""
    beside = path.with_suffix(".raw")
    refs: dict = {".zgroup": json.dumps({"zarr_format": 2})}
    raw = b""
    for name, variable in small().variables.items():
        values = np.ascontiguousarray(variable.values, "<f8")
        head = {"zarr_format": 2, "shape": values.shape, "chunks": values.shape, "dtype": "<f8", "compressor": None,
                "fill_value": None, "filters": None, "order": "C"}  # fmt: skip
        chunk = ".".join(["0"] * values.ndim)
        refs[f"{name}/.zarray"] = json.dumps(head)
        refs[f"{name}/.zattrs"] = json.dumps({**variable.attrs, "_ARRAY_DIMENSIONS": list(variable.dims)})
        refs[f"{name}/{chunk}"] = [elsewhere or "{{u}}", len(raw), values.nbytes]
        raw += values.tobytes()
    beside.write_bytes(raw)
    path.write_text(json.dumps({"version": 1, "templates": {"u": beside.name}, "refs": refs}))
