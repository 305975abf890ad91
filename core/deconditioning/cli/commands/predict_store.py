"""``deconditioning predict-store``: a stored model applied to every time step of a Zarr store."""

import argparse
import secrets
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_output_options
from deconditioning.cli.output import quantile_levels
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import Cancelled, InputError

if TYPE_CHECKING:
    from deconditioning.downscaling.stores.stored_model import StoredModel

HELP = "predict every time step of a Zarr store with a stored model, region by region, into a Zarr store"
_POLL_S = 0.2
_SAY_S = 2.0


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("input", metavar="INPUT.zarr", help="Zarr store of the high-resolution fields, a path or a URL")
    parser.add_argument(
        "--model", required=True, metavar="MODEL.json", help="model written by `downscale --json MODEL.json`"
    )
    parser.add_argument("--output", required=True, metavar="OUT.zarr", help="Zarr store to write, with mean and sd")
    parser.add_argument(
        "--condition", choices=("once", "each"), default="once",
        help="once: the model's own targets with each step's covariates; each: each step's own targets (once)",
    )  # fmt: skip
    parser.add_argument("--coarse", metavar="FILE", help="each: the coarse targets of all steps (NetCDF or Zarr)")
    parser.add_argument("--mediator", metavar="FILE", help="each: the mediators of all steps (with --coarse)")
    parser.add_argument("--along", default="time", metavar="DIM", help="dimension of the steps (time)")
    parser.add_argument("--steps", nargs=2, type=int, metavar=("FIRST", "STOP"), help="only these steps, from 0")
    parser.add_argument("--region-rows", type=int, metavar="N", help="rows of a region, one chunk of OUT.zarr")
    parser.add_argument("--region-columns", type=int, metavar="N", help="columns of a region (all)")
    parser.add_argument(
        "--quantiles", nargs="*", type=float, metavar="Q",
        help="also write quantiles of every pixel (0.05 0.25 0.5 0.75 0.95)",
    )  # fmt: skip
    parser.add_argument("--double", action="store_true", help="write float64 instead of float32")
    parser.add_argument("--resume", action="store_true", help="compute the chunks missing in OUT.zarr")
    parser.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), help="where to compute (default: that of the model)"
    )
    parser.add_argument("--workers", type=int, metavar="N", help="worker processes ($DECONDITIONING_WORKERS or 1)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="your Dask scheduler ($DASK_SCHEDULER_ADDRESS)")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Submit the run, report its progress, print its cost; Ctrl+C keeps finished chunks."""
    check_writable(options.json)
    with clean_stdout(), Engine(address=options.scheduler, workers=options.workers) as engine:
        settings = task_settings(options, remote=engine.address is not None)
        title = f"{Path(options.input).name} → {Path(options.output).name}"
        finished = _follow(engine, engine.submit(RunSpec("predict-store", settings, title=title)), options.quiet)
    result = dict(finished.result or {})
    names = ("model", "seconds", "peak_mb", "message", "warnings", "device", "cancelled")
    more = {name: value for name, value in result.items() if name not in names}
    sentences = [str(result["message"]), *result["warnings"]]
    entry = Result(
        str(result["model"]), 0, message=". ".join(sentences), seconds=result["seconds"], peak_mb=result["peak_mb"],
        more={**more, "run": finished.id},
    )  # fmt: skip
    write(document(options.command, settings, [entry], device=str(result["device"])), options.json)


def task_settings(options: argparse.Namespace, remote: bool = False) -> dict[str, Any]:
    """The settings of the run; a cluster of the user's gets the model's own files along as uploads."""
    from deconditioning.downscaling.stores.store_plan import StoreTask
    from deconditioning.downscaling.stores.stored_model import read_model

    model = read_model(options.model)
    if options.device:
        model = replace(model, settings=model.settings.replace(device=options.device))
    task = StoreTask(
        store=_absolute(options.input),
        output=_absolute(options.output),
        model=(model if options.condition == "each" else _reachable(model, remote)).to_dict(),
        condition=options.condition,
        along=options.along,
        rows=options.region_rows,
        columns=options.region_columns,
        steps=tuple(options.steps) if options.steps else None,
        coarse=_absolute(options.coarse),
        mediator=_absolute(options.mediator),
        quantiles=quantile_levels(options),
        resume=options.resume,
        double=options.double,
        token=secrets.token_hex(8),
    )
    return task.to_dict()


def _absolute(path: str | None) -> Any:
    """A path as every process sees it; a URL stays what it is."""
    from deconditioning.fields.reading.zarr_reading import is_url

    return path if path is None or is_url(path) else str(Path(path).absolute())


def _reachable(model: "StoredModel", remote: bool) -> "StoredModel":
    """The model with files by absolute path; for workers elsewhere a NetCDF file becomes an upload that travels."""
    from deconditioning.downscaling.source import keep_upload
    from deconditioning.fields.reading.zarr_reading import is_store, is_url
    from deconditioning.fields.several import each_key, is_pattern

    def reachable(key: str) -> str:
        """An address as it is, a file by its absolute path or, for workers elsewhere, as the key of an upload."""
        path = Path(key)
        if is_url(key) or not (path.exists() or is_pattern(key)):
            return key
        if remote and path.is_file() and not is_store(path):
            return keep_upload(path.read_bytes(), path.name)[0]
        return str(path.absolute())

    source = model.source
    coarse, mediator = (each_key(key, reachable) if key else None for key in (source.coarse, source.mediator))
    files = {name: key for name in ("regions", "stations", "scored") if (key := getattr(source, name)) is not None}
    if remote and any(Path(key).exists() for key in (*files.values(), *(each.key for each in source.also))):
        raise InputError(
            "Workers elsewhere do not have the files of regions, stations and further sources: predict on this machine."
        )
    files = {name: reachable(key) for name, key in files.items()}
    also = tuple(replace(each, key=reachable(each.key)) for each in source.also)
    moved = replace(
        source, fields=each_key(source.fields, reachable), coarse=coarse, mediator=mediator, also=also, **files
    )
    return replace(model, source=moved)


def _follow(engine: Engine, run_id: str, quiet: bool) -> Run:
    """Wait for the run; ``InputError`` with its message where it did not finish."""
    message, spoke = "", 0.0
    try:
        while (result := engine.get(run_id)).active:
            if result.message != message and time.monotonic() - spoke > _SAY_S and not quiet:
                message, spoke = result.message, time.monotonic()
                say(f"{100 * (result.progress or 0):5.1f} %  {message}")
            time.sleep(_POLL_S)
    except KeyboardInterrupt:
        engine.cancel(run_id)
        raise
    if result.status == "cancelled":
        raise Cancelled
    if result.status != "done" or not result.result:
        raise InputError(result.message)
    return result
