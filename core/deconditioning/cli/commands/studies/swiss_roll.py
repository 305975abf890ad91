"""``deconditioning swiss-roll``: the swiss roll of the deconditional downscaling paper, models × seeds."""

import argparse
from typing import Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_device_option, add_learning_options, add_output_options, chosen
from deconditioning.cli.talk import Progress, stdout_kept_clean
from deconditioning.engine.context import Context
from deconditioning.errors import InputError

HELP = "recover the swiss roll from slice means, with any of the models"
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
    parser.add_argument(
        "--matching",
        choices=("direct", "indirect"),
        help="direct: each slice has points and a mean; indirect: one or the other (direct)",
    )
    parser.add_argument("--points", type=int, help="points on the roll (5000)")
    parser.add_argument("--bags", type=int, help="slices (50)")
    parser.add_argument("--noise", type=float, help="sd of the noise of a slice mean (0.05)")
    parser.add_argument(
        "--regularisation", type=float, metavar="λ", help="starting value of λ (depends on the matching)"
    )
    parser.add_argument("--inducing", type=int, help="inducing points of sparse models (200)")
    parser.add_argument(
        "--stage-one", choices=("joint", "leave_one_bag_out", "target_gp"), help="how ℓ and λ are learned"
    )
    parser.add_argument("--prior-sd", type=float, help="width of the log-normal priors on kernels, 0 for none")
    parser.add_argument("--method", choices=("lbfgs", "adam"), help="optimiser (lbfgs)")
    add_learning_options(parser, restarts=6, steps=60)
    add_device_option(parser, None)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Fit every model at every seed; fails only when no fit succeeds."""
    check_writable(options.json)
    with stdout_kept_clean():
        from deconditioning.device import choose
        from deconditioning.studies.swiss_roll.benchmark import BenchmarkSpec, benchmark_task

        roll = chosen(options, _ROLL)
        settings = chosen(options, _SETTINGS)
        matching = roll.pop("matching", "direct")
        spec = BenchmarkSpec(tuple(options.models), (matching,), tuple(options.seeds), roll, settings)
        given = {"models": spec.models, "matchings": spec.matchings, "seeds": spec.seeds}
        device = str(choose(options.device))
        found = benchmark_task(
            {**given, "roll": roll, "settings": settings}, Context(on_report=Progress(options.quiet))
        )
    results = [_result(row) for row in found["rows"]]
    if all(result.status != "ok" for result in results):
        raise InputError(str(results[0].message))
    everything = {**found["settings"], "matching": matching}
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
