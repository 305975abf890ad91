"""``deconditioning mediator-shift``: targets with other mediators than the bags, with and without weights."""

import argparse

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.options import add_output_options
from deconditioning.cli.talk import clean_stdout, say

HELP = "measure the cost of a mediator shift between bags and targets, with and without importance weights"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(20)), metavar="SEED", help="seeds (0 to 19)")
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every way of choosing ℓ, shift and seed, with equal and with importance weights."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.studies.one_dimension.shifted import SHIFTS, WAYS, shifts

        results = []
        for row in shifts(tuple(options.seeds)):
            more = {name: row[name] for name in ("way", "shift", "effective", "reached")}
            results += [
                Result(name, row["seed"], {"rmse": row[name]}, more=more) for name in ("plain", "weighed")
            ]  # fmt: skip
            if not options.quiet:
                say(f"{row['way']}, shift {row['shift']:g}, seed {row['seed']}: RMSE {row['plain']:.3f} plain, "
                    f"{row['weighed']:.3f} weighed")  # fmt: skip
    settings = {"seeds": options.seeds, "shifts": SHIFTS, "ways": WAYS}
    write(document(options.command, settings, results, by=("way", "shift")), options.json)
