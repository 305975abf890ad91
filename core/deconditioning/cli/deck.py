"""Options for slides of a result: one offline page, PowerPoint and PDF."""

import argparse
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from deconditioning.cli.document import check_writable, write_bytes
from deconditioning.cli.output import seeded
from deconditioning.cli.talk import say

if TYPE_CHECKING:
    from deconditioning.slides.deck import Shown

#: What each kind of file is.
_KINDS = {"html": "one page that works offline", "pptx": "PowerPoint", "pdf": "a report"}


def add_deck_options(group: Any) -> None:
    """``--html``, ``--pptx`` and ``--pdf``."""
    for kind, about in _KINDS.items():
        group.add_argument(
            f"--{kind}",
            metavar=f"OUT.{kind}",
            help=f"the slides of page Downscaling: {about} (OUT_seedN for several seeds)",
        )


def check_deck(options: argparse.Namespace) -> None:
    """Raise ``InputError`` if a file of slides could not be written."""
    for kind in _KINDS:
        check_writable(getattr(options, kind))


def deck_files(options: argparse.Namespace) -> dict[str, str]:
    """The requested files of slides, by kind."""
    return {kind: file for kind in _KINDS if (file := getattr(options, kind))}


def save_deck(options: argparse.Namespace, shown: "Shown", settings: Mapping[str, Any], seed: int, count: int) -> None:
    """Write the requested slides of one of ``count`` seeds; ``settings`` reproduce the result."""
    from deconditioning.slides.deck import presented
    from deconditioning.slides.offline import offline_page
    from deconditioning.slides.printed import powerpoint
    from deconditioning.slides.report import report

    presentation = presented(shown)
    made: dict[str, Callable[[], bytes]] = {
        "html": lambda: offline_page(presentation, settings).encode(),
        "pptx": lambda: powerpoint(presentation),
        "pdf": lambda: report(presentation),
    }
    for kind, file in deck_files(options).items():
        path = seeded(Path(file), seed, count)
        write_bytes(path, data := made[kind]())
        if not options.quiet:
            say(f"Wrote {path} ({len(data) / 1e6:.1f} MB).")


def command_given(options: argparse.Namespace) -> str:
    """The command line that is being run."""
    return shlex.join(["deconditioning", *options.words])
