"""Benchmarks end in one table of everything that was measured; with ``--smoke`` they only show that they run.

A smoke run sets the constants that a benchmark's ``SMOKE`` names to small values, times everything once, lets programs
share their imports, benchmarks an app and a browser, and keeps its rows in a folder that goes away.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from tests.benchmarks import apart, table


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--smoke``: small sizes, one repeat, nothing stored."""
    parser.addoption("--smoke", action="store_true", help="run every benchmark once at a small size; store nothing")


@pytest.fixture(scope="session")
def one_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., AbstractContextManager[str]]]:
    """In the place of ``running_app``: an app, shared by a room, that was begun before and goes on."""
    from tests.browser.serving import running_app

    folder = tmp_path_factory.mktemp("app")
    with running_app(folder / "runs", folder / "log.txt", DECONDITIONING_SHARED="true") as url:

        @contextmanager
        def going_on(runs: Path, log: Path, **environment: str) -> Iterator[str]:
            log.symlink_to(folder / "log.txt")
            yield url

        yield going_on


@pytest.fixture(scope="session")
def one_chromium() -> Iterator[Callable[[], AbstractContextManager]]:
    """In the place of ``chromium``: a browser that was begun before and goes on, and moves nothing by itself."""
    from tests.benchmarks.bench_latency import chromium

    with chromium("--force-prefers-reduced-motion") as browser:

        @contextmanager
        def going_on() -> Iterator:
            yield browser

        yield going_on


#: Function of a benchmark → the fixture that takes its place in a smoke run.
ONCE = {"running_app": "one_app", "chromium": "one_chromium"}


@pytest.fixture(autouse=True)
def smoke(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Small sizes where they are asked for."""
    if not request.config.getoption("--smoke"):
        return
    module = request.module
    assert module.SMOKE, f"{module.__name__} has no small size"
    for name, value in module.SMOKE.items():
        assert hasattr(module, name), f"{module.__name__} has no {name}"
        monkeypatch.setattr(module, name, value)
    monkeypatch.setattr(table, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(apart, "shares_imports", True)
    for name, fixture in ONCE.items():
        if hasattr(module, name):
            monkeypatch.setattr(module, name, request.getfixturevalue(fixture))
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
