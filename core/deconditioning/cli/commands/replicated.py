"""``deconditioning replicated``: every table and figure of the five sources and our stored results."""

import argparse

from deconditioning.cli.document import add_json_option, check_writable, document, table, write, write_bytes
from deconditioning.cli.talk import say

HELP = "report for every table and figure of the five sources whether our stored results support it"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--markdown", metavar="PATH", help="write the whole table to this file, as Markdown")
    add_json_option(parser, default=None)


def run(options: argparse.Namespace) -> None:
    """The verdicts as a table, as JSON or as the document ``docs/replicated.md``."""
    from deconditioning.studies.replicated.claims import load
    from deconditioning.studies.replicated.markdown import to_markdown

    check_writable(options.json)
    check_writable(options.markdown)
    result = load()
    if options.markdown:
        write_bytes(options.markdown, to_markdown(result).encode())
        say(f"Wrote {options.markdown}.")
    if options.json is not None:
        names = ("text", "item", "verdict", "claim", "ours", "why", "missing", "numbers", "sources")
        entries = [{name: getattr(claim, name) for name in names} for claim in result.claims]
        write(document(options.command, {}, [], claims=entries, counts=result.counts()), options.json)
    if not options.markdown and options.json is None:
        print(table(["TEXT", "ITEM", "VERDICT"], [[c.text, c.item, c.verdict] for c in result.claims]))
