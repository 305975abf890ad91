"""``deconditioning one-dimension``: f from two data sets without common points, methods × seeds."""

import argparse

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_output_options, chosen
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.datasets.line_settings import LineProblem
from deconditioning.errors import InputError
from deconditioning.studies.one_dimension.settings import LineSettings

HELP = "recover a hidden function from two data sets without common points, with naive alternatives"
#: What the page sets and the command has otherwise: ``--methods`` and ``--seeds`` take several, ``--free`` unties λ.
_OTHERWISE = ("method", "model", "tied", "seed")


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--methods", nargs="+", metavar="METHOD", help="task_transformed_gp, dme, impute, cascade (all)"
    )
    add_flags(parser, LineProblem, without=_OTHERWISE, given=True)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], metavar="SEED", help="seeds of the data")
    parser.add_argument(
        "--free", dest="tied", action="store_false", default=None, help="learn λ instead of setting λ = σ²/n"
    )
    add_flags(parser, LineSettings, without=_OTHERWISE, given=True)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Fit every method at every seed; failed fits are reported, and the command fails if all do."""
    check_writable(options.json)
    with clean_stdout():
        import torch

        from deconditioning.datasets.one_dimension import LineSpec, make_line
        from deconditioning.device import choose
        from deconditioning.studies.one_dimension.problem import METHODS, summary_of

        torch.set_num_threads(1)  # matrices this small are slower on several
        line = chosen(options, [name for name in LineProblem.declared() if name not in _OTHERWISE])
        chosen_settings = chosen(options, [name for name in LineSettings.declared() if hasattr(options, name)])
        methods = [LineSettings(method, **chosen_settings).method for method in options.methods or METHODS]
        results = []
        for seed in options.seeds:
            problem = make_line(LineSpec(**line, seed=seed))
            for method in methods:
                try:
                    row = summary_of(problem, LineSettings(method, seed=seed, **chosen_settings))
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
    everything = {**LineSpec(**line).to_dict(), **vars(LineSettings(**chosen_settings)), "seeds": options.seeds}
    for name in ("seed", "method", "model"):
        everything.pop(name)
    write(document(options.command, {"methods": methods, **everything}, results, device=device), options.json)
