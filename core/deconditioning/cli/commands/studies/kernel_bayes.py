"""``deconditioning kernel-bayes``: a Gaussian posterior from samples, and by densities with importance weights."""

import argparse
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_output_options, add_runs_options, chosen, requested_seeds
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.studies.kernel_bayes.settings import ComparisonSettings, KernelBayesSettings

if TYPE_CHECKING:
    from deconditioning.studies.kernel_bayes.study import GaussianSpec

#: Settings of one observation on the page; the command takes many, seeds by ``--seeds``, μ̂ by ``--methods``.
_OF_THE_PAGE = ("y1", "y2", "observation", "seed", "prior_weights")
HELP = "compute posterior means by kernel Bayes' rule, density estimation, conditional mean embeddings and ABC"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_flags(
        parser, KernelBayesSettings, without=_OF_THE_PAGE, several=("dimension", "pairs"), defaults={"dimension": 2},
        unset={"prior": "as many as pairs", "epsilon": "0.01/n", "delta": "2ε"},
    )  # fmt: skip
    add_flags(parser, ComparisonSettings, several=("simulations",))
    add_runs_options(parser, 3, "randomly drawn problems")
    parser.add_argument(
        "--methods",
        nargs="+",
        metavar="METHOD",
        help="kbr, kde, cme, abc (all), kbr_theorem, kbr_printed, kde_lscv, kbr_cv, kbr_cv_own",
    )
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every method on every run of every dimension; the summary is over all of them."""
    check_writable(options.json)
    seeds = requested_seeds(options)
    with clean_stdout():
        from deconditioning.studies.kernel_bayes.study import METHODS, GaussianSpec, compare_rules

        methods, results = tuple(options.methods or METHODS), []
        for dimension, pairs, seed in product(options.dimension, options.pairs, seeds):
            spec = GaussianSpec(dimension, pairs, options.prior or pairs, options.tests, seed)
            for size, row in _rows(spec, methods, options, compare_rules):
                more = {"dimension": dimension, "size": size}
                results.append(
                    Result(row["model"], seed, row["scores"], message=row["message"], seconds=row["seconds"], more=more)
                )
                if not options.quiet:
                    say(f"d = {dimension}, {row['model']} of {size}, run {seed}: MSE {row['scores']['mse']:.4g}")
    settings = {name: getattr(options, name) for name in (*_names(), "runs", "seeds")}
    result = document(options.command, {"methods": list(methods), **settings}, results, by=("dimension", "size"))
    write(result, options.json)


def _names() -> list[str]:
    """The settings that are flags."""
    every = (*KernelBayesSettings.declared(), *ComparisonSettings.declared())
    return [name for name in every if name not in _OF_THE_PAGE]


def _rows(
    spec: "GaussianSpec", methods: tuple[str, ...], options: argparse.Namespace, compare_rules: Any
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each row with its size: pairs, or the simulations of ABC, which are run beside the first number of pairs only."""
    by_pairs = tuple(name for name in methods if name != "abc")
    if by_pairs:
        for row in compare_rules(spec, by_pairs, rule=chosen(options, ("scale", "epsilon", "delta"))):
            yield spec.pairs, row
    if "abc" in methods and spec.pairs == options.pairs[0]:
        for simulations in options.simulations:
            yield simulations, compare_rules(spec, ("abc",), simulations)[0]
