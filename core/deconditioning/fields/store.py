"""Converts fields to bytes and back without pickle: arrays in an .npz archive, everything else as JSON."""

import json
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.gridded import Fields
from deconditioning.fields.grids.grid import Grid
from deconditioning.fields.times import from_numbers, is_dates, to_numbers
from deconditioning.fill_values import FillValue

_GRID_ARRAYS = ("y", "x", "latitude", "longitude", "area", "y_edges", "x_edges")
_VERTICES = ("grid_vertices_latitude", "grid_vertices_longitude")
_GRID_WORDS = ("y_name", "x_name", "kind", "wraps", "mapping")


def save_fields(fields: Fields) -> bytes:
    """Fields as bytes that ``load_fields`` reads in another process or on another machine."""
    buffer = BytesIO()
    write_fields(fields, buffer)
    return buffer.getvalue()


def write_fields(fields: Fields, target: Path | BinaryIO) -> None:
    """Write what ``save_fields`` gives to a file, without a second copy in memory."""
    arrays: dict[str, np.ndarray] = {f"grid_{name}": getattr(fields.grid, name) for name in _GRID_ARRAYS}
    if fields.grid.vertices is not None:
        arrays |= dict(zip(_VERTICES, fields.grid.vertices, strict=True))
    variables = []
    for number, (name, array) in enumerate(fields.dataset.variables.items()):
        raw, calendar = np.asarray(array.values), dict[str, Any]()
        if raw.dtype.kind == "O" and is_dates(raw):
            raw, calendar = to_numbers(raw)
        values = _storable(raw)
        if values is None:
            continue
        arrays[f"v{number}"] = values
        variables.append(
            {
                "name": str(name),
                "key": f"v{number}",
                "dims": [str(d) for d in array.dims],
                "attributes": plain_words(array.attrs),
                "coordinate": name in fields.dataset.coords,
                "calendar": calendar,
            }
        )
    head = {
        "variables": variables,
        "attributes": plain_words(fields.dataset.attrs),
        "grid": plain_words({name: getattr(fields.grid, name) for name in _GRID_WORDS}),
        "notes": list(fields.notes),
        "source": fields.source,
        "licence": fields.licence,
        "marks": {name: [[m.value, m.count, m.sure] for m in marks] for name, marks in fields.marks.items()},
    }
    words = np.frombuffer(json.dumps(head).encode(), dtype=np.uint8)
    np.savez(target, head=words, **arrays)  # type: ignore[arg-type]


def load_fields(data: bytes | Path) -> Fields:
    """Fields back from ``save_fields`` or a file of ``write_fields``; ``InputError`` if it is something else."""
    import xarray as xr

    try:
        with np.load(data if isinstance(data, Path) else BytesIO(data), allow_pickle=False) as archive:
            head = json.loads(archive["head"].tobytes())
            vertices = (archive[_VERTICES[0]], archive[_VERTICES[1]]) if _VERTICES[0] in archive else None
            lines = {n: archive[f"grid_{n}"] for n in _GRID_ARRAYS}
            grid = Grid(**lines, **{n: head["grid"][n] for n in _GRID_WORDS}, vertices=vertices)
            variables = {v["name"]: (v["dims"], _values(archive, v), v["attributes"]) for v in head["variables"]}
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise InputError("The stored fields could not be read back: open the original file again.") from error
    coordinates = {v["name"] for v in head["variables"] if v["coordinate"]}
    dataset: xr.Dataset = xr.Dataset(
        {name: parts for name, parts in variables.items() if name not in coordinates},
        {name: xr.Variable(*variables[name]) for name in coordinates if name not in variables[name][0]},
        head["attributes"],
    )
    lines = {name: xr.Variable(*variables[name]) for name in coordinates if name in variables[name][0]}
    dataset = dataset.assign_coords(xr.Coordinates(lines, indexes={}))
    marks = {name: tuple(FillValue(*each) for each in result) for name, result in head.get("marks", {}).items()}
    return Fields(dataset, grid, tuple(head["notes"]), head["source"], head["licence"], marks=marks)


def _values(archive: Any, entry: dict[str, Any]) -> np.ndarray:
    values = archive[entry["key"]]
    return from_numbers(values, entry["calendar"]) if entry.get("calendar") else values


def _storable(values: np.ndarray) -> np.ndarray | None:
    """Numbers, times and short text as they are; object arrays as text; other things not at all."""
    if values.dtype.kind in "fiubM":
        return values
    if values.dtype.kind in "OSU" and values.size <= 10_000:
        return np.array([_text(v)[:200] for v in values.ravel()], dtype=np.str_).reshape(values.shape)
    return None


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def plain_words(attributes: Any) -> dict[str, Any]:
    """Attributes as JSON-able values; arrays become lists, anything odd becomes text."""
    return {str(k): _word(v) for k, v in dict(attributes).items()}


def _word(value: Any) -> Any:
    if isinstance(value, dict):
        return plain_words(value)
    if isinstance(value, np.ndarray):
        return [_word(v) for v in value.ravel()[:1000]]
    if isinstance(value, (list, tuple)):
        return [_word(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bytes):
        return _text(value)
    return value if isinstance(value, (str, int, float, bool)) or value is None else str(value)
