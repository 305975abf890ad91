"""A Zarr store (format 2) filled chunk by chunk, by any number of processes, in any order.

Its metadata are written first and never again. A chunk of every field is one file, put in place in one step, so a
chunk is there whole or not at all: a process that dies leaves nothing half-written, and what is missing is seen from
the names of the files.
"""

import json
import os
import secrets
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError
from core.fields.store import plain_words
from core.fields.zarr_reading import DIMENSIONS, Window

if TYPE_CHECKING:
    import xarray as xr

_LEVEL = 1


@dataclass(frozen=True, order=True)
class Chunk:
    """Place of a chunk in the chunk grid: time step, row of chunks, column of chunks."""

    step: int
    row: int
    column: int

    @property
    def key(self) -> str:
        """The chunk's name in the store."""
        return f"{self.step}.{self.row}.{self.column}"


@dataclass(frozen=True)
class Layout:
    """Fields of ``shape`` (T, H, W) cut into chunks of one time step and ``chunk`` (rows, columns)."""

    shape: tuple[int, int, int]
    chunk: tuple[int, int]
    dtype: str = "<f4"

    def chunks(self) -> list[Chunk]:
        """All chunks, time step by time step."""
        rows, columns = (-(-size // part) for size, part in zip(self.shape[1:], self.chunk, strict=True))
        return [Chunk(t, r, c) for t in range(self.shape[0]) for r in range(rows) for c in range(columns)]

    def window(self, chunk: Chunk) -> Window:
        """Rows and columns of a chunk, cut at the field's edge."""
        rows, columns = (
            slice(index * part, min((index + 1) * part, size))
            for index, part, size in zip((chunk.row, chunk.column), self.chunk, self.shape[1:], strict=True)
        )
        return rows, columns


def create_store(
    path: Path,
    dims: tuple[str, str, str],
    layout: Layout,
    fields: Mapping[str, Mapping[str, Any]],
    coordinates: Mapping[str, "xr.Variable"],
    about: Mapping[str, Any],
) -> None:
    """Write a store's metadata and coordinates; its fields (name → attributes) hold no chunk yet.

    The folder appears in one step. Raises ``InputError`` where it is there already or cannot be made.
    """
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    metadata: dict[str, Any] = {".zgroup": {"zarr_format": 2}, ".zattrs": plain_words(about)}
    try:
        part.mkdir()
        for name, given in fields.items():
            metadata |= _array(name, layout.shape, (1, *layout.chunk), layout.dtype, "NaN", dims, given)
            (part / name).mkdir()
        for name, variable in coordinates.items():
            metadata |= _coordinate(part, name, variable)
        for name, content in metadata.items():
            (part / name).write_text(_json(content), encoding="utf-8")
        whole = {"zarr_consolidated_format": 1, "metadata": metadata}
        (part / ".zmetadata").write_text(_json(whole), encoding="utf-8")
        part.rename(path)
    except OSError as error:
        raise InputError(f"The store {path} cannot be made ({error.strerror}): choose another place.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_chunk(path: Path, layout: Layout, chunk: Chunk, fields: Mapping[str, np.ndarray]) -> int:
    """Put one chunk of every field (h, w) in place; returns the bytes written.

    Raises ``InputError`` where this machine cannot write there.
    """
    size = 0
    for name, values in fields.items():
        whole = np.full(layout.chunk, np.nan, dtype=layout.dtype)
        whole[: values.shape[0], : values.shape[1]] = values
        data = zlib.compress(whole.tobytes(), _LEVEL)
        size += len(data)
        try:
            _put(path / name / chunk.key, data)
        except OSError as error:
            raise InputError(
                f"A chunk cannot be written to {path} ({error.strerror}): every worker must be able to write there."
            ) from None
    return size


def missing_chunks(path: Path, layout: Layout, fields: tuple[str, ...]) -> list[Chunk]:
    """The chunks that some field does not have yet."""
    there = [set(os.listdir(path / name)) for name in fields]
    return [chunk for chunk in layout.chunks() if not all(chunk.key in names for names in there)]


def _put(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _array(
    name: str,
    shape: tuple[int, ...],
    chunks: tuple[int, ...],
    dtype: str,
    fill: Any,
    dims: tuple[str, ...],
    given: Mapping[str, Any],
) -> dict[str, Any]:
    """The two metadata files of one array."""
    array = {
        "zarr_format": 2, "shape": list(shape), "chunks": list(chunks), "dtype": dtype, "order": "C",
        "fill_value": fill, "compressor": {"id": "zlib", "level": _LEVEL}, "filters": None,
    }  # fmt: skip
    return {f"{name}/.zarray": array, f"{name}/.zattrs": {**plain_words(given), DIMENSIONS: list(dims)}}


def _coordinate(folder: Path, name: str, variable: "xr.Variable") -> dict[str, Any]:
    """Write a variable in one chunk, encoded as CF says (times as numbers); returns its metadata."""
    from xarray.conventions import encode_cf_variable

    encoded = encode_cf_variable(variable, name=name)
    values = np.asarray(encoded.values)
    values = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("<")))
    given = {key: value for key, value in encoded.attrs.items() if key != "_FillValue"}
    (folder / name).mkdir()
    (folder / name / (".".join("0" * values.ndim) or "0")).write_bytes(zlib.compress(values.tobytes(), _LEVEL))
    dims = tuple(str(dim) for dim in encoded.dims)
    return _array(name, values.shape, values.shape, values.dtype.str, None, dims, given)


def _json(content: Any) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
