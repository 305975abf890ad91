"""``deconditioning kbr-filter``: a hidden state by the kernel Bayes filter, and by filters that use the equations."""

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import Result, check_writable, document, write
from deconditioning.cli.filter_options import add_circle_options, filter_settings
from deconditioning.cli.flags import add_flags
from deconditioning.cli.options import add_missing_option, chosen, requested_seeds
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError
from deconditioning.studies.filtering.settings import RotationSettings

if TYPE_CHECKING:
    from deconditioning.studies.filtering.study import FilterProblem

HELP = "filter a hidden state with the kernel Bayes filter, EKF, UKF and a particle filter"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_circle_options(parser, ["a"], 3)
    add_flags(parser, RotationSettings, names=("generator",))
    parser.add_argument(
        "--series", metavar="FILE", help="a series in place of a system: CSV or NetCDF, one step per row"
    )
    parser.add_argument("--states", nargs="+", metavar="COLUMN", help="columns of the hidden states")
    parser.add_argument("--observations", nargs="+", metavar="COLUMN", help="columns of the observations")
    parser.add_argument(
        "--time", metavar="COLUMN",
        help="time column of the series, used to sort rows and find gaps (default: the column that contains times), "
            "or none",
    )  # fmt: skip
    add_missing_option(parser)
    parser.add_argument("--methods", nargs="+", metavar="METHOD", help="kbr, ekf, ukf, particle (all)")


def run(options: argparse.Namespace) -> None:
    """Every method on every run."""
    check_writable(options.json)
    requested_seeds(options)
    with clean_stdout():
        from deconditioning.device import choose
        from deconditioning.studies.filtering.study import compare

        settings = filter_settings(options)
        methods = tuple(options.methods) if options.methods else None
        results = []
        for problem, seed, about in _problems(options):
            for row in compare(problem, seed, settings, methods):
                results.append(Result(row["model"], seed, row["scores"], message=row["message"], more=about))
                if not options.quiet:
                    where = ", ".join(f"{name} {value}" for name, value in about.items())
                    say(f"{where}, {row['model']}, run {seed}: MSE {row['scores']['mse']:.4f} ({row['message']})")
        device = str(choose(options.device))
    described = (
        "system", "generator", "series", "states", "observations", "missing", "train", "test", "runs", "seeds",
        "tolerance",
    )  # fmt: skip
    settings_text = chosen(options, described)
    by = ("train",) if options.series else ("system", "train")
    write(document(options.command, settings_text, results, device=device, by=by), options.json)


def _problems(options: argparse.Namespace) -> "Iterator[tuple[FilterProblem, int, dict[str, Any]]]":
    """Each problem with its seed and what tells it from the others."""
    from deconditioning.filtering.series import Series
    from deconditioning.filtering.systems import RotationSystem
    from deconditioning.studies.filtering.study import rotation_problem, series_problem

    if options.series:
        if not options.states or not options.observations:
            raise InputError("A series needs --states and --observations: name their columns.")
        from deconditioning.filtering.steps import GUESSED
        from deconditioning.tables.table import read_table

        table = read_table(options.series, missing=options.missing)
        time = None if options.time == "none" else options.time or GUESSED
        series = Series.from_table(table, options.states, options.observations, time)
        for note in (*table.notes, *series.notes):
            say(f"Note: {note}")
        for train in options.train:
            yield series_problem(series, train)[0], 0, {"train": train}
        return
    for name in options.system:
        system = RotationSystem.named(name, options.generator)
        for train in options.train:
            for seed in options.seeds:
                yield rotation_problem(system, train, options.test, seed), seed, {"system": name, "train": train}
