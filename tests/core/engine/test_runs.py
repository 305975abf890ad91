"""Runs on the embedded cluster: live progress, results, cancel, failures in a sentence."""

import time
from pathlib import Path
from typing import Any

import psutil
import pytest

import deconditioning
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import Run
from deconditioning.engine.store import Store
from deconditioning.errors import InputError
from tests.core.engine.conftest import done, ended, progressing, toy
from tests.core.engine.toys import ENDLESS
from tests.waiting import wait_for


def test_progress_arrives_while_the_run_goes_on(engine: Engine, tmp_path: Path) -> None:
    run_id = engine.submit(toy("count", seed=3, steps=40, gate=str(tmp_path / "gate")))
    run = progressing(engine, run_id, beyond=0.49)
    assert run.status == "running" and run.progress == 0.5
    assert run.eta_s is not None and run.message == "step 20"
    rows = engine.trace(run_id)
    assert rows[0]["step"] == 1 and rows[1]["evidence"] == -0.5 and rows[1]["scales"] == [2, 2.0]
    assert run.result == {"reached": 1, "seed": 3, "partial": True} or run.result is None
    (tmp_path / "gate").touch()
    assert ended(engine, run_id).status == "done"
    assert [row["step"] for row in engine.trace(run_id)] == list(range(1, 41))


def test_result_and_files_come_back_and_are_on_disk(engine: Engine) -> None:
    run = done(engine, toy("count", seed=7, steps=3))
    assert (run.status, run.progress, run.files) == ("done", 1.0, ("numbers.txt",))
    assert run.result is not None and run.result["seed"] == 7 and run.result["reached"] == 3
    assert run.version == deconditioning.__version__
    assert engine.file(run.id, "numbers.txt") == b"1 2 3"
    assert run.created <= run.started <= run.ended  # type: ignore[operator]
    folder = engine.root / run.id
    assert {path.name for path in folder.iterdir()} == {
        "spec.json",
        "status.json",
        "trace.jsonl",
        "result.json",
        "files",
    }


def test_waiting_for_a_run_is_waiting_for_the_disk(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run is seen as ended while its files are still being written; who waits for it finds them on disk."""
    write, seen = Store.write_file, []

    def slowly(store: Store, run_id: str, *content: Any) -> None:
        wait_for(lambda: not engine.get(run_id).active)
        seen.append(run_id)
        time.sleep(0.5)
        write(store, run_id, *content)

    monkeypatch.setattr(Store, "write_file", slowly)
    run = done(engine, toy("count", seed=7, steps=3))
    assert seen == [run.id] and (engine.root / run.id / "files" / "numbers.txt").read_bytes() == b"1 2 3"


def test_worker_is_single_threaded(engine: Engine) -> None:
    result = done(engine, toy("count")).result
    assert result is not None and result["threads"] == "1"


def test_workers_listen_on_this_machine_alone(engine: Engine) -> None:
    """Of the embedded clusters; schedulers and workers that other tests begin by Dask's commands may listen to all."""
    done(engine, toy("count"))
    alive = [one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE]
    begun = [one for one in alive if "spec" in one.cmdline()]
    family = [*begun, *(child for one in begun for child in one.children(recursive=True))]
    heard = [one.laddr.ip for process in family for one in process.net_connections() if one.status == "LISTEN"]
    assert len(heard) >= 3 and set(heard) == {"127.0.0.1"}


@pytest.mark.parametrize(("task", "result"), [("count", True), ("stubborn", False)])
def test_cancel_ends_an_endless_run_and_keeps_the_best(engine: Engine, task: str, result: bool) -> None:
    run_id = engine.submit(toy(task, steps=ENDLESS))
    wait_for(lambda: engine.get(run_id).status == "running" and (not result or engine.get(run_id).progress))
    engine.cancel(run_id)
    run = ended(engine, run_id)
    assert run.status == "cancelled" and run.message.startswith("Cancelled")
    assert (run.result is not None and run.result["reached"] > 0) == result
    with pytest.raises(InputError, match="has ended already"):
        engine.cancel(run_id)


def test_a_queued_run_is_cancelled_before_it_begins(engine: Engine) -> None:
    first, second = engine.submit(toy("stubborn")), engine.submit(toy("count"))
    wait_for(lambda: engine.get(first).status == "running")
    assert engine.get(second).status == "queued"
    engine.cancel(second)
    assert ended(engine, second).status == "cancelled"
    assert engine.trace(second) == []
    engine.cancel(first)
    assert ended(engine, first).status == "cancelled"


def test_failures_are_sentences(engine: Engine) -> None:
    run = done(engine, toy("complain"))
    assert (run.status, run.message, run.files) == (
        "failed",
        "The target is constant: choose another variable.",
        (),
    )
    run = done(engine, toy("stumble"))
    assert run.status == "failed" and "ZeroDivisionError" in run.message and "\n" not in run.message
    assert b"Traceback" in engine.file(run.id, "error.txt") and len(engine.trace(run.id)) == 1
    run = done(engine, toy("no_such_toy"))
    assert run.status == "failed" and "no function no_such_toy" in run.message


def test_what_json_cannot_say_becomes_null_and_lists(engine: Engine) -> None:
    run = done(engine, toy("rubbish"))
    assert run.result == {"nan": None, "inf": None, "array": [[1.0, 0.0], [0.0, 1.0]], "count": 3}
    row = engine.trace(run.id)[0]
    assert (row["loss"], row["vector"], row["norm"]) == (None, [0, 1, 2], 2.0)
    assert "NaN" not in (engine.root / run.id / "result.json").read_text()


def test_xarray_and_dask_work_inside_a_task(engine: Engine) -> None:
    """Neither file locks nor chunks are handed to the cluster, whose only thread the task itself holds."""
    run = done(engine, toy("netcdf"))
    assert (run.status, run.result) == ("done", {"sum": 45}), run.message
    assert engine.file(run.id, "field.nc").startswith(b"\x89HDF")


def killed(engine: Engine, folder: Path, times: int) -> Run:
    """A run whose worker is killed that often, each time after its report has arrived."""
    run_id = engine.submit(toy("die", folder=str(folder), times=times))
    for attempt in range(1, times + 1):
        wait_for(lambda attempt=attempt: len(engine.trace(run_id)) == attempt)
        (folder / f"heard-{attempt}").touch()
    return ended(engine, run_id)


def test_a_killed_worker_starts_the_run_again(engine: Engine, tmp_path: Path) -> None:
    run = killed(engine, tmp_path, 1)
    assert (run.status, run.result, run.attempt) == ("done", {"reached": 2, "alive": True}, 2)
    assert [row.get("attempt", 1) for row in engine.trace(run.id)] == [1, 2]


def test_a_worker_killed_twice_leaves_trace_and_best(engine: Engine, tmp_path: Path) -> None:
    run = killed(engine, tmp_path, 2)
    assert run.status == "interrupted" and "killed twice" in run.message
    assert run.result == {"reached": 2, "partial": True}
    assert len(engine.trace(run.id)) == 2
    assert done(engine, toy("count")).status == "done", "the engine goes on"


def test_rerun_and_delete(engine: Engine) -> None:
    run = done(engine, toy("count", seed=5))
    again = ended(engine, engine.rerun(run.id))
    assert again.spec == run.spec and again.id != run.id
    assert isinstance(again, Run) and again.result["seed"] == 5  # type: ignore[index]
    assert [found.id for found in engine.runs()][:2] == [again.id, run.id]
    engine.delete(run.id)
    with pytest.raises(InputError, match="There is no run"):
        engine.get(run.id)
    active = engine.submit(toy("stubborn"))
    with pytest.raises(InputError, match="cancel it first"):
        engine.delete(active)
    engine.cancel(active)
    ended(engine, active)


def test_a_folder_removed_under_a_running_run_hurts_nobody(engine: Engine) -> None:
    import shutil

    run_id = engine.submit(toy("count", steps=ENDLESS))
    wait_for(lambda: engine.get(run_id).status == "running")
    away = (engine.root / run_id).rename(engine.root / "away")
    # what is written into it just then goes at the next attempt
    wait_for(lambda: shutil.rmtree(away, ignore_errors=True) or not away.exists())
    wait_for(lambda: run_id not in {run.id for run in engine.runs()})
    assert done(engine, toy("count")).status == "done"
    assert not (engine.root / run_id).exists()


def test_submit_refuses_what_is_no_task_and_no_folder(engine: Engine, tmp_path) -> None:
    from deconditioning.engine.records import RunSpec

    for task in (
        "os:system",
        "deconditioning.engine",
        "tests.core:__import__",
        "downscal",
        "deconditioning.os.path:join:x",
    ):
        with pytest.raises(InputError, match="There is no task"):
            engine.submit(RunSpec(task))
    (tmp_path / "file").write_text("")
    with (
        Engine(tmp_path / "file" / "runs", address="") as blocked,
        pytest.raises(InputError, match="cannot be written"),
    ):
        blocked.submit(toy("count"))
