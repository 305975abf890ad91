"""``python -m core kbr-smoother``: the kernel Bayes filter beside its prediction and its smoother."""

import argparse
from itertools import product

from core.cli.document import Result, check_writable, document, write
from core.cli.options import (
    add_device_option,
    add_filter_options,
    add_output_options,
    add_series_options,
    chosen,
    seeds_asked,
)
from core.cli.talk import say, stdout_kept_clean

HELP = "the kernel Bayes filter, one step ahead, and given the whole series, with several δ of the smoother"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--system", nargs="+", choices=("a", "b"), default=["a", "b"], help="a: a circle, b: waves")
    add_series_options(parser, 10)
    add_filter_options(parser, 1e-4)
    add_device_option(parser)
    add_output_options(parser)


def run(options: argparse.Namespace) -> None:
    """Every system, length and run."""
    check_writable(options.json)
    seeds = seeds_asked(options)
    with stdout_kept_clean():
        from core.filtering.systems import RotationSystem
        from core.studies.filtering.smoothing import compare_smoothers
        from core.studies.filtering.study import FilterSettings, rotation_problem

        settings = FilterSettings(options.scale, options.epsilon, options.tolerance, options.device)
        results = []
        for name, train, seed in product(options.system, options.train, seeds):
            problem = rotation_problem(RotationSystem.named(name, "M"), train, options.test, seed)
            for row in compare_smoothers(problem, seed, settings):
                more = {"system": name, "train": train, "smoothing": row["smoothing"]}
                results.append(Result(row["model"], seed, row["scores"], message=row["message"], more=more))
            if not options.quiet:
                say(f"{name}, T = {train}, run {seed} done")
    said = chosen(options, ("system", "train", "test", "runs", "seeds", "tolerance"))
    write(document(options.command, said, results, by=("system", "train", "smoothing")), options.json)
