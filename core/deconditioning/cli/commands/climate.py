"""``deconditioning climate``: climate indices of a daily series beside those of its truth."""

import argparse
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import check_writable, document, table, write, write_bytes
from deconditioning.cli.options import add_output_options
from deconditioning.cli.predictions import csv_of, opened
from deconditioning.cli.talk import say
from deconditioning.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from deconditioning.verification.indices import Kind

HELP = "climate indices of downscaled daily series beside those of the truth, as in CORDEX ML-Bench"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "inputs", nargs="+", metavar="PREDICTION",
        help="NetCDF files or Zarr stores with daily `mean` and `truth`, and perhaps `draws`: one variable, or "
        "temperature and precipitation of the same days and pixels",
    )  # fmt: skip
    parser.add_argument("--table", metavar="OUT.csv", help="CSV with one row for each prediction, season and score")
    parser.add_argument("--ml-bench", metavar="OUT.nc", help="the predictions in the file format of CORDEX ML-Bench")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Compute the indices and diagnostics of each variable, print those of all days, write what was asked for."""
    from deconditioning.verification.climate import Days, as_rows, climate_scores, correlation_scores
    from deconditioning.verification.ml_bench import ml_bench_file
    from deconditioning.verification.series import verified

    for path in (options.json, options.table, options.ml_bench):
        check_writable(path)
    if len(options.inputs) > 2:
        raise InputError(f"{len(options.inputs)} predictions are given: give one, or one of each of two variables.")
    datasets = [opened(path) for path in options.inputs]
    kinds = [_kind(dataset) for dataset in datasets]
    if len(set(kinds)) < len(kinds):
        raise InputError(f"Both predictions are of the kind {kinds[0]}: give two different variables.")
    if options.ml_bench:
        ml_bench_file(dict(zip(kinds, datasets, strict=True))).to_netcdf(options.ml_bench, engine="h5netcdf")
    series = [verified(dataset) for dataset in datasets]
    days = Days.of(datasets[0][datasets[0]["mean"].dims[0]])
    rows = []
    for kind, each in zip(kinds, series, strict=True):
        rows += [{"variable": kind, **row} for row in as_rows(climate_scores(each, days, kind))]
    if len(series) == 2:
        correlations = correlation_scores(series[0], series[1], days, (kinds[0], kinds[1]))
        rows += [{"variable": "both", **row} for row in as_rows(correlations)]
    if options.table:
        write_bytes(options.table, csv_of(rows).encode())
    if not options.quiet:
        say(_printed(rows))
        for path in filter(None, (options.table, options.ml_bench)):
            say(f"Wrote {path}.")
    write(document(options.command, {"inputs": options.inputs}, [], scores=rows), options.json)


def _kind(dataset: "xr.Dataset") -> "Kind":
    """What the prediction's mean, or truth, is of."""
    from deconditioning.verification.indices import kind_of

    field = dataset["mean"] if "mean" in dataset else None
    if field is None:
        raise InputError("The file has no variable `mean`: give a file of `deconditioning downscale --output`.")
    about = [field.attrs, dataset["truth"].attrs if "truth" in dataset else {}]
    names = " ".join(str(each.get(key, "")) for each in about for key in ("standard_name", "long_name"))
    return kind_of(str(field.attrs.get("units", "")), names)


def _printed(rows: list[dict[str, Any]]) -> str:
    """The indices of all days, of the truth and of every prediction."""
    lines = []
    for variable in dict.fromkeys(row["variable"] for row in rows):
        mine = [row for row in rows if row["variable"] == variable and row["season"] == "year"]
        names = list(dict.fromkeys(row["prediction"] for row in mine))
        scores = list(dict.fromkeys((row["score"], row["units"]) for row in mine))
        shown = [[f"{score}, {units}", *_values(mine, score, names)] for score, units in scores]
        lines.append(f"{variable[:1].upper()}{variable[1:]}:\n" + table(["", "truth", *names], shown))
    return "\n\n".join(lines)


def _values(rows: list[dict[str, Any]], score: str, names: list[str]) -> list[str]:
    """The truth's index and those of the predictions, or their diagnostics."""
    by_name = {row["prediction"]: row for row in rows if row["score"] == score}
    truth = next((row["truth"] for row in by_name.values()), None)
    values = [by_name[name]["predicted"] if truth is not None else by_name[name]["value"] for name in names]
    return ["" if each is None else f"{each:.3g}" for each in (truth, *values)]
