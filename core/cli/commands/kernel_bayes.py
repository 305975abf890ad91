"""``python -m core kernel-bayes``: a Gaussian posterior from samples, beside densities with importance weights."""

import argparse

from core.cli.document import Result, add_json_option, check_writable, document, write
from core.cli.talk import say, stdout_kept_clean

HELP = "find posterior means by kernel Bayes' rule, beside density estimation and the conditional mean embedding"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "--dimension", nargs="+", type=int, default=[2], metavar="D", help="of X and of Y, one or several"
    )
    parser.add_argument("--pairs", type=int, default=200, help="pairs (X, Y), n")
    parser.add_argument("--prior", type=int, default=200, help="draws of the prior")
    parser.add_argument("--tests", type=int, default=1000, help="values of y at which means are compared")
    parser.add_argument("--runs", type=int, default=3, help="drawn problems, seeds from 0")
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="kbr, kde, cme (all)")
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_json_option(parser)


def run(options: argparse.Namespace) -> None:
    """Every method on every run of every dimension; the summary is over all of them."""
    check_writable(options.json)
    with stdout_kept_clean():
        from core.experiments.kernel_bayes import METHODS, GaussianSpec, compare_rules

        methods, results = tuple(options.methods or METHODS), []
        runs = [(dimension, seed) for dimension in options.dimension for seed in range(options.runs)]
        for dimension, seed in runs:
            spec = GaussianSpec(dimension, options.pairs, options.prior, options.tests, seed)
            for row in compare_rules(spec, methods):
                more = {"dimension": dimension}
                results.append(
                    Result(row["model"], seed, row["scores"], message=row["message"], seconds=row["seconds"], more=more)
                )
                if not options.quiet:
                    say(f"d = {dimension}, {row['model']}, run {seed}: MSE {row['scores']['mse']:.4g}")
    settings = {name: getattr(options, name) for name in ("dimension", "pairs", "prior", "tests", "runs")}
    write(document(options.command, {"methods": list(methods), **settings}, results), options.json)
