"""``deconditioning shrinkage-rates``: the operator learned from bags, against their number and size."""

import argparse
from typing import Any

from deconditioning.cli.document import Result, add_json_option, check_writable, document, write
from deconditioning.cli.talk import clean_stdout, say

HELP = "measure how the standard and the shrinkage estimate depend on the number and size of bags"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--bags", nargs="+", type=int, default=[50, 100, 200, 400, 800], help="number of bags B")
    parser.add_argument(
        "--per-bag", nargs="+", type=int, default=[1, 3, 10, 30, 100], help="points per bag n, the mean if unequal"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=list(range(10)))
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """A row for every estimate, number and size of bags, and seed."""
    check_writable(options.json)
    with clean_stdout():
        from deconditioning.studies.conditional_means.bag_rates import bag_size_sweep

        def report(row: dict[str, Any]) -> None:
            """Print the risk of one row."""
            size = f"{row['more']['bags']} bags of {row['more']['per_bag']}"
            say(f"{row['model']}, {size}, seed {row['seed']}: risk {row['scores']['risk']:.3g}")

        rows = bag_size_sweep(options.bags, options.per_bag, options.seeds, report)
        results = [Result(row["model"], row["seed"], row["scores"], more=row["more"]) for row in rows]
    settings = {"bags": options.bags, "per_bag": options.per_bag, "seeds": options.seeds}
    write(document(options.command, settings, results), options.json)
