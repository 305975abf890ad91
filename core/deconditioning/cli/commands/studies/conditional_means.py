"""``deconditioning conditional-means``: standard against shrinkage estimation of a conditional mean embedding."""

import argparse
from dataclasses import asdict, replace
from typing import Any

from deconditioning.cli.commands.benchmark import machine
from deconditioning.cli.document import Result, add_json_option, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.errors import InputError
from deconditioning.studies.conditional_means.settings import (
    PAPER_BAGS,
    PAPER_PER_BAG,
    PAPER_REGULARISATION,
    BagSettings,
)

HELP = "compare the errors and costs of the standard and the shrinkage estimator of a conditional mean embedding"
_NAMES = {"standard": "cmp", "shrinkage": "shrinkage_cmp"}


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(
        parser, BagSettings, names=("bags", "per_bag", "unequal", "regularisation"), several=("bags", "per_bag"),
        defaults={
            "bags": PAPER_BAGS, "per_bag": PAPER_PER_BAG, "unequal": False, "regularisation": PAPER_REGULARISATION,
        },
    )  # fmt: skip
    parser.add_argument(
        "--same-number", action="store_true", help="use λ itself on both diagonals instead of Nλ and Bλ"
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=[0], metavar="SEED", help="seeds of the data")
    parser.add_argument("--times", action="store_true", help="add CPU times (N×N estimator up to 5,000 points)")
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """Errors of both estimates of E[X | Y = y] against y sin y, and how far apart the embeddings are."""
    check_writable(options.json)
    from deconditioning.studies.conditional_means.study import BagLayout, compare
    from deconditioning.studies.conditional_means.times import cost_table

    if len(options.bags) != len(options.per_bag):
        raise InputError(
            f"`--bags` has {len(options.bags)} values and `--per-bag` {len(options.per_bag)}: give equally many."
        )
    layout = BagLayout(1, 1, options.unequal, not options.same_number, options.regularisation)
    results = []
    for bags, per_bag, seed in ((*sizes, seed) for sizes in zip(options.bags, options.per_bag, strict=True)
                                for seed in options.seeds):  # fmt: skip
        result = compare(replace(layout, bags=bags, per_bag=per_bag, seed=seed))
        differences = {"difference": result.difference, "distance": result.distance, "bags": bags, "per_bag": per_bag}
        results += [
            Result(
                _NAMES[name], seed, {"rmse": rmse}, more={"embedding_rmse": result.embedding_rmse[name], **differences}
            )
            for name, rmse in result.regression_rmse.items()
        ]
    more: dict[str, Any] = {}
    if options.times:
        more = {"machine": machine(), "times": [asdict(row) for row in cost_table()]}
    settings = {**layout.to_dict(), "bags": options.bags, "per_bag": options.per_bag, "seeds": options.seeds}
    del settings["seed"]
    write(document(options.command, settings, results, by=("bags", "per_bag"), **more), options.json)
