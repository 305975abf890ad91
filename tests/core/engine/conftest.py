"""Engines for the tests: one embedded cluster for all of them, and one scheduler of the user's."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.engine import Engine, RunSpec

ROOT = Path(__file__).resolve().parents[3]
TOYS = "tests.core.engine.toys:"


def toy(name: str, seed: int = 0, **settings: Any) -> RunSpec:
    """The spec of a toy task."""
    return RunSpec(TOYS + name, settings, seed=seed, title=name)


def wait_for(truth: Callable[[], Any], seconds: float = 30.0) -> Any:
    """Wait until ``truth()`` holds and return it; fail after ``seconds``."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := truth():
            return found
        time.sleep(0.02)
    raise AssertionError(f"nothing happened within {seconds} s")


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with its own embedded cluster."""
    with Engine(tmp_path_factory.mktemp("runs"), address="") as made:
        yield made


@pytest.fixture(scope="package")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Dask scheduler with one worker, started by hand as a user would."""
    file = tmp_path_factory.mktemp("scheduler") / "scheduler.json"
    dask, where = [sys.executable, "-m", "dask"], ["--scheduler-file", str(file)]
    plain = ["--host", "127.0.0.1"]
    commands = (
        [*dask, "scheduler", *where, *plain, "--port", "0", "--no-dashboard"],
        [*dask, "worker", *where, *plain, "--nthreads", "1", "--no-nanny", "--no-dashboard"],
    )
    started = []
    try:
        for command in commands:
            quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            environment = os.environ | {"PYTHONPATH": str(ROOT)}
            started.append(subprocess.Popen(command, cwd=file.parent, env=environment, **quiet))  # type: ignore[call-overload]
            wait_for(lambda: file.exists() and file.stat().st_size > 0)
        import json

        yield json.loads(file.read_text())["address"]
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()
