"""``deconditioning benchmark NAME``: a whole benchmark through the run engine, stored as the file of its page."""

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

from deconditioning.bundled import bundled
from deconditioning.cli.document import check_writable, write_bytes
from deconditioning.cli.talk import say
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import RunSpec
from deconditioning.errors import InputError

HELP = "run a paper's benchmark on the Dask engine and store its table for the page"
_POLL_S = 1.0
#: Benchmark → the engine's task and the file that its page opens with; what others than the papers' run is `OWN`.
BENCHMARKS = {
    "swiss-roll": ("swiss-roll-benchmark", "swiss_roll.json"),
    "downscaling": ("downscaling-benchmark", "downscaling.json"),
    "trust": ("downscaling-benchmark", "trust.json"),
    "mediation": ("downscaling-benchmark", "mediation.json"),
    "real-fields": ("downscaling-benchmark", "real_fields.json"),
    "few-cells": ("downscaling-benchmark", "few_cells.json"),
    "peers": ("downscaling-benchmark", "peers.json"),
}
FOLDER = bundled("benchmarks")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("name", choices=sorted(BENCHMARKS), help="which benchmark")
    parser.add_argument("--seeds", type=int, help="number of seeds, from 0 (default: that of the benchmark)")
    parser.add_argument("--models", nargs="+", metavar="MODEL", help="only these models")
    parser.add_argument("--cases", nargs="+", metavar="CASE", help="only these cases (benchmarks of fields)")
    parser.add_argument("--resume", metavar="FILE", help="reuse the rows of this file and compute the missing ones")
    parser.add_argument(
        "--fields", metavar="FOLDER", help="folder of the given fields (benchmarks real-fields, few-cells, peers)"
    )
    parser.add_argument("--output", metavar="FILE", help="file for the results (data/benchmarks/…)")


def run(options: argparse.Namespace) -> None:
    """Submit the benchmark, report its progress, write its file; Ctrl+C keeps finished rows in the runs folder."""
    task, file = BENCHMARKS[options.name]
    output = Path(options.output) if options.output else FOLDER / file
    if not options.output:
        FOLDER.mkdir(parents=True, exist_ok=True)
    check_writable(str(output))
    settings: dict[str, Any] = _own_settings(options.name)
    if options.seeds is not None:
        settings["seeds"] = list(range(options.seeds))
    if options.models:
        settings["models"] = options.models
    if options.cases:
        settings["cases"] = options.cases
    if options.fields:
        _set_folder(options.fields)
    if options.resume:
        settings["done"] = _rows(Path(options.resume))
    with Engine() as engine:
        result = _follow(engine, engine.submit(RunSpec(task, settings, title=f"Benchmark: {options.name}")))
    command = f"deconditioning benchmark {options.name}"
    document = {"schema": 1, "command": command, "machine": machine(), **result}
    write_bytes(output, (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode())
    say(f"Wrote {output}.")


def _set_folder(folder: str) -> None:
    """Names the folder of the given fields to the engine's workers, which inherit the environment."""
    from deconditioning.studies.downscaling.given_fields import FOLDER as VARIABLE

    if not Path(folder).expanduser().is_dir():
        raise InputError(f"`--fields` is '{folder}', which is not a folder: name the folder of the given fields.")
    os.environ[VARIABLE] = str(Path(folder).expanduser().resolve())


def _own_settings(name: str) -> dict[str, Any]:
    """What a benchmark runs otherwise than its task does by itself."""
    from deconditioning.studies.downscaling.benchmark import OWN

    return dict(OWN.get(name, {}))


def _rows(path: Path) -> list[dict[str, Any]]:
    """The finished rows of an earlier table with this version's numbers; ``InputError`` if the file is not one."""
    from deconditioning.versions import difference

    try:
        result = json.loads(path.read_text())
        rows, version = list(result["rows"]), result["version"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"'{path}' is not a table of a benchmark ({error}): give a file that this command wrote."
        ) from None
    if problem := difference(version):
        raise InputError(f"'{path}' cannot be resumed. {problem} Run the benchmark without --resume.")
    return [row for row in rows if row.get("status") == "ok"]


def _follow(engine: Engine, run_id: str) -> dict[str, Any]:
    message = ""
    try:
        while (result := engine.get(run_id)).active:
            if result.message and result.message != message:
                message = result.message
                say(f"{100 * (result.progress or 0):5.1f} %  {message}")
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        engine.cancel(run_id)
        raise
    if result.status != "done" or not result.result:
        raise InputError(f"The benchmark ended with status {result.status}: {result.message}")
    return dict(result.result)


def machine() -> dict[str, Any]:
    """Properties of the machine that affect times: cores and kind of processor, no names."""
    import platform

    return {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version()}
