"""``deconditioning swiss-roll``: the swiss roll of the deconditional downscaling paper, models × seeds."""

import argparse
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_device_option, add_learning_options, add_output_options, chosen
from deconditioning.cli.talk import Progress, clean_stdout
from deconditioning.engine.context import Context
from deconditioning.errors import InputError
from deconditioning.studies.swiss_roll.settings import (
    BENCHMARK_POINTS,
    BENCHMARK_STARTS,
    LearningSettings,
    SwissRollSettings,
)

HELP = "recover the swiss roll from slice means, with any of the models"
#: Settings that are flags; those that are not given are left to the benchmark.
_SHOWN = ("matching", "points", "slices", "slice_noise", "regularisation", "inducing")
_ROLL = ("points", "bags", "noise", "matching")
_SETTINGS = ("regularisation", "inducing", "stage_one", "restarts", "steps", "method", "prior_sd", "device", "learn")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--models", nargs="+", default=["cmp", "shrinkage_cmp"], metavar="MODEL", help="names of models"
    )
    parser.add_argument(
        "--seeds", nargs="+", type=int, default=[0], metavar="SEED", help="seeds of the roll and of learning"
    )
    add_flags(parser, SwissRollSettings, names=_SHOWN, defaults={"points": BENCHMARK_POINTS},
              unset=dict.fromkeys(_SHOWN, "") | {"regularisation": "depends on the matching"})  # fmt: skip
    add_flags(parser, LearningSettings, names=("stage_one", "method"), unset={"stage_one": "", "method": ""})
    parser.add_argument("--prior-sd", type=float, help="width of the log-normal priors on kernels, 0 for none")
    add_learning_options(parser, restarts=BENCHMARK_STARTS, steps=LearningSettings.steps.default)
    add_device_option(parser, None)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Fit every model at every seed; fails only when no fit succeeds."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.device import choose
        from deconditioning.studies.swiss_roll.benchmark import BenchmarkSpec, benchmark_task

        roll = chosen(options, _ROLL)
        settings = chosen(options, _SETTINGS)
        matching = roll.pop("matching", SwissRollSettings.matching.default)
        spec = BenchmarkSpec(tuple(options.models), (matching,), tuple(options.seeds), roll, settings)
        design = {"models": spec.models, "matchings": spec.matchings, "seeds": spec.seeds}
        device = str(choose(options.device))
        benchmark = benchmark_task(
            {**design, "roll": roll, "settings": settings}, Context(on_report=Progress(options.quiet))
        )
    results = [_result(row) for row in benchmark["rows"]]
    if all(result.status != "ok" for result in results):
        raise InputError(str(results[0].message))
    everything = {**benchmark["settings"], "matching": matching}
    write(document(options.command, everything, results, device=device), options.json)


def _result(row: dict[str, Any]) -> Result:
    return Result(
        row["model"],
        row["seed"],
        row["scores"],
        status=row["status"],
        message=row["message"],
        seconds=row["seconds"],
        peak_mb=row["peak_mb"],
    )
