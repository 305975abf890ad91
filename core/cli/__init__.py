"""The command line. A command is one file in ``core/cli/commands``; see ``core.cli.program``."""

from core.cli.program import main

__all__ = ["main"]
