"""``python -m core sweep``: scores over a grid of one or two hyperparameters, as a tidy table."""

import argparse
import csv
import io
from typing import Any

from core.cli.commands import downscale
from core.cli.document import Result, check_writable, document, write, write_bytes
from core.cli.options import add_output_options
from core.cli.talk import Progress, say, stdout_kept_clean
from core.engine import Context

HELP = "scores over a grid of one or two hyperparameters"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    downscale.data_and_model_arguments(parser)
    parser.set_defaults(**dict.fromkeys(downscale.MODEL_SETTINGS), seeds=None)
    parser.add_argument(
        "--axis", nargs="+", required=True, metavar="NAME:LOW:HIGH:COUNT",
        help="what is swept: one or two, such as 'noise σ²:1e-6:1:5', with :linear behind it for even steps; a name "
        "that does not exist is answered with those that do",
    )  # fmt: skip
    parser.add_argument("--table", metavar="OUT.csv", help="the settings and their scores, one row a setting")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Compute every setting around the values where the sliders of the page begin, and write them."""
    check_writable(options.json)
    check_writable(options.table)
    with stdout_kept_clean():
        from core.downscaling.presets import preset
        from core.downscaling.settings import DownscaleSettings, completed, starting_spec
        from core.downscaling.source import Source
        from core.downscaling.sweep import Axis, sweep

        axes = [Axis.read(text) for text in options.axis]
        problem, spec = downscale.one_problem(options)
        settings = downscale.model_settings(options)
        chosen = completed(problem, DownscaleSettings.from_dict(settings))
        source = Source(options.input, options.coarse, options.mediator)
        start = preset(source.to_dict(), spec.to_dict(), chosen) or starting_spec(problem, chosen)
        context, rows = Context(on_report=Progress(options.quiet)), []
        for row in sweep(problem, start, axes):
            rows.append({name: value for name, value in row.items() if name != "picture"})
            context.report(step=len(rows), message=f"{len(rows)} settings")
    if options.table:
        write_bytes(options.table, tidy(rows).encode())
        if not options.quiet:
            say(f"Wrote {options.table}.")
    results = [_result(start.model, spec.seed, row, problem.units) for row in rows]
    given = {"input": options.input, "axes": options.axis, "table": options.table}
    everything = {**given, "problem": spec.to_dict(), "model": start.to_dict()}
    write(document(options.command, everything, results, device="cpu"), options.json)


def tidy(rows: list[dict[str, Any]]) -> str:
    """One line a setting: its values, then its scores; empty where there is none."""
    from core.downscaling.sweep import SCORES

    names = list(dict.fromkeys(name for row in rows for name in row["values"]))
    scores = [name for name in SCORES if any(row.get(name) is not None for row in rows)]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*names, *scores, "message"])
    for row in rows:
        cells = [*(row["values"].get(name) for name in names), *(row.get(name) for name in scores)]
        writer.writerow([*("" if cell is None else repr(cell) for cell in cells), row.get("message", "")])
    return stream.getvalue()


def _result(model: str, seed: int, row: dict[str, Any], units: str) -> Result:
    scores = {name: value for name, value in row.items() if isinstance(value, float)}
    failed = "message" in row
    return Result(
        model, seed, scores, units or "1", status="failed" if failed else "ok", message=row.get("message"),
        more={"values": row["values"]},
    )  # fmt: skip
