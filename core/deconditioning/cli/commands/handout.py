"""``deconditioning handout``: the lesson and the exercises as printable sheets, with a page of answers."""

import argparse

from deconditioning.cli.document import check_writable, write_bytes
from deconditioning.cli.talk import clean_stdout, say
from deconditioning.errors import InputError

HELP = "write the 45-minute lesson and the exercises as a printable PDF: four A4 pages, the last one for the teacher"


def arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE.pdf", help="the file to write")
    parser.add_argument(
        "--address", metavar="URL", default="http://localhost:8501",
        help="address at which the class opens the app, such as http://192.168.0.5:8501; links and QR codes start "
            "with it (%(default)s)",
    )  # fmt: skip
    parser.add_argument("--no-answers", action="store_true", help="leave out the page of answers, for the class")
    parser.add_argument("--quiet", action="store_true", help="no messages on standard error")


def run(options: argparse.Namespace) -> None:
    """Compute the verdicts of the exercises' checks, and write the sheets."""
    check_writable(options.file)
    if not options.address.startswith(("http://", "https://")):
        raise InputError(f"`--address` is {options.address!r}: give one that begins with http:// or https://.")
    with clean_stdout():
        from deconditioning.teaching.handout import checked, handout

        sheets = handout(options.address.rstrip("/"), None if options.no_answers else checked())
    write_bytes(options.file, sheets)
    if not options.quiet:
        say(f"Wrote {options.file}.")
