"""``deconditioning likelihood-free-guards``: the effect of the limits within which q̄ is maximised."""

import argparse
from itertools import product

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_output_options
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.studies.likelihood_free.settings import SimulatorSettings

HELP = (
    "test the limits of q̄ on exponential-gamma: as given, with ε or both ε and ℓ free, a narrower k, more herded "
    "samples"
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(parser, SimulatorSettings, names=("observed", "simulations"), several=("observed",),
              defaults={"observed": [SimulatorSettings.observed.default, 3.0]})  # fmt: skip
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)), metavar="SEED", help="seeds (0 to 9)")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every way at every observation and seed."""
    check_writable(options.json)
    with clean_stdout():
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
