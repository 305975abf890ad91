"""``deconditioning runs``: lists the runs in the app's folder."""

import argparse
import time
from pathlib import Path
from typing import Any

from deconditioning.cli.document import Result, add_json_option, check_writable, document, table, write
from deconditioning.engine.compare import run_model, run_scores
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import Run

HELP = "list the runs in the runs folder ($DECONDITIONING_RUNS or ./runs)"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--folder", type=Path, help="another runs folder")
    parser.add_argument("--run", metavar="ID", help="only this run, with its trace in the JSON")
    add_json_option(parser, default=None)


def run(options: argparse.Namespace) -> None:
    """List the runs, newest first; looking starts no cluster."""
    check_writable(options.json)
    with Engine(options.folder, address="") as engine:
        runs = (engine.get(options.run),) if options.run else engine.runs()
        if options.json is None:
            heads = ["ID", "STATUS", "PROGRESS", "BEGUN (UTC)", "TITLE", "MESSAGE"]
            print(table(heads, [_row(run_) for run_ in runs]))
            return
        results = [result for run_ in runs for result in _results(run_)]
        more: dict[str, Any] = {"trace": engine.trace(options.run)} if options.run else {}
        settings = {"folder": str(engine.root), "run": options.run}
    write(document(options.command, settings, results, **more), options.json)


def _row(run: Run) -> list[Any]:
    progress = None if run.progress is None else f"{100 * run.progress:.0f} %"
    begun = time.strftime("%Y-%m-%d %H:%M", time.gmtime(run.created))
    return [run.id, run.status, progress, begun, run.spec.title or run.spec.task, run.message[:80]]


def _results(run: Run) -> list[Result]:
    """One entry a model that the run scored; one without scores where it scored none."""
    result = run.result or {}
    units, model = result.get("units"), run_model(run)
    status = "ok" if run.status == "done" else run.status
    more = {"run": run.id, "title": run.spec.title, "created": run.created, "ended": run.ended}
    more |= {"files": list(run.files), "settings": run.spec.settings}
    wall = run.ended - run.started if run.ended and run.started else None
    seconds = {"cpu": None, "wall": wall}
    return [
        Result(
            name,
            run.spec.seed,
            values,
            units=units if isinstance(units, str) else "1",
            status=status,
            message=run.message or None,
            seconds=seconds if name == model else None,
            more=more,
        )
        for name, values in (run_scores(run) or {model: {}}).items()
    ]
