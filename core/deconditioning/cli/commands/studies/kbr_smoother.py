"""``deconditioning kbr-smoother``: the kernel Bayes filter, its prediction and its smoother."""

import argparse
from itertools import product

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.filter_options import add_circle_options, filter_settings
from deconditioning.cli.options import chosen, requested_seeds
from deconditioning.cli.talk import clean_stdout, say

HELP = "compare the kernel Bayes filter with its one-step prediction and with its smoother at several δ"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_circle_options(parser, ["a", "b"], 10)


def run(options: argparse.Namespace) -> None:
    """Every system, length and run."""
    check_writable(options.json)
    seeds = requested_seeds(options)
    with clean_stdout():
        from deconditioning.filtering.systems import RotationSystem
        from deconditioning.studies.filtering.smoothing import compare_smoothers
        from deconditioning.studies.filtering.study import rotation_problem

        settings = filter_settings(options)
        results = []
        for name, train, seed in product(options.system, options.train, seeds):
            problem = rotation_problem(RotationSystem.named(name, "M"), train, options.test, seed)
            for row in compare_smoothers(problem, seed, settings):
                more = {"system": name, "train": train, "smoothing": row["smoothing"]}
                results.append(Result(row["model"], seed, row["scores"], message=row["message"], more=more))
            if not options.quiet:
                say(f"{name}, T = {train}, run {seed} done")
    chosen_settings = chosen(options, ("system", "train", "test", "runs", "seeds", "tolerance"))
    write(document(options.command, chosen_settings, results, by=("system", "train", "smoothing")), options.json)
