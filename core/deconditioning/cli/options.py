"""Options shared by several commands, and their values."""

import argparse
from collections.abc import Iterable, Sequence
from typing import Any

from deconditioning.cli.document import add_json_option
from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed

Options = argparse._ActionsContainer  # a parser or a group of one
#: The longest range of seeds.
_MOST_SEEDS = 100_000

#: What counts as missing in a table where no number is named.
_USUAL_MARKS = "default: -9999 and other common codes far from all other values; --missing alone for none"


class Joined(argparse.Action):
    """Several files of one option as one key (`deconditioning.fields.several`); None if not given."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        """Keep them under the option's name."""
        from deconditioning.fields.several import joined

        setattr(namespace, self.dest, joined(values) if values else None)


def add_missing_option(parser: Options, unasked: str = _USUAL_MARKS) -> None:
    """Add ``--missing``, None if not given; ``unasked`` describes the default in its help."""
    parser.add_argument(
        "--missing", action="extend", nargs="*", metavar="NUMBER",
        help=f"numbers that count as missing values, such as -999.9, or t=-999.9 for one variable ({unasked})",
    )  # fmt: skip


def add_output_options(parser: Options) -> None:
    """``--quiet`` and ``--json``."""
    parser.add_argument("--quiet", action="store_true", help="no progress on standard error")
    add_json_option(parser)


def add_device_option(parser: Options, default: str | None = "auto") -> None:
    """``--device``; a ``default`` of None leaves it to the settings."""
    choices, explanation = ("auto", "cpu", "cuda"), "auto uses a GPU if there is one"
    parser.add_argument("--device", choices=choices, default=default, help=explanation)


def add_learning_options(parser: Options, *, restarts: int, steps: int) -> None:
    """Add ``--restarts``, ``--steps`` and ``--no-learn``, None if not given; these numbers are the defaults."""
    parser.add_argument("--restarts", type=int, help=f"starts of the optimiser ({restarts})")
    parser.add_argument("--steps", type=int, help=f"optimiser steps per start ({steps})")
    parser.add_argument("--no-learn", dest="learn", action="store_false", default=None, help="keep the starting values")


def add_runs_options(parser: Options, runs: int, of: str) -> None:
    """Add ``--runs`` and ``--seeds``: their number, or which."""
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--runs", type=int, help=f"number of {of}, with seeds from 0 ({runs})")
    either.add_argument("--seeds", nargs="+", metavar="SEED", help=f"seeds of the {of}, numbers or ranges such as 0-9")
    parser.set_defaults(usual_runs=runs)


def requested_seeds(options: argparse.Namespace) -> list[int]:
    """The seeds of ``add_runs_options``, which ``options.seeds`` holds from then on, and ``options.runs`` their number.

    Raises ``InputError`` for no run, and for anything that is no seed.
    """
    if options.seeds is None:
        runs = options.usual_runs if options.runs is None else options.runs
        if not 1 <= runs <= _MOST_SEEDS:
            raise InputError(f"{runs} runs were requested: give 1 to {_MOST_SEEDS:,}.")
        options.seeds = list(range(runs))
    else:
        options.seeds = seeds_of([str(word) for word in options.seeds])
    options.runs = len(options.seeds)
    return options.seeds


def chosen(options: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The options that were given."""
    return {name: getattr(options, name) for name in names if getattr(options, name) is not None}


def seeds_of(words: Sequence[str]) -> list[int]:
    """Seeds from numbers and ranges; ``InputError`` for anything else."""
    result: list[int] = []
    for word in words:
        ends = word.split("-")
        if not (1 <= len(ends) <= 2 and all(end.isdecimal() for end in ends)):
            raise InputError(f"The seed '{word}' is not a number: give numbers such as 0 1 2, or a range such as 0-99.")
        check_seed(int(ends[-1][:40]))
        if int(ends[-1]) - int(ends[0]) >= _MOST_SEEDS:
            raise InputError(f"The range '{word}' has more than {_MOST_SEEDS:,} seeds: give fewer.")
        result += range(int(ends[0]), int(ends[-1]) + 1)
    if not result or len(set(result)) < len(result):
        raise InputError("`--seeds` is empty or repeats a seed: give each seed once.")
    return result
