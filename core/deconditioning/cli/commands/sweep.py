"""``deconditioning sweep``: scores over a grid of one or two settings, of a field or of a study, as a tidy table."""

import argparse
import csv
import io
import json
from collections.abc import Iterable, Sequence
from typing import Any

from deconditioning.cli.commands import downscale
from deconditioning.cli.document import Result, check_writable, document, write, write_bytes
from deconditioning.cli.options import add_output_options
from deconditioning.cli.talk import Progress, clean_stdout, say
from deconditioning.downscaling.settings import DownscaleSettings, LearningSettings
from deconditioning.engine.context import Context
from deconditioning.errors import InputError
from deconditioning.wording import table_cell

HELP = "compute scores over a grid of one or two settings"
Swept = tuple[list[dict[str, Any]], dict[str, Any], str, int, str]


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    downscale.data_and_model_arguments(parser, optional=True)
    parser.set_defaults(**dict.fromkeys(LearningSettings.declared()), seeds=None)
    parser.add_argument(
        "--study", metavar="NAME",
        help="a study in place of INPUT, such as one-dimension; an unknown name lists all studies",
    )  # fmt: skip
    parser.add_argument(
        "--set", nargs="+", metavar="NAME=VALUE", default=[], help="settings of the study other than the defaults"
    )
    parser.add_argument(
        "--axis", nargs="+", required=True, metavar="NAME:LOW:HIGH:COUNT",
        help="one or two settings to sweep, such as 'noise σ²:1e-6:1:5', followed by :linear for even steps; an "
            "unknown name lists all settings",
    )  # fmt: skip
    parser.add_argument("--table", metavar="OUT.csv", help="CSV of the settings and their scores, one row per setting")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Compute every setting, around the values where the sliders of the page begin, and write them."""
    check_writable(options.json)
    check_writable(options.table)
    if (options.input is None) == (options.study is None):
        raise InputError(
            "Exactly one of INPUT and --study is needed: give INPUT to downscale a field, or --study NAME."
        )
    with clean_stdout():
        rows, everything, model, seed, units = _study(options) if options.study else _field(options)
    if options.table:
        write_bytes(options.table, tidy(rows, everything.pop("scores")).encode())
        if not options.quiet:
            say(f"Wrote {options.table}.")
    everything.pop("scores", None)
    results = [_result(model, seed, row, units) for row in rows]
    axes = {"axes": options.axis, "table": options.table}
    write(document(options.command, {**axes, **everything}, results, device="cpu"), options.json)


def _field(options: argparse.Namespace) -> Swept:
    """Rows of a field, what they were made with, the model, the seed, the units."""
    from deconditioning.downscaling.presets import preset
    from deconditioning.downscaling.source import Source
    from deconditioning.downscaling.starting import completed, starting_spec
    from deconditioning.downscaling.sweep import SCORES, sweep
    from deconditioning.sweeps import Axis

    axes = [Axis.read(text) for text in options.axis]
    problem, spec = downscale.one_problem(options)
    settings = downscale.model_settings(options)
    chosen = completed(problem, DownscaleSettings.from_dict(settings))
    source = Source(options.input, options.coarse, options.mediator)
    start = preset(source.to_dict(), spec.to_dict(), chosen) or starting_spec(problem, chosen)
    rows = _with_progress(sweep(problem, start, axes), options.quiet)
    everything = {"input": options.input, "problem": spec.to_dict(), "model": start.to_dict(), "scores": list(SCORES)}
    return rows, everything, start.model.name, spec.seed, problem.units or "1"


def _study(options: argparse.Namespace) -> Swept:
    """The same of a study; what is scored has no units there."""
    from deconditioning.studies.sweeping import study_of, sweep_study
    from deconditioning.sweeps import Axis

    study, axes = study_of(options.study), [Axis.read(text) for text in options.axis]
    settings = study.complete(_parsed(options.set))
    rows = _with_progress(sweep_study(study, settings, axes), options.quiet)
    everything = {"study": options.study, "settings": settings, "scores": list(study.scores)}
    return rows, everything, options.study, int(settings.get("seed", 0)), "1"


def _parsed(texts: Sequence[str]) -> dict[str, Any]:
    """``name=value`` as JSON's values: numbers, true and false; anything else is text."""
    result: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"`{text}` is not a setting: write NAME=VALUE, such as n=100.")
        try:
            result[name] = json.loads(value)
        except ValueError:
            result[name] = value
    return result


def _with_progress(rows: Iterable[dict[str, Any]], quiet: bool) -> list[dict[str, Any]]:
    context, result = Context(on_report=Progress(quiet)), []
    for row in rows:
        result.append({name: value for name, value in row.items() if name != "picture"})
        context.report(step=len(result), message=f"{len(result)} settings")
    return result


def tidy(rows: list[dict[str, Any]], offered: Sequence[str]) -> str:
    """One line per setting: its values, then its scores; empty if there is none."""
    names = list(dict.fromkeys(name for row in rows for name in row["values"]))
    scores = [name for name in offered if any(row.get(name) is not None for row in rows)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*names, *scores, "message"])
    for row in rows:
        cells = [*(row["values"].get(name) for name in names), *(row.get(name) for name in scores)]
        writer.writerow([*("" if cell is None else repr(cell) for cell in cells), table_cell(row.get("message", ""))])
    return stream.getvalue()


def _result(model: str, seed: int, row: dict[str, Any], units: str) -> Result:
    scores = {name: value for name, value in row.items() if isinstance(value, float)}
    failed = "message" in row
    return Result(
        model, seed, scores, units, status="failed" if failed else "ok", message=row.get("message"),
        more={"values": row["values"]},
    )  # fmt: skip
