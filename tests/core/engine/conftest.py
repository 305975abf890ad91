"""Engines for the tests: one embedded cluster for all of them, and one scheduler of the user's."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deconditioning.engine.cluster import QUIET
from deconditioning.engine.context import Context
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import Run, RunSpec, jsonable
from deconditioning.engine.tasks import find_task
from tests.waiting import HANG_S, wait_for

ROOT = Path(__file__).resolve().parents[3]
TOYS = "tests.core.engine.toys:"


def toy(name: str, seed: int = 0, **settings: Any) -> RunSpec:
    """The spec of a toy task."""
    return RunSpec(TOYS + name, settings, seed=seed, title=name)


def do_task(spec: RunSpec, context: Context) -> dict[str, Any]:
    """The task's result as plain JSON data, computed in this process; files and trace stay in the context."""
    return jsonable(find_task(spec.task)(spec.arguments(), context))


def ended(engine: Engine, run_id: str) -> Run:
    """The run once it has ended."""
    run = engine.wait(run_id, HANG_S)
    assert not run.active, f"run {run_id} goes on and on: {run.message}"
    return run


def done(engine: Engine, spec: RunSpec) -> Run:
    """A run submitted and ended, whatever its end."""
    return ended(engine, engine.submit(spec))


def progressing(engine: Engine, run_id: str, beyond: float = 0.0) -> Run:
    """The run once it is further than ``beyond``; fails with the run's own words when it ends without that."""

    def told() -> Run | None:
        run = engine.get(run_id)
        if (run.progress or 0.0) > beyond:
            return run
        assert run.active, f"{run.status}: {run.message}"
        return None

    return wait_for(told, f"progress of run {run_id}")


@pytest.fixture(scope="package")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """An engine with its own embedded cluster."""
    with Engine(tmp_path_factory.mktemp("runs"), address="") as made:
        yield made


@pytest.fixture
def own(tmp_path: Path, request: pytest.FixtureRequest, shared_cluster: None) -> Iterator[Engine]:
    """An engine that no other test has runs in."""
    with Engine(tmp_path, address="", limit_s=getattr(request, "param", None)) as engine:
        yield engine


@dataclass
class Crew:
    """A user's own cluster: the scheduler's address and the worker processes, each started by hand."""

    address: str
    file: Path
    started: list[subprocess.Popen]

    def start(self, *command: str) -> subprocess.Popen:
        """Start ``dask command`` of this cluster as a process of its own."""
        where = ["--scheduler-file", str(self.file), "--host", "127.0.0.1", "--no-dashboard"]
        self.started.append(subprocess.Popen(
            [sys.executable, "-m", "dask", *command, *where], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            cwd=self.file.parent, env={**os.environ, **QUIET},
        ))  # fmt: skip
        return self.started[-1]

    def hire(self) -> None:
        """One worker more."""
        self.start("worker", "--nthreads", "1", "--no-nanny")

    def bystander(self) -> subprocess.Popen:
        """A worker that does not hold the run's own task, which is the one that spreads the parts."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            held = client.run(lambda dask_worker: (os.getpid(), [str(key) for key in dask_worker.state.tasks]))
        idle = next(pid for pid, keys in held.values() if not any(key.startswith("run-") for key in keys))
        return next(process for process in self.started if process.pid == idle)

    def workers(self) -> int:
        """How many workers the scheduler knows."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            return len(client.scheduler_info(n_workers=-1)["workers"])


@pytest.fixture(scope="package")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """A Dask scheduler with one worker, started by hand as a user would."""
    made = Crew("", tmp_path_factory.mktemp("scheduler") / "scheduler.json", [])
    try:
        made.start("scheduler", "--port", "0")
        wait_for(lambda: made.file.exists() and made.file.stat().st_size > 0)
        made.address = json.loads(made.file.read_text())["address"]
        made.hire()
        yield made
    finally:
        for process in reversed(made.started):
            process.kill()
            process.wait()


@pytest.fixture(scope="package")
def scheduler(crew: Crew) -> str:
    """The address of the user's scheduler."""
    return crew.address
