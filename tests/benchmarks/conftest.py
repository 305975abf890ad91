"""Benchmarks end in one table of everything that was measured."""

import pytest

from tests.benchmarks.table import KEPT, RESULTS, table


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of this run and where its numbers lie."""
    if not KEPT:
        return
    terminalreporter.section("measured")
    for line in table(KEPT):
        terminalreporter.write_line(line)
    names = ", ".join(f"{name}.json" for name, _ in KEPT)
    terminalreporter.write_line(f"kept in {RESULTS.relative_to(RESULTS.parents[2])}: {names}")
