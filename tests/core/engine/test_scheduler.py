"""The user's own Dask cluster, named by its scheduler's address."""

import os
import socket
from pathlib import Path

import pytest

from deconditioning.downscaling.stores.predict_store import predict_store_task
from deconditioning.engine import cluster
from deconditioning.engine.context import Context
from deconditioning.engine.engine import Engine
from deconditioning.engine.visitors.uploads import write_upload
from deconditioning.errors import InputError
from tests.core.downscaling.stores import write_store
from tests.core.engine.conftest import Crew, done, ended, progressing, toy
from tests.core.engine.test_predict_store import gated, task, written
from tests.core.engine.toys import ENDLESS
from tests.waiting import wait_for


def test_runs_on_the_users_scheduler(scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DASK_SCHEDULER_ADDRESS", scheduler)
    with Engine(tmp_path) as engine:
        assert engine.address == scheduler
        run = done(engine, toy("count", seed=2, steps=4))
        assert run.status == "done", run.message
        assert run.result["nice"] == os.nice(0), "the user's workers keep their own priority"  # type: ignore[index]
        assert engine.file(run.id, "numbers.txt") == b"1 2 3"
        assert len(engine.trace(run.id)) == 4
        run_id = engine.submit(toy("count", steps=ENDLESS))
        progressing(engine, run_id)
        engine.cancel(run_id)
        assert ended(engine, run_id).status == "cancelled"


def test_uploads_travel_to_workers_that_do_not_share_the_folder(
    scheduler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DECONDITIONING_RUNS", str(tmp_path))
    key = write_upload(b"fine fields", b'{"name": "mine.nc"}')
    with Engine(tmp_path, address=scheduler) as engine:
        run = done(engine, toy("upload_there", source={"fields": key, "coarse": None}))
        assert run.status == "done", run.message
        assert run.result is not None and run.result["data"] == "fine fields"
        assert not Path(run.result["folder"]).is_relative_to(tmp_path)


def test_a_closed_app_frees_the_users_worker(scheduler: str, tmp_path: Path) -> None:
    with Engine(tmp_path, address=scheduler) as first:
        left = first.submit(toy("stubborn"))
        wait_for(lambda: first.get(left).status == "running")
    with Engine(tmp_path, address=scheduler) as second:
        assert second.get(left).status == "interrupted"
        assert done(second, toy("count")).status == "done"


def test_a_killed_worker_costs_only_the_chunks_it_had_in_hand(crew: Crew, tmp_path: Path) -> None:
    """A prediction over a store on two workers, one of which is lost, is what this process writes, byte for byte."""
    store, output, chunks = write_store(tmp_path / "in.zarr", 2), tmp_path / "there.zarr", 2 * 5 * 2
    gate, free = tmp_path / "gate", 6
    crew.hire()
    wait_for(lambda: crew.workers() == 2)
    with Engine(tmp_path / "runs", address=crew.address) as engine:
        run_id = engine.submit(gated(task(store, output, rows=8, columns=40), gate, free))
        progressing(engine, run_id, beyond=(free - 1) / chunks)
        victim, before = crew.bystander(), written(output)
        victim.kill()
        gate.touch()
        run = ended(engine, run_id)
    assert run.status == "done" and run.attempt == 1, run.message
    found, after = run.result, written(output)
    assert found is not None and found["chunks"] == found["computed"] == chunks and len(after) == 2 * chunks
    assert found["recomputed"] <= 2, "the one in hand, and perhaps one whose end had not been told"
    assert len(before) == 2 * free
    assert len([name for name, stamp in before.items() if after[name] != stamp]) <= 4
    predict_store_task(task(store, tmp_path / "here.zarr", rows=8, columns=40).settings, Context())
    assert set(written(tmp_path / "here.zarr")) == set(after)
    assert all((output / name).read_bytes() == (tmp_path / "here.zarr" / name).read_bytes() for name in after)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:{port}", "nonsense://x:1", "tcp://", "127.0.0.1"])
def test_an_unreachable_scheduler_is_a_sentence(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "_CONNECT_S", 1)  # however long one waits for it
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with Engine(tmp_path, address=address.format(port=port)) as engine:
        with pytest.raises(InputError, match=r"No Dask scheduler answers at .* DASK_SCHEDULER_ADDRESS"):
            engine.submit(toy("count"))
        assert engine.runs() == ()
