"""Benchmarks end in one table of everything that was measured; with ``--smoke`` they only show that they run.

A smoke run sets the constants that a benchmark's ``SMOKE`` names to small values, times everything once, lets programs
share their imports, and keeps its rows in a folder that goes away.
"""

from pathlib import Path

import pytest

from tests.benchmarks import apart, table


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--smoke``: small sizes, one repeat, nothing stored."""
    parser.addoption("--smoke", action="store_true", help="run every benchmark once at a small size; store nothing")


@pytest.fixture(autouse=True)
def smoke(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small sizes where they are asked for."""
    if not request.config.getoption("--smoke"):
        return
    module = request.module
    for name, value in module.SMOKE.items():
        assert hasattr(module, name), f"{module.__name__} has no {name}"
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(apart, "shares_imports", True)
    if timed := getattr(module, "cpu_seconds", None):
        monkeypatch.setattr(module, "cpu_seconds", lambda work, repeats=1: timed(work, 1))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of this run and where its numbers lie."""
    if not table.KEPT:
        return
    terminalreporter.section("measured")
    for line in table.table(table.KEPT):
        terminalreporter.write_line(line)
    names = ", ".join(dict.fromkeys(f"{name}.json" for name, _ in table.KEPT))
    terminalreporter.write_line(f"kept in {table.RESULTS.relative_to(table.RESULTS.parents[2])}: {names}")
