"""``deconditioning fields``: the contents of files, and the default settings of a downscaling."""

import argparse
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import add_json_option, check_writable, document, table, write
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields

HELP = "list the contents of files: names, dimensions, units, times, and the default target and covariates"
#: Larger grids are listed without what would be taken, for which values are read.
MOST_PIXELS = 20_000_000


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "files", metavar="FILE", nargs="+",
        help="NetCDF, GeoTIFF or GRIB file, Zarr store, folder, 'pattern_*.nc' or URL, or the key of a data set",
    )  # fmt: skip
    add_json_option(parser, default=None)


def run(options: argparse.Namespace) -> int:
    """List each file; the exit code is 2 if one of them cannot be read, after the others."""
    check_writable(options.json)
    result, failures = [], 0
    for file in options.files:
        try:
            with clean_stdout():
                result.append(described(file))
        except InputError as error:
            failures += 1
            say(str(error))
    if options.json is not None:
        write(document(options.command, {"files": options.files}, [], files=result), options.json)
    else:
        for each in result:
            print(_text(each))
    return 2 if failures else 0


def described(file: str) -> dict[str, Any]:
    """Grid, fields, notes and default settings of one file, as JSON-able values; ``InputError`` if unreadable."""
    from deconditioning.datasets.entries import catalogue
    from deconditioning.fields.reading.opening import open_fields

    entry = next((each for each in catalogue() if each.key == file), None)
    fields = entry.open() if entry else open_fields(file)
    grid = fields.grid
    return {
        "file": file,
        "grid": {
            "kind": grid.kind, "rows": grid.shape[0], "columns": grid.shape[1],
            "latitude": [float(grid.latitude.min()), float(grid.latitude.max())],
            "longitude": [float(grid.longitude.min()), float(grid.longitude.max())],
        },
        "fields": [_field(fields, name) for name in fields.variables()],
        "notes": list(fields.notes),
        "taken": dict(entry.default) if entry and entry.default else _guessed(fields),
    }  # fmt: skip


def _field(fields: "Fields", name: str) -> dict[str, Any]:
    variable = fields.check(name)
    dimensions = {
        dim: {"size": len(labels), "first": labels[0] if labels else None, "last": labels[-1] if labels else None}
        for dim, labels in variable.extra.items()
    }
    return {
        "name": name, "long_name": variable.long_name, "standard_name": variable.standard_name,
        "units": variable.units, "dimensions": dimensions, "time": fields.time_label(name),
        "fixed_in_time": fields.is_static(name),
    }  # fmt: skip


def _guessed(fields: "Fields") -> dict[str, Any] | str:
    """What page Downscaling opens with, or why nothing would be taken."""
    from deconditioning.fields.guess.problem import guess_problem

    if fields.grid.shape[0] * fields.grid.shape[1] > MOST_PIXELS:
        return "The grid is too large to inspect all values: choose the target and covariates yourself."
    try:
        guess = guess_problem(fields)
        result = guess.spec()
        when = fields.when_and_where(guess.target.value, result["select"])
        return {**result, "when_and_where": list(when), "reasons": guess.reasons()}
    except InputError as error:
        return str(error)


def _text(each: dict[str, Any]) -> str:
    grid = each["grid"]
    (south, north), (west, east) = grid["latitude"], grid["longitude"]
    lines = [
        f"{each['file']}: {grid['rows']} × {grid['columns']} pixels ({grid['kind']}), latitudes {south:.4g} to "
        f"{north:.4g}, longitudes {west:.4g} to {east:.4g}",
        table(["NAME", "UNITS", "DIMENSIONS", "TIME", "WHAT"], [_row(field) for field in each["fields"]]),
        *(f"Note: {note}" for note in each["notes"]),
        f"{_sentence(each['taken'])}\n",
    ]
    return "\n".join(lines)


def _row(field: dict[str, Any]) -> list[str]:
    dimensions = []
    for dim, result in field["dimensions"].items():
        span = result["first"] if result["size"] == 1 else f"{result['size']}, {result['first']} to {result['last']}"
        dimensions.append(f"{dim} ({span})")
    time = "fixed" if field["fixed_in_time"] else (field["time"] or "")
    return [field["name"], field["units"], "; ".join(dimensions), time.replace("T", " "), field["long_name"]]


def _sentence(taken: dict[str, Any] | str) -> str:
    if isinstance(taken, str):
        return taken
    covariates = ", ".join(taken["covariates"]) or "none"
    mediators = f"; mediators: {', '.join(taken['mediators'])}" if taken.get("mediators") else ""
    when = f" of {', '.join(taken['when_and_where'])}" if taken.get("when_and_where") else ""
    rows, columns = taken["block"]
    why = "; ".join(f"{name}: {reason}" for name, reason in taken.get("reasons", {}).items())
    return (
        f"Would be used: target {taken['target']}{when}; covariates: {covariates}{mediators}; cells of {rows} × "
        f"{columns} pixels." + (f"\nWhy: {why}." if why else "")
    )
