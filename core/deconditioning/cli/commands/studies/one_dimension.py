"""``deconditioning one-dimension``: f from two data sets without common points, methods × seeds."""

import argparse

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_device_option, add_learning_options, add_output_options, chosen
from deconditioning.cli.talk import say, stdout_kept_clean
from deconditioning.errors import InputError

HELP = "recover a hidden function from two data sets without common points, with naive alternatives"
_LINE = ("n", "m", "simulation", "target", "input_noise", "target_noise", "first_edits", "second_edits")
_SETTINGS = ("learn", "tied", "restarts", "steps", "optimiser", "device")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="task_transformed_gp, dme, impute, cascade (all)"
    )
    parser.add_argument("--n", type=int, help="pairs (x, y) (200)")
    parser.add_argument("--m", type=int, help="pairs (y, z) (200)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], metavar="SEED", help="seeds of the data")
    parser.add_argument("--simulation", metavar="EXPR", help="r as an expression in y")
    parser.add_argument("--target", metavar="EXPR", help="f as an expression in x")
    parser.add_argument("--input-noise", type=float, help="sd of x around r(y) (0.25)")
    parser.add_argument("--target-noise", type=float, help="sd of z around f(x) (0.25)")
    for name, pairs in (("first", "(y, x)"), ("second", "(y, z)")):
        parser.add_argument(
            f"--{name}-edits", metavar="EDITS", help=f"edits of the pairs {pairs}, such as m12_1.5_-0.25d7a0.5_2"
        )
    parser.add_argument(
        "--free", dest="tied", action="store_false", default=None, help="learn λ instead of setting λ = σ²/n"
    )
    parser.add_argument("--optimiser", choices=("lbfgs", "adam"), help="optimiser (lbfgs)")
    add_learning_options(parser, restarts=3, steps=60)
    add_device_option(parser, None)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Fit every method at every seed; failed fits are reported, and the command fails if all do."""
    check_writable(options.json)
    with stdout_kept_clean():
        import torch

        from deconditioning.datasets.one_dimension import LineSpec, make_line
        from deconditioning.device import choose
        from deconditioning.studies.one_dimension.problem import METHODS, LineSettings, summary_of

        torch.set_num_threads(1)  # matrices this small are slower on several
        line = chosen(options, _LINE)
        given = chosen(options, _SETTINGS)
        methods = [LineSettings(method, **given).method for method in options.methods or METHODS]
        results = []
        for seed in options.seeds:
            problem = make_line(LineSpec(**line, seed=seed))
            for method in methods:
                try:
                    row = summary_of(problem, LineSettings(method, seed=seed, **given))
                except InputError as error:
                    results.append(Result(method, seed, status="failed", message=str(error)))
                    continue
                if not options.quiet:
                    say(f"{method}, seed {seed}: RMSE {row['scores']['rmse']:.3f}")
                message = " ".join(row["warnings"]) or None
                results.append(
                    Result(method, seed, row["scores"], message=message, seconds=row["seconds"], peak_mb=row["peak_mb"])
                )
        device = str(choose(options.device or "auto"))
    if all(result.status != "ok" for result in results):
        raise InputError(str(results[0].message))
    everything = {**LineSpec(**line).to_dict(), **vars(LineSettings(**given)), "seeds": options.seeds}
    for name in ("seed", "method", "model"):
        everything.pop(name)
    write(document(options.command, {"methods": methods, **everything}, results, device=device), options.json)
