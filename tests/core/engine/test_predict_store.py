"""Prediction over a Zarr store on clusters: the embedded one, the user's by its address, one that loses a worker."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.engine import Engine, RunSpec
from core.experiments.store_plan import StoreTask
from tests.core.engine.conftest import ROOT, wait_for
from tests.core.experiments.stores import stored_model, write_store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_store(tmp_path_factory.mktemp("store") / "in.zarr")


@dataclass
class Crew:
    """A user's cluster: the scheduler's address and the worker processes by their ids."""

    address: str
    workers: dict[int, subprocess.Popen]

    def bystander(self) -> subprocess.Popen:
        """The worker that does not hold the run's own task, which is the one that spreads the chunks."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            held = client.run(lambda dask_worker: (os.getpid(), [str(key) for key in dask_worker.state.tasks]))
        return self.workers[next(pid for pid, keys in held.values() if not any(k.startswith("run-") for k in keys))]


@pytest.fixture(scope="module")
def crew(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """A scheduler and two workers, each a process of its own."""
    folder = tmp_path_factory.mktemp("crew")
    file = folder / "scheduler.json"
    dask, where = [sys.executable, "-m", "dask"], ["--scheduler-file", str(file), "--host", "127.0.0.1"]
    options = {
        "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder,
        "env": os.environ | {"PYTHONPATH": str(ROOT)},
    }  # fmt: skip
    started = [subprocess.Popen([*dask, "scheduler", *where, "--port", "0", "--no-dashboard"], **options)]
    try:
        worker = [*dask, "worker", *where, "--nthreads", "1", "--no-nanny", "--no-dashboard"]
        wait_for(lambda: file.exists() and file.stat().st_size > 0)
        started += [subprocess.Popen(worker, **options) for _ in range(2)]
        yield Crew(json.loads(file.read_text())["address"], {process.pid: process for process in started[1:]})
    finally:
        for process in reversed(started):
            process.kill()
            process.wait()


def task(store: Path, output: Path, **more) -> RunSpec:
    given = StoreTask(str(store), str(output), stored_model(store).to_dict(), token="t", **more)
    return RunSpec("predict-store", given.to_dict())


def written(output: Path) -> dict[str, int]:
    """Every chunk of the store's fields, and when it was written."""
    files = [file for name in ("mean", "sd") for file in (output / name).glob("[0-9]*")]
    return {f"{file.parent.name}/{file.name}": file.stat().st_mtime_ns for file in files}


def test_the_embedded_cluster_and_the_users_write_the_same(engine, crew, store, tmp_path) -> None:
    here = engine.wait(engine.submit(task(store, tmp_path / "a.zarr", rows=20)))
    assert here.status == "done", here.message
    assert here.message.startswith("6 of 6 chunks") and here.result["computed"] == 6 and here.result["peak_mb"] > 0
    assert engine.trace(here.id)[-1]["step"] == 6 and engine.trace(here.id)[-1]["rate"] > 0
    with Engine(tmp_path / "runs", address=crew.address) as other:
        there = other.wait(other.submit(task(store, tmp_path / "b.zarr", rows=20)))
    assert there.status == "done" and there.result["recomputed"] == 0, there.message
    names = set(written(tmp_path / "a.zarr"))
    assert len(names) == 12 and names == set(written(tmp_path / "b.zarr"))
    assert all((tmp_path / "a.zarr" / n).read_bytes() == (tmp_path / "b.zarr" / n).read_bytes() for n in names)


def test_a_killed_worker_costs_only_its_chunks(crew, store, tmp_path) -> None:
    output = tmp_path / "out.zarr"
    with Engine(tmp_path / "runs", address=crew.address) as engine:
        run_id = engine.submit(task(store, output, rows=4, columns=20))
        wait_for(lambda: (engine.get(run_id).progress or 0) > 0.1, 60)
        victim, before = crew.bystander(), written(output)
        victim.kill()
        run = engine.wait(run_id, 120)
    assert run.status == "done" and run.attempt == 1, run.message
    found, after = run.result, written(output)
    assert found["chunks"] == found["computed"] == 120 and len(after) == 240
    assert found["recomputed"] <= 2, "the one in hand, and perhaps one whose end had not been told"
    assert 20 < len(before) < 240
    assert len([name for name, stamp in before.items() if after[name] != stamp]) <= 4


def test_a_path_that_workers_do_not_see_is_a_sentence(engine, tmp_path) -> None:
    there = tmp_path / "elsewhere.zarr"
    run = engine.wait(engine.submit(task(there, tmp_path / "a.zarr")))
    assert run.status == "failed" and "every worker must see the same path" in run.message


def test_a_cancel_keeps_the_chunks_there_are(engine, store, tmp_path) -> None:
    run_id = engine.submit(task(store, tmp_path / "out.zarr", rows=4, columns=20))
    wait_for(lambda: engine.get(run_id).progress)
    engine.cancel(run_id)
    run = engine.wait(run_id)
    assert run.status == "cancelled" and 0 < run.result["computed"] < 120
    again = engine.wait(engine.rerun(run_id))
    assert again.status == "done" and again.result["kept"] == run.result["computed"]
