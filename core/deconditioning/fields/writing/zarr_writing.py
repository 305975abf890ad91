"""A Zarr store (format 3) filled chunk by chunk, by any number of processes, in any order.

Its metadata are written first and never again. zarr puts a chunk's file in place in one step, so a chunk is there whole
or not at all: a process that dies leaves nothing half-written, and what is missing is seen from the chunks' keys.
"""

import secrets
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.reading.zarr_reading import Window
from deconditioning.fields.store import plain_words

if TYPE_CHECKING:
    import xarray as xr
    import zarr


@dataclass(frozen=True, order=True)
class Chunk:
    """Place of a chunk in the chunk grid: time step, row of chunks, column of chunks."""

    step: int
    row: int
    column: int


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

    The folder appears in one step. Raises ``InputError`` if it is there already or cannot be made.
    """
    import xarray as xr
    import zarr

    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    dataset = xr.Dataset(coords=coordinates, attrs=plain_words(about))
    try:
        part.mkdir()
        dataset.to_zarr(part, zarr_format=3, consolidated=False)
        group = zarr.open_group(part, mode="r+")
        for name, attributes in fields.items():
            group.create_array(
                name, shape=layout.shape, chunks=(1, *layout.chunk), dtype=layout.dtype, fill_value=np.nan,
                dimension_names=dims, attributes=plain_words(attributes),
            )  # fmt: skip
        part.rename(path)
    except OSError as error:
        raise InputError(f"The store {path} cannot be created ({error.strerror}): choose another location.") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def about_store(path: Path) -> dict[str, Any]:
    """The attributes of a store; none if there is something else."""
    import zarr

    try:
        return dict(zarr.open_group(path, mode="r").attrs)
    except (OSError, ValueError):
        return {}


def write_chunk(path: Path, layout: Layout, chunk: Chunk, fields: Mapping[str, np.ndarray]) -> int:
    """Put one chunk of every field (h, w) in place, one of missing values too; its bytes before compression.

    Raises ``InputError`` if this machine cannot write there.
    """
    size = 0
    for name, values in fields.items():
        stored = values.astype(layout.dtype)
        try:
            _array(path, name)[(chunk.step, *layout.window(chunk))] = stored
        except OSError as error:
            raise InputError(
                f"A chunk cannot be written to {path} ({error.strerror}): every worker must be able to write there."
            ) from None
        size += stored.nbytes
    return size


def missing_chunks(path: Path, layout: Layout, fields: tuple[str, ...]) -> list[Chunk]:
    """The chunks that some field does not have yet."""
    there = [set(_keys(path / name)) for name in fields]
    key = _array(path, fields[0]).metadata.encode_chunk_key
    names = ((chunk, key((chunk.step, chunk.row, chunk.column))) for chunk in layout.chunks())
    return [chunk for chunk, name in names if not all(name in keys for keys in there)]


def _keys(folder: Path) -> Iterator[str]:
    return (file.relative_to(folder).as_posix() for file in folder.rglob("*"))


def _array(path: Path, name: str) -> "zarr.Array[Any]":
    """An array of the store, open for writing."""
    import zarr

    with zarr.config.set({"array.write_empty_chunks": True}):  # a chunk of missing values is there, too
        return zarr.open_array(path / name, mode="r+")
