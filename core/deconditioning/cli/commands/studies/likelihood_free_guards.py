"""``deconditioning likelihood-free-guards``: the effect of the limits within which q̄ is maximised."""

import argparse
from itertools import product

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_output_options
from deconditioning.cli.talk import say, stdout_kept_clean

HELP = (
    "test the limits of q̄ on exponential-gamma: as given, with ε or both ε and ℓ free, a narrower k, more herded "
    "samples"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--observed", nargs="+", type=float, default=[9.42, 3.0], help="observed means (9.42 and 3)")
    parser.add_argument("--simulations", type=int, default=100, metavar="N", help="runs of the simulator (100)")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)), metavar="SEED", help="seeds (0 to 9)")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every way at every observation and seed."""
    check_writable(options.json)
    with stdout_kept_clean():
        from deconditioning.studies.likelihood_free.guards import WAYS, guard_rows
        from deconditioning.studies.likelihood_free.study import make_problem

        results = []
        for observed, seed in product(options.observed, options.seeds):
            for row in guard_rows(make_problem("exponential-gamma", observed), options.simulations, seed):
                status = "ok" if row["scores"] else "failed"
                more = {**row["more"], "observed": observed}
                results.append(
                    Result(row["model"], seed, row["scores"], status=status, message=row["message"], more=more)
                )
            if not options.quiet:
                say(f"observed {observed:g}, seed {seed} done")
    settings = {"observed": options.observed, "simulations": options.simulations, "seeds": options.seeds,
                "ways": list(WAYS)}  # fmt: skip
    write(document(options.command, settings, results, by=("observed", "way")), options.json)
