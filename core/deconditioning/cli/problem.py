"""The fields of a command and the problem built from them: options, files, settings."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deconditioning.cli.deck import deck_files
from deconditioning.cli.options import Joined, add_missing_option, chosen
from deconditioning.cli.talk import say
from deconditioning.errors import InputError
from deconditioning.fields.cell_settings import CellSettings

if TYPE_CHECKING:
    from deconditioning.downscaling.source import Source
    from deconditioning.fields.gridded import Fields
    from deconditioning.fields.problem.problem import DownscalingProblem
    from deconditioning.fields.spec import DownscalingSpec


_CELLS = CellSettings


def add_data_options(group: Any) -> None:
    """Add the options of the data: variables, files, cells and withheld targets."""
    group.add_argument("--target", help="the coarse variable to refine (bundled data sets have their own default)")
    group.add_argument(
        "--covariates",
        nargs="*",
        metavar="NAME",
        help="high-resolution variables (default: those that do not change with time)",
    )
    group.add_argument("--mediators", nargs="*", metavar="NAME", help="mediating variables")
    group.add_argument(
        "--coarse", nargs="+", action=Joined, metavar="FILE", help="file of the target, on its own coarse grid"
    )
    group.add_argument(
        "--mediator", nargs="+", action=Joined, metavar="FILE", help="file of the mediators (with --coarse)"
    )
    group.add_argument("--block", nargs=2, type=int, metavar=("ROWS", "COLUMNS"),
                       help=f"{_CELLS.rows.about} ({_CELLS.rows.default} {_CELLS.columns.default})")  # fmt: skip
    group.add_argument(
        "--withhold", type=float, help=f"{_CELLS.withhold.about} ({_CELLS.withhold.default:g}; 0 with --coarse)"
    )
    ways = [way for way in _CELLS.matching.options if way != _CELLS.matching.default]
    group.add_argument("--matching", choices=ways, help=f"how bags and targets are matched ({_CELLS.matching.about})")
    group.add_argument("--no-coordinates", action="store_true", help="do not use the coordinates as covariates")
    group.add_argument(
        "--weights",
        metavar="NAME",
        help="field by which cell means are weighted in addition to area, such as a population",
    )
    group.add_argument(
        "--error", metavar="NAME",
        help="field of the coarse file, or attribute of the regions, with the standard deviation of each value's "
            "error, or a number, which is that of all",
    )  # fmt: skip
    group.add_argument("--reweigh", action="store_true", help=_CELLS.reweigh.about)
    _add_cell_options(group)


def _add_cell_options(group: Any) -> None:
    """Which time and level, which cells, and the seeds that withhold them."""
    group.add_argument(
        "--select", nargs="*", metavar="DIM=VALUE",
        help="select along an extra dimension: a value (expver=5), a date or its beginning (time=1995-07), or an "
        "index from 0 (time=#2)",
    )  # fmt: skip
    group.add_argument(
        "--coarse-select", nargs="*", metavar="DIM=VALUE",
        help="the same for the target of --coarse (default: the covariates' time, level and member)",
    )  # fmt: skip
    add_missing_option(group, "default: those declared in the file, and values too large to be data")
    group.add_argument(
        "--hide",
        nargs="+",
        metavar="ROW-COLUMN",
        help="coarse cells whose target is withheld, as rows and columns from 0",
    )
    group.add_argument("--reveal", nargs="+", metavar="ROW-COLUMN", help="coarse cells whose target is never withheld")
    group.add_argument(
        "--region", nargs=4, type=int, metavar=("ROW", "ROW", "COLUMN", "COLUMN"),
        help="first and last row, first and last column of the coarse cells to keep, from 0",
    )  # fmt: skip
    group.add_argument("--seed", type=int, help=f"{_CELLS.seed.about} ({_CELLS.seed.default})")
    group.add_argument("--seeds", nargs="+", type=int, metavar="SEED", help="several seeds, computed one after another")


def add_footprint_options(group: Any) -> None:
    """Add the options of targets that are no cells of a grid: regions and stations."""
    group.add_argument(
        "--polygons", metavar="FILE",
        help="GeoJSON, shapefile, GeoPackage or NetCDF with CF geometries of regions whose values are the target",
    )  # fmt: skip
    group.add_argument("--value", metavar="NAME", help="attribute of the regions with the values (with --polygons)")
    group.add_argument("--value-units", metavar="UNITS", help="units of these values (with --polygons)")
    group.add_argument(
        "--region-table", metavar="FILE",
        help="CSV or NetCDF table with the regions' values in its column --value, joined by --key (with --polygons)",
    )  # fmt: skip
    group.add_argument(
        "--key", metavar="COLUMN",
        help="column of the table, and attribute of the regions, that joins them; ATTRIBUTE=COLUMN if they differ",
    )  # fmt: skip
    group.add_argument(
        "--region-time", metavar="TIME",
        help="time of a --region-table that has several (default: that of the covariates)",
    )  # fmt: skip
    group.add_argument(
        "--also", nargs="+", metavar="FILE[:NAME[:ERROR[:FOOTPRINT]]]",
        help="further sources of the target in addition to the cells: fields on another grid or a swath, regions (as "
        "--polygons), or a table of stations or soundings; NAME is the field, attribute or column with the values "
        "(default: the target's name), ERROR that with the standard deviation of each value's error, FOOTPRINT what "
        "each value of a table averages over (as --station-footprint)",
    )  # fmt: skip
    _add_station_options(group)


def _add_station_options(group: Any) -> None:
    """Add the options of stations that are targets, or that only score the map."""
    group.add_argument(
        "--stations", metavar="FILE",
        help="CSV or NetCDF table of stations (lat, lon, value, perhaps altitude and error) that are targets in "
        "addition to the cells",
    )  # fmt: skip
    group.add_argument(
        "--hide-values", nargs="+", metavar="SOURCE-VALUE",
        help="values of stations or of --also that the model does not see, by source (those of --also in their order, "
        "then the stations) and by value of its file, both counted from 1",
    )  # fmt: skip
    group.add_argument(
        "--score-stations", metavar="FILE", help="stations that the model does not see, at which the map is scored"
    )
    group.add_argument(
        "--station-value", metavar="COLUMN", help="column of the measured value (default: the target's name, or value)"
    )
    group.add_argument(
        "--station-time", metavar="TIME", help="time of a station table that has several (default: the map's)"
    )
    group.add_argument(
        "--station-footprint", metavar="KM",
        help="footprint that each value of --stations averages over, as a Gaussian: its full width at half maximum "
        "(20), or two widths and the direction of the first in degrees from north (22,14,30), or the columns of the "
        "table with these (major,minor,angle); default: points",
    )  # fmt: skip


def problem_of(options: argparse.Namespace, spec: "DownscalingSpec", opener: Any) -> "DownscalingProblem":
    """The problem of the files of a command."""
    from deconditioning.downscaling.further_sources.opening import regions_at, stations_at
    from deconditioning.downscaling.source import build_problem

    return build_problem(source_of(options), spec, opener, regions=regions_at, stations=stations_at)


def problem_spec(options: argparse.Namespace, default: dict[str, Any]) -> "DownscalingSpec":
    """The problem's settings: those given, then the data set's defaults, then the general defaults."""
    from deconditioning.fields.problem.cells import cells_of_text
    from deconditioning.fields.spec import DownscalingSpec

    names = ("target", "covariates", "mediators", "block", "withhold", "matching", "seed", "region", "missing",
             "weights", "error")  # fmt: skip
    arguments = chosen(options, names)
    arguments |= {name: cells_of_text(".".join(cells)) for name, cells in chosen(options, ("hide", "reveal")).items()}
    if options.no_coordinates:
        arguments["coordinates"] = False
    if options.reweigh:
        arguments["reweigh"] = True
    for name in ("select", "coarse_select"):
        if getattr(options, name) is not None:
            arguments[name] = dict(_pair(text, name) for text in getattr(options, name))
    swept = getattr(options, "command", "") == "sweep"  # whose scores are those of withheld cells
    if (options.coarse or getattr(options, "polygons", None)) and not swept and "withhold" not in default:
        default = {**default, "withhold": 0.0}
    merged = {**default, **arguments}
    if "target" not in merged:
        raise InputError("`--target` is missing: name the variable to refine.")
    return DownscalingSpec.from_dict(merged)


def _pair(text: str, option: str = "select") -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals or not name or not value.strip():
        raise InputError(
            f"`--{option.replace('_', '-')} {text}` is not understood: write DIM=VALUE, such as time=1995-07-14T12, or "
            "DIM=#INDEX, such as time=#2."
        )
    return name, value


def check_files(options: argparse.Namespace) -> None:
    """Raise ``InputError`` for files without a required companion, and for an output that is also an input."""
    if options.mediator and not options.coarse:
        raise InputError("`--mediator` needs `--coarse`: without `--coarse` the mediators are read from INPUT.")
    if getattr(options, "polygons", None):
        options.target = options.value or options.target
        if not options.target:
            raise InputError("`--polygons` needs `--value`: name the attribute of the regions with the values.")
    if options.coarse_select and not options.coarse:
        raise InputError(
            "`--coarse-select` needs `--coarse`: without `--coarse`, `--select` applies to the target too."
        )
    from deconditioning.fields.several import keys_of

    named = ("input", "coarse", "mediator", "polygons", "region_table", "stations", "score_stations")
    groups = [keys_of(key) for key in (getattr(options, name, None) for name in named) if key]
    groups.append([each.key for each in source_of(options).also])
    inputs = [Path(file).resolve() for files in groups for file in files]
    for option, file in {"output": options.output, **deck_files(options)}.items():
        if file and Path(file).resolve() in inputs:
            raise InputError(f"`--{option}` {file} is also an input: choose another name.")


def open_input(options: argparse.Namespace) -> tuple["Fields", dict[str, Any]]:
    """The fields of files or bundled data sets, and the default settings of the latter."""
    from deconditioning.datasets.entries import catalogue
    from deconditioning.fields.guess.variables import guess_target, static_covariates
    from deconditioning.fields.reading.opening import open_fields
    from deconditioning.fields.several import keys_of, together

    entries = {entry.key: entry for entry in catalogue()}
    keys = [options.input] if Path(options.input).exists() else keys_of(options.input)
    ours = [None if Path(key).exists() else entries.get(key) for key in keys]
    if len(keys) == 1 and ours[0] is not None:
        return ours[0].open(), dict(ours[0].default)
    if any(ours):
        fields = together([entry.open() if entry else open_fields(k) for k, entry in zip(keys, ours, strict=True)])
    else:
        fields = open_fields(options.input)
    if not options.target and not options.coarse:
        guess = guess_target(fields)
        raise InputError(
            f"`--target` is missing: name the variable to refine, such as `{guess.value}` ({guess.reason})."
        )
    if options.covariates is not None or not options.target:
        return fields, {}
    fixed = [guess.value for guess in static_covariates(fields, options.target)]
    covariates = [name for name in fixed if name not in (options.mediators or [])]
    if covariates and not options.quiet:
        names = ", ".join(f"`{name}`" for name in covariates)
        say(
            f"No covariates were given: using those that do not change with time, {names} (`--covariates` "
            "without a name for none)."
        )
    return fields, {"covariates": covariates}


def file_arguments(options: argparse.Namespace) -> dict[str, Any]:
    """The files of a command, for its JSON."""
    from deconditioning.downscaling.source import OPTIONS

    files = {name: getattr(options, name) for name in ("input", "coarse", "mediator", "output")}
    named = ("value", "climatology", "period", *OPTIONS.values())
    unused = [option for option in named if option not in files and hasattr(options, option)]
    return files | chosen(options, unused)


def source_of(options: argparse.Namespace) -> "Source":
    """The files that were given."""
    from deconditioning.downscaling.source import Source

    return Source.of_options(vars(options))


def check_selection(options: argparse.Namespace, spec: "DownscalingSpec", files: "Sequence[Fields]") -> None:
    """Raise ``InputError`` if ``--select`` names a dimension or a value that no used field has."""
    from deconditioning.fields.problem.matching import check_select

    selection = dict(_pair(text) for text in options.select or [])
    check_select(selection, files, (spec.target, *spec.covariates, *spec.mediators))
