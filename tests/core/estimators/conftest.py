"""The command line, to compare with."""

from tests.core.cli.conftest import command

__all__ = ["command"]
