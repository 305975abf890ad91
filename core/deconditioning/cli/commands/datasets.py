"""``deconditioning datasets``: the catalogue of data sets."""

import argparse
from typing import Any

from deconditioning.cli.document import add_json_option, check_writable, document, table, write
from deconditioning.cli.talk import say

HELP = "list the bundled, generated and your own data sets"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_json_option(parser, default=None)


def run(options: argparse.Namespace) -> None:
    """List the catalogue; own files are those of the folder named by DECONDITIONING_DATA."""
    from deconditioning.datasets.entries import catalogue, folder_problem

    check_writable(options.json)
    problem = folder_problem()
    if problem:
        say(problem)
    entries = [_entry(entry) for entry in catalogue()]
    if options.json is not None:
        write(document(options.command, {}, [], datasets=entries), options.json)
        return
    print(table(["KEY", "KIND", "TITLE"], [[entry["key"], entry["kind"], entry["title"]] for entry in entries]))


def _entry(entry: Any) -> dict[str, Any]:
    names = ("key", "title", "kind", "licence", "source", "description", "default")
    return {name: getattr(entry, name) for name in names}
