"""GRIB 1 and 2 by ecCodes, where it is installed: the messages that share the grid of most, by variable.

ecCodes brings a PROJ of its own, beside which pyproj's finds its data base no more (and so would cfgrib's plugin for
xarray, in every process that opens any file): it is imported in the process that reads a file apart, and nowhere else.
"""

import importlib.util
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from core.errors import InputError, short

if TYPE_CHECKING:
    import xarray as xr

#: Grids of rows and columns whose rows and columns have a latitude and a longitude of their own; others have positions.
_LINES = ("regular_ll", "regular_gg")
_DIMS = ("number", "time", "level")
_AXES = {"number": {"standard_name": "realization"}, "time": {"standard_name": "time"}, "level": {"axis": "Z"}}
_LEVELS = {"isobaricInhPa": "hPa", "isobaricInPa": "Pa", "heightAboveGround": "m", "heightAboveSea": "m"}


def is_grib(path: Path) -> bool:
    """Whether a file begins as GRIB does."""
    with open(path, "rb") as file:
        return file.read(4) == b"GRIB"


def open_grib(path: Path) -> "tuple[xr.Dataset, list[str]]":
    """The fields of a GRIB file with their dates, members and levels as dimensions, and sentences.

    Raises ``InputError`` without ecCodes, for a damaged file, and for grids without rows and columns.
    """
    import xarray as xr

    if importlib.util.find_spec("eccodes") is None:
        raise InputError(
            "The file is a GRIB file, which needs the package eccodes: install it (`python -m pip install -r "
            "requirements-grib.txt`), or make NetCDF of the file with `cdo -f nc4 copy IN.grib OUT.nc`."
        )
    try:
        messages = _messages(path)
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        why = short(error).replace(str(path), path.name)
        raise InputError(f"The GRIB file could not be read, it looks damaged ({why}): copy it again.") from error
    if not messages:
        raise InputError("The GRIB file holds no message that could be read: copy or download it again.")
    grid, count = Counter(m["grid"] for m in messages).most_common(1)[0]
    chosen = [m for m in messages if m["grid"] == grid]
    notes = [f"{len(messages) - count} messages on other grids are left out."] if count < len(messages) else []
    dims, coordinates = _positions(chosen[0])
    fields: dict[str, list[dict[str, Any]]] = {}
    kinds = Counter(name for name, _ in {(m["name"], m["kind"]) for m in chosen})
    for message in chosen:
        name = message["name"] if kinds[message["name"]] == 1 else f"{message['name']}_{message['kind']}"
        fields.setdefault(name, []).append(message)
    found: xr.Dataset = xr.Dataset(coords=coordinates)
    for name, several in fields.items():
        found = _joined(found, name, several, dims)
    return found, notes


def _messages(path: Path) -> list[dict[str, Any]]:
    import eccodes
    from eccodes import codes_get

    found = []
    with open(path, "rb") as file:
        while (message := eccodes.codes_grib_new_from_file(file)) is not None:
            try:
                kind = codes_get(message, "gridType")
                if not eccodes.codes_is_defined(message, "Ni") and not eccodes.codes_is_defined(message, "Nx"):
                    raise InputError(_no_rows(kind))
                if kind.startswith("reduced") or kind in ("sh", "unstructured_grid", "healpix"):
                    raise InputError(_no_rows(kind))
                found.append(_message(message, kind))
            finally:
                eccodes.codes_release(message)
    return found


def _no_rows(kind: str) -> str:
    return (
        f"The fields lie on a grid of GRIB's kind `{kind}`, an unstructured mesh or one like it, which has no rows and "
        "columns: bring them onto some first, for example with `cdo setgridtype,regular IN.grib OUT.grib` (spherical "
        "harmonics: `cdo sp2gpl`)."
    )


def _message(message: Any, kind: str) -> dict[str, Any]:
    from eccodes import codes_get, codes_get_array, codes_is_defined, codes_set

    codes_set(message, "missingValue", 9e35)
    values = np.asarray(codes_get_array(message, "values"))
    shape = _get(message, "Nj", "Ny"), _get(message, "Ni", "Nx")
    down = bool(codes_get(message, "jPointsAreConsecutive"))
    name = codes_get(message, "cfVarName")
    name = codes_get(message, "shortName") if name in ("unknown", "~") else name
    date, clock = codes_get(message, "validityDate"), codes_get(message, "validityTime")
    level = str(codes_get(message, "typeOfLevel"))
    return {
        "name": str(name) if name not in ("unknown", "~") else f"parameter_{codes_get(message, 'paramId')}",
        "kind": level,
        "long_name": str(codes_get(message, "name")),
        "units": str(codes_get(message, "units")),
        "time": np.datetime64(f"{date // 10000:04d}-{date // 100 % 100:02d}-{date % 100:02d}T{clock // 100:02d}:"
                              f"{clock % 100:02d}", "s"),
        "level": float(codes_get(message, "level")),
        "number": int(codes_get(message, "number")) if codes_is_defined(message, "number") else 0,
        "grid": codes_get(message, "md5GridSection"),
        "lines": kind in _LINES,
        "values": np.where(values > 8e35, np.nan, values).astype("f4").reshape(shape, order="F" if down else "C"),
        "latitude": np.asarray(codes_get_array(message, "latitudes")).reshape(shape, order="F" if down else "C"),
        "longitude": np.asarray(codes_get_array(message, "longitudes")).reshape(shape, order="F" if down else "C"),
    }  # fmt: skip


def _get(message: Any, *names: str) -> int:
    from eccodes import codes_get, codes_is_defined

    return int(codes_get(message, next(name for name in names if codes_is_defined(message, name))))


def _positions(message: dict[str, Any]) -> tuple[tuple[str, str], dict[str, Any]]:
    """Dimensions and coordinates of a message's grid."""
    north, east = ({"standard_name": name, "units": f"degrees_{side}"} for name, side in
                   (("latitude", "north"), ("longitude", "east")))  # fmt: skip
    latitude, longitude = message["latitude"], message["longitude"]
    if message["lines"]:
        line = {"latitude": ("latitude", latitude[:, 0], north), "longitude": ("longitude", longitude[0], east)}
        return ("latitude", "longitude"), line
    sheet = {"latitude": (("y", "x"), latitude, north), "longitude": (("y", "x"), longitude, east)}
    return ("y", "x"), sheet


def _joined(found: "xr.Dataset", name: str, several: list[dict[str, Any]], dims: tuple[str, str]) -> "xr.Dataset":
    """The data set with one more field: its messages side by side along whatever differs among them."""
    import xarray as xr

    along = {dim: sorted({m[dim] for m in several}) for dim in _DIMS}
    kept = [dim for dim in _DIMS if len(along[dim]) > 1 or dim == "time"]
    values = np.full([*(len(along[dim]) for dim in kept), *several[0]["values"].shape], np.nan, dtype="f4")
    for message in several:
        values[tuple(along[dim].index(message[dim]) for dim in kept)] = message["values"]
    said = {"long_name": several[0]["long_name"], "units": several[0]["units"]}
    said["comment"] = f"{several[0]['kind']} {several[0]['level']:g}" if "level" not in kept else several[0]["kind"]
    names, coordinates = [], {}
    for dim in kept:
        own = next(n for n in (dim, *(f"{dim}_{k}" for k in range(1, 99))) if _free(found, n, np.array(along[dim])))
        names.append(own)
        units = _LEVELS.get(several[0]["kind"], "") if dim == "level" else ""
        coordinates[own] = (own, np.array(along[dim]), _AXES[dim] | ({"units": units} if units else {}))
    lines = xr.Coordinates({n: xr.Variable(*parts) for n, parts in coordinates.items()}, indexes={})
    return found.assign_coords(lines).assign({name: ((*names, *dims), values, said)})


def _free(found: "xr.Dataset", name: str, values: np.ndarray) -> bool:
    """Whether a coordinate of that name can hold these values: there is none yet, or it holds the same."""
    return name not in found.variables or np.array_equal(found.variables[name].values, values)
