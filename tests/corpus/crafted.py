"""HDF5 files that try to carry another file's bytes into what is read, and one with a reference to nowhere."""

import io
import json
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import h5py
import numpy as np

ROWS, COLUMNS = 6, 8


def outside(secret: Path) -> Iterator[tuple[str, bytes, str]]:
    """(name, bytes, part of the refusal) of files that refer to ``secret``: raw bytes, or a NetCDF with a field `t`."""
    yield "external-field.nc", hdf5(lambda file: _external(file, "t", secret)), "values of `t` in another file"
    yield "external-axis.nc", hdf5(lambda file: _external_axis(file, secret)), "values of `lat` in another file"
    yield "external-nested.nc", hdf5(lambda file: _external(_deep(file), "t", secret)), "values of `a/b/c/t` in another"
    yield "virtual.nc", hdf5(lambda file: _virtual(file, "t", secret)), "`t` is a virtual dataset"
    yield "virtual-nested.nc", hdf5(lambda file: _virtual(_deep(file), "t", secret)), "`a/b/c/t` is a virtual dataset"
    yield "link.nc", hdf5(lambda file: _link(file, "t", secret)), "`t` is a link into another file"
    yield "link-nested.nc", hdf5(lambda file: _link(_deep(file), "t", secret)), "`a/b/c/t` is a link into another"
    yield "soft-link.nc", hdf5(lambda file: _soft(file, secret)), "`a/b/c/there` is a link into another file"
    yield "soft-chain.nc", hdf5(lambda file: _chain(file, secret)), "`z/there` is a link into another file"
    yield "user-defined-link.nc", _user_defined(secret), "`t` is a link into another file"
    yield "hidden-behind-a-loop.nc", hdf5(lambda file: _loop(file, secret)), "in another file"
    yield "zarr-reference.json", _reference(secret), "JSON text, which may refer to other files"
    yield "zarr.zip", _zipped(secret), "a zip archive"


def hdf5(write: Callable[[h5py.File], None], *, fields: tuple[str, ...] = ("q",)) -> bytes:
    """A NetCDF 4 file of 6 × 8 cells with the fields named and whatever ``write`` adds."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "crafted.nc"
        with h5py.File(path, "w") as file:
            for name, values, units in (
                ("lat", np.linspace(40, 50, ROWS), "degrees_north"),
                ("lon", np.linspace(0, 14, COLUMNS), "degrees_east"),
            ):
                file[name] = values
                file[name].make_scale(name)
                file[name].attrs["units"] = units
            for number, name in enumerate(fields):
                field(file, name, np.arange(ROWS * COLUMNS, dtype=float).reshape(ROWS, COLUMNS) + number)
            write(file)
        return path.read_bytes()


def field(group: h5py.Group, name: str, values: np.ndarray, **options: object) -> h5py.Dataset:
    """A field on the rows and columns of the file."""
    found = group.create_dataset(name, data=values, **options)
    return _placed(found)


def _placed(found: h5py.Dataset) -> h5py.Dataset:
    for number, axis in enumerate(("lat", "lon")):
        found.dims[number].attach_scale(found.file[axis])
    return found


def _deep(file: h5py.File) -> h5py.Group:
    return file.create_group("a/b/c")


def _external(group: h5py.Group, name: str, secret: Path) -> None:
    size = ROWS * COLUMNS
    _placed(group.create_dataset(name, (ROWS, COLUMNS), "u1", external=[(str(secret), 0, size)]))


def _external_axis(file: h5py.File, secret: Path) -> None:
    del file["lat"]
    axis = file.create_dataset("lat", (ROWS,), "u1", external=[(str(secret), 0, ROWS)])
    axis.attrs["units"] = "degrees_north"
    axis.make_scale("lat")
    _placed_again(file)


def _placed_again(file: h5py.File) -> None:
    values = file["q"][...]
    del file["q"]
    field(file, "q", values)


def _virtual(group: h5py.Group, name: str, secret: Path) -> None:
    layout = h5py.VirtualLayout((ROWS, COLUMNS), "f8")
    layout[...] = h5py.VirtualSource(str(secret), "t", (ROWS, COLUMNS))
    _placed(group.create_virtual_dataset(name, layout, fillvalue=-1))


def _link(group: h5py.Group, name: str, secret: Path) -> None:
    group[name] = h5py.ExternalLink(str(secret), "/t")


def _soft(file: h5py.File, secret: Path) -> None:
    _deep(file)["there"] = h5py.ExternalLink(str(secret), "/")
    file["t"] = h5py.SoftLink("/a/b/c/there/t")


def _chain(file: h5py.File, secret: Path) -> None:
    file.create_group("z")["there"] = h5py.ExternalLink(str(secret), "/")
    file["one"], file["two"] = h5py.SoftLink("/z/there"), h5py.SoftLink("/one")
    file["t"] = h5py.SoftLink("/two/t")


def _loop(file: h5py.File, secret: Path) -> None:
    deep = _deep(file)
    deep["above"], deep["self"] = file["a"], deep
    _external(deep.create_group("last"), "t", secret)


def _user_defined(secret: Path) -> bytes:
    """An external link whose class is changed into one that a program would have to register."""
    data = bytearray(hdf5(lambda file: _link(file, "t", secret)))
    value = b"\x00" + str(secret).encode() + b"\x00/t\x00"
    at = data.index(value)
    where = data.rindex(b"\x40", at - 40, at)  # the class, 64, some bytes before the link's name
    data[where] = 77
    return bytes(data)


def _reference(secret: Path) -> bytes:
    """A description of a Zarr store whose chunks are pieces of other files, as kerchunk writes them."""
    about = {"shape": [ROWS, COLUMNS], "chunks": [ROWS, COLUMNS], "dtype": "|u1", "zarr_format": 2, "order": "C",
             "compressor": None, "filters": None, "fill_value": 0}  # fmt: skip
    refs = {".zgroup": '{"zarr_format":2}', "t/.zarray": json.dumps(about), "t/0.0": [f"file://{secret}", 0, 48]}
    return json.dumps({"version": 1, "refs": refs}).encode()


def _zipped(secret: Path) -> bytes:
    """A store in an archive, one chunk a symbolic link and one above the archive's root."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(".zgroup", '{"zarr_format":2}')
        entry = zipfile.ZipInfo("t/0.0")
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, os.fspath(secret))
        archive.writestr("../../t/0.1", "x")
    return buffer.getvalue()
