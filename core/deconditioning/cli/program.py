"""Finds the commands, parses the arguments, runs one command, and turns failures into messages."""

import argparse
import contextlib
import importlib
import os
import pkgutil
import re
import sys
import traceback
from collections.abc import Sequence

import deconditioning
from deconditioning.cli import commands
from deconditioning.cli.extras import missing_extra
from deconditioning.errors import Cancelled, InputError
from deconditioning.plain_data import check_seed
from deconditioning.threads import set_threads

_BAD_INPUT = 2
_NEGATIVE = re.compile(r"-(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$", re.IGNORECASE)


def command_modules() -> dict[str, str]:
    """Command → its module: one file below ``cli/commands`` each."""
    modules = pkgutil.walk_packages(commands.__path__, f"{commands.__name__}.")
    return {module.name.rpartition(".")[2].replace("_", "-"): module.name for module in modules if not module.ispkg}


def make_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = argparse.ArgumentParser(
        prog="deconditioning",
        description="Deconditioning Lab without a browser. Results go to standard output, messages to standard error; "
        "the exit code is 0, or 2 for invalid input.",
    )
    parser.add_argument("--version", action="version", version=deconditioning.__version__)
    chosen = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, path in sorted(command_modules().items()):
        module = importlib.import_module(path)
        sub = chosen.add_parser(name, help=module.HELP, description=module.HELP)
        module.arguments(sub)
        sub._negative_number_matcher = _NEGATIVE  # argparse takes -1e20 for an option
        sub.add_argument("--traceback", action="store_true", help="show the traceback of an error")
        sub.set_defaults(do=module.run, command=name)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; its exit code is 0, 2 for invalid input, 1 for an internal failure, 130 if interrupted."""
    set_threads()
    words = list(sys.argv[1:] if arguments is None else arguments)
    options = make_parser().parse_args(words, argparse.Namespace(words=words))
    try:
        _check_seeds(options)
        return options.do(options) or 0
    except InputError as error:
        return _fail(options, str(error), _BAD_INPUT)
    except (KeyboardInterrupt, Cancelled):
        return _fail(options, "Interrupted.", 130)
    except MemoryError:
        return _fail(options, "There is not enough memory: use larger blocks or a smaller region.", 1)
    except BrokenPipeError:  # the reader of our output has gone; leave quietly
        with contextlib.suppress(OSError):  # standard output may be closed altogether
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        missing = missing_extra(error) if isinstance(error, ModuleNotFoundError) else ""
        if missing:
            return _fail(options, missing, _BAD_INPUT)
        text = " ".join(str(error).split())
        return _fail(
            options, f"The computation stopped with {type(error).__name__}: {text} (use --traceback for details)", 1
        )


def _check_seeds(options: argparse.Namespace) -> None:
    """Seeds that go into a computation without settings of its own are checked here."""
    for name in ("seed", "seeds"):
        seeds = getattr(options, name, None)
        for seed in seeds if isinstance(seeds, list) else [seeds]:
            if isinstance(seed, int):
                check_seed(seed, f"--{name}")


def _fail(options: argparse.Namespace, sentence: str, code: int) -> int:
    if options.traceback:
        traceback.print_exc()
    print(sentence, file=sys.stderr)
    return code
