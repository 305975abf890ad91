"""Reads GRIB 1 and 2 with ecCodes, if installed: the messages on the most common grid, by variable.

ecCodes brings its own PROJ, after which pyproj no longer finds its database (cfgrib's plugin for xarray would cause
this in every process that opens any file). ecCodes is therefore imported only in the separate process that reads a
file.
"""

import importlib.util
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError, short
from deconditioning.fields.reading.grib.keys import Line, lines_of
from deconditioning.fields.reading.grib.messages import Message, Positions, coded_keys, read_messages

if TYPE_CHECKING:
    import xarray as xr


def is_grib(path: Path) -> bool:
    """Whether a file begins as GRIB does."""
    with open(path, "rb") as file:
        return file.read(4) == b"GRIB"


def open_grib(path: Path) -> "tuple[xr.Dataset, list[str]]":
    """The fields of a GRIB file, with dates, members, levels and all other distinguishing keys as dimensions.

    Returns the dataset and notes. Raises ``InputError`` without ecCodes, for a damaged file, and for grids without rows
    and columns. Raises ``RuntimeError`` if two messages would occupy the same position: no message is lost.
    """
    if importlib.util.find_spec("eccodes") is None:
        raise InputError(
            "This is a GRIB file, which needs the package eccodes: install it (`python -m pip install -r "
            "requirements-grib.txt`), or convert it to NetCDF with `cdo -f nc4 copy IN.grib OUT.nc`."
        )
    from eccodes import CodesInternalError

    try:
        messages, positions, others = read_messages(path)
    except (CodesInternalError, OSError, ValueError, RuntimeError, KeyError) as error:
        why = short(error).replace(str(path), path.name).rstrip(" .")
        raise InputError(
            f"The GRIB file could not be read: it looks damaged or truncated ({why}). Copy it again."
        ) from error
    if not messages and others:
        raise InputError(_no_rows(next(iter(others))))
    if not messages:
        raise InputError("The GRIB file contains no readable message: copy or download it again.")
    grid = Counter(m.grid for m in messages).most_common(1)[0][0]
    chosen = [m for m in messages if m.grid == grid]
    notes = (
        [_left_out([m for m in messages if m.grid != grid], others)] if len(chosen) < len(messages) or others else []
    )
    dataset, grid_notes = _dataset(chosen, positions[grid], partial(coded_keys, path))
    return dataset, notes + grid_notes


def _no_rows(kind: str) -> str:
    return (
        f"The fields lie on a grid of GRIB's kind `{kind}`, an unstructured mesh or similar, which has no rows and "
        "columns: remap them first, for example with `cdo setgridtype,regular IN.grib OUT.grib` (spherical "
        "harmonics: `cdo sp2gpl`)."
    )


def _left_out(messages: list[Message], others: dict[str, int]) -> str:
    """What lies on other grids than most messages."""
    names = [f"`{name}`" for name in dict.fromkeys(m.name for m in messages)]
    kinds = [f"{count} on a grid of kind `{kind}`" for kind, count in others.items()]
    parts = ", ".join(names[:6] + kinds[:3])
    count = len(messages) + sum(others.values())
    return f"{count} message{' is' if count == 1 else 's are'} left out, on another grid than most ({parts})."


def _dataset(
    messages: list[Message], positions: Positions, coded: Callable[[set[int]], dict[int, dict[str, str]]]
) -> "tuple[xr.Dataset, list[str]]":
    """All fields side by side, and sentences; ``coded`` gives all coded keys of some messages."""
    import xarray as xr

    dims, coordinates = _horizontal(positions)
    result: xr.Dataset = xr.Dataset(coords=coordinates)
    notes = []
    for name, several in _named(messages).items():
        lines, line_notes = lines_of(name, several, coded)
        result = _joined(result, name, several, lines, dims)
        notes += line_notes
    return result, notes


def _horizontal(positions: Positions) -> tuple[tuple[str, str], dict[str, Any]]:
    """Dimensions and coordinates of a grid."""
    north, east = ({"standard_name": name, "units": f"degrees_{side}"} for name, side in
                   (("latitude", "north"), ("longitude", "east")))  # fmt: skip
    if positions.lines:
        line = {
            "latitude": ("latitude", positions.latitude[:, 0], north),
            "longitude": ("longitude", positions.longitude[0], east),
        }
        return ("latitude", "longitude"), line
    sheet = {"latitude": (("y", "x"), positions.latitude, north), "longitude": (("y", "x"), positions.longitude, east)}
    return ("y", "x"), sheet


def _named(messages: list[Message]) -> dict[str, list[Message]]:
    """The messages of each parameter on each type of level, by a name of its own."""
    fields: dict[tuple[Any, ...], list[Message]] = {}
    for message in messages:
        fields.setdefault((message.name, message.kind, message.parameter), []).append(message)
    plain, with_level = Counter(name for name, _, _ in fields), Counter((name, kind) for name, kind, _ in fields)
    result: dict[str, list[Message]] = {}
    for (name, kind, parameter), several in fields.items():
        full = name if plain[name] == 1 else f"{name}_{kind}"
        full = full if with_level[name, kind] == 1 else f"{full}_{'_'.join(map(str, parameter))}"
        result[full] = several
    return result


def _joined(
    result: "xr.Dataset", name: str, several: list[Message], lines: Sequence[Line], dims: tuple[str, str]
) -> "xr.Dataset":
    """The data set with one more field: its messages side by side along ``lines``.

    Raises ``RuntimeError`` where two messages would take the same place: no message is lost.
    """
    import xarray as xr

    along = [line for line in lines if line.along is None]
    values = np.full([*(len(line.labels) for line in along), *several[0].values.shape], np.nan, dtype="f4")
    filled = set()
    for number, message in enumerate(several):
        index = tuple(int(line.index[number]) for line in along)
        if index in filled:
            raise RuntimeError(f"two messages of {name} would take the same place {index}")
        filled.add(index)
        values[index] = message.values
    attributes = {"long_name": several[0].long_name, "units": several[0].units}
    level = next((line for line in lines if line.name == "level"), None)
    attributes["comment"] = several[0].kind if level else f"{several[0].kind} {several[0].keys['level'][0]:g}"
    names: dict[str, str] = {}
    coordinates = {}
    for line in lines:
        dim_name = next(
            n for n in (line.name, *(f"{line.name}_{k}" for k in range(1, 99))) if _free(result, n, line.labels)
        )
        names[line.name] = dim_name
        on = (dim_name,) if line.along is None else tuple(names[dim] for dim in line.along)
        coordinates[dim_name] = (on, line.labels, line.attributes)
    held = xr.Coordinates({n: xr.Variable(*parts) for n, parts in coordinates.items()}, indexes={})
    return result.assign_coords(held).assign(
        {name: ((*(names[line.name] for line in along), *dims), values, attributes)}
    )


def _free(result: "xr.Dataset", name: str, values: np.ndarray) -> bool:
    """Whether a coordinate of that name can hold these values: there is none yet, or it holds the same."""
    return name not in result.variables or np.array_equal(result.variables[name].values, values)
