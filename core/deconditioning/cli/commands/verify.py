"""``deconditioning verify``: scores of a downscaled series against its truth, beside interpolation and other files."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from deconditioning.cli.document import Result, check_writable, document, table, write, write_bytes
from deconditioning.cli.options import add_output_options
from deconditioning.cli.predictions import csv_of, opened
from deconditioning.cli.talk import say
from deconditioning.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

    from deconditioning.verification.report import Verification

HELP = "verify a downscaled field or series against its truth"
#: Scores of the printed table.
_SHOWN = ("rmse", "bias", "crps", "coverage95", "spread_skill", "correlation_inside", "variance_inside", "ralsd")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("input", metavar="PREDICTION", help="NetCDF file or Zarr store with `mean` and perhaps `sd`")
    parser.add_argument("--truth", metavar="FILE", help="file of the true field (default: `truth` of PREDICTION)")
    parser.add_argument(
        "--member", metavar="VALUE", help="verify one member of an ensemble (default: the mixture of all members)"
    )
    parser.add_argument("--variable", metavar="NAME", help="its variable, if the file has several")
    parser.add_argument(
        "--against", nargs="+", metavar="NAME=FILE", default=[], help="other predictions of the same pixels and times"
    )
    parser.add_argument(
        "--above", nargs="+", type=float, metavar="VALUE", default=[],
        help="thresholds, in the target's units: Brier score, reliability and ROC of the probabilities to exceed them, "
        "and fractions skill scores",
    )  # fmt: skip
    parser.add_argument(
        "--windows", nargs="+", type=int, metavar="PIXELS", default=[],
        help="pixels along the windows of the fractions skill score (default: 1 3 9 27, as far as they fit)",
    )  # fmt: skip
    parser.add_argument("--sal", action="store_true", help="structure, amplitude and location (SAL) of rain objects")
    parser.add_argument(
        "--static", metavar="FILE",
        help="file of the altitude, the share of land or both on the same pixels, for RMSE and CRPS by band of "
        "altitude and of land and sea (default: those of PREDICTION)",
    )  # fmt: skip
    parser.add_argument("--maps", metavar="OUT.nc", help="NetCDF file of bias, RMSE, CRPS and coverage of each pixel")
    parser.add_argument(
        "--table", metavar="OUT.csv", help="CSV with one row for each prediction, score, threshold and part"
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Verify, print the main scores, and write what was asked for."""
    from deconditioning.verification.report import verify
    from deconditioning.verification.series import verified

    for path in (options.json, options.table, options.maps):
        check_writable(path)
    name = Path(options.input).stem
    references = dict(_named(text) for text in options.against)
    if name in references:
        raise InputError(f"`{name}` is the name of the prediction itself: give the other file a different name.")
    truth = None if options.truth is None else _variable(options.truth, options.variable)
    prediction = opened(options.input)
    if options.member:
        prediction = _of_member(prediction, options.member)
    static = None if options.static is None else opened(options.static)
    series = verified(prediction, truth, {key: opened(path) for key, path in references.items()}, name, static)
    if static is not None and series.altitude is None and series.land is None:
        raise InputError(
            f"{options.static} has no field that is named as an altitude or a share of land, but "
            f"{', '.join(map(str, static)) or 'none'}: rename one, such as to surface_altitude or land_area_fraction."
        )
    if options.windows and not options.above:
        raise InputError("`--windows` are those of the fractions skill score of thresholds: add `--above`.")
    result = verify(series, options.above, windows=options.windows, sal=options.sal)
    if options.table:
        write_bytes(options.table, csv_of(result.rows()).encode())
    if options.maps:
        result.maps().to_netcdf(options.maps, engine="h5netcdf")
    if not options.quiet:
        say(_printed(result))
        for path in filter(None, (options.table, options.maps)):
            say(f"Wrote {path}.")
    results = [Result(each, 0, scores.pooled, series.units or "1") for each, scores in result.scores.items()]
    settings = {"input": options.input, "truth": options.truth, "against": references, "above": options.above,
                "static": options.static, "windows": options.windows, "sal": options.sal}  # fmt: skip
    write(document(options.command, settings, results, **result.to_dict()), options.json)


def _named(text: str) -> tuple[str, str]:
    name, sign, path = text.partition("=")
    if not sign or not name or not path:
        raise InputError(f"`{text}` does not name another prediction: write NAME=FILE, such as bcsd=bcsd.nc.")
    return name, path


def _of_member(dataset: "xr.Dataset", label: str) -> "xr.Dataset":
    """One member of an ensemble; ``InputError`` for others, and for a file without members."""
    dims = dataset["mean"].dims[:-3] if "mean" in dataset else ()
    if not dims:
        raise InputError("`--member` chooses a member of an ensemble, and the prediction has none: leave it out.")
    labels = [str(each) for each in dataset[dims[0]].values]
    if label not in labels:
        raise InputError(f"`{dims[0]}` has no member {label}: choose one of {', '.join(labels)}.")
    return dataset.isel({dims[0]: labels.index(label)})


def _variable(path: str, name: str | None) -> "xr.DataArray":
    dataset = opened(path)
    fields = [str(each) for each in dataset if dataset[each].ndim >= 2 and not str(each).endswith("_bnds")]
    if name is None and len(fields) == 1:
        (name,) = fields
    if name not in fields:
        missing = "several fields" if name is None else f"no field `{name}`"
        raise InputError(f"{path} has {missing} ({', '.join(fields)}): choose one with --variable.")
    return dataset[name]


def _printed(result: "Verification") -> str:
    """The main scores of every prediction, and the skills of the first."""
    shown = [name for name in _SHOWN if any(name in each.pooled for each in result.scores.values())]
    rows = [[name, *(f"{each.pooled[score]:.3g}" if score in each.pooled else "" for score in shown)]
            for name, each in result.scores.items()]  # fmt: skip
    lines = [table(["", *shown], rows)]
    for each in result.skills:
        ends = "" if each.low is None else f" (95 % interval {each.low:.2f} to {each.high:.2f})"
        lines.append(f"{each.score.upper()} skill against {each.reference}: {each.skill:.2f}{ends}")
    return "\n".join((*lines, *result.verified.notes))
