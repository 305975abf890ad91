"""Runs on disk: found after a restart, shared by two apps, and robust to rubbish."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deconditioning.engine.engine import Engine
from deconditioning.engine.owner import Owner, is_alive
from deconditioning.engine.records import RunSpec
from deconditioning.engine.store import Store
from deconditioning.errors import InputError
from tests.core.engine.conftest import done, progressing, toy
from tests.core.engine.toys import ENDLESS
from tests.waiting import HANG_S, wait_for

OTHER_APP = """
import signal, sys, pathlib
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background shell passes it on as ignored
from deconditioning.engine.engine import Engine
from tests.core.engine.conftest import toy
from tests.core.engine.toys import ENDLESS
engine = Engine(pathlib.Path(sys.argv[1]), "")
run = engine.submit(toy("count", steps=ENDLESS))
print(run, flush=True)
print(engine.wait(run, float("inf")).status, flush=True)
engine.close()
"""


@pytest.fixture
def other_app(tmp_path: Path):
    """Another app process on the same folder, with a run going on."""
    code, folder = [sys.executable, "-c", OTHER_APP], tmp_path / "runs"
    process = subprocess.Popen(
        [*code, str(folder)], stdout=subprocess.PIPE, text=True, cwd=tmp_path, start_new_session=True
    )
    assert process.stdout is not None
    run_id = process.stdout.readline().strip()
    yield process, folder, run_id
    process.kill()
    process.wait()


def test_a_restarted_app_finds_its_runs(tmp_path: Path) -> None:
    with Engine(tmp_path, address="") as first:
        finished = done(first, toy("count", steps=3))
        cut = first.submit(toy("count", steps=ENDLESS))
        progressing(first, cut)
    with Engine(tmp_path, address="") as second:
        assert [run.id for run in second.runs()] == [cut, finished.id]
        assert second.get(finished.id) == finished
        run = second.get(cut)
        assert run.status == "interrupted" and "run it again" in run.message and run.eta_s is None
        assert run.result is not None and run.result["partial"] and len(second.trace(cut)) >= run.result["reached"] - 1
        assert second.file(finished.id, "numbers.txt") == b"1 2 3"


def test_two_apps_on_one_folder(other_app, shared_cluster: None) -> None:
    process, folder, run_id = other_app
    with Engine(folder, address="") as here:
        run = wait_for(lambda: (found := here.get(run_id)).status == "running" and found.progress and found)
        assert run.active, "a living app's run is left alone"
        with pytest.raises(InputError, match="still running"):
            here.delete(run_id)
        mine = done(here, toy("count"))
        assert mine.status == "done" and {found.id for found in here.runs()} == {run_id, mine.id}
        assert here.active() == 0, "their runs take no turn of ours"
        here.cancel(run_id)
        wait_for(lambda: here.get(run_id).status == "cancelled")
        status = json.loads((folder / run_id / "status.json").read_text())
        assert status["status"] == "cancelled" and status["owner"]["pid"] == process.pid
        assert process.stdout.readline().strip() == "cancelled"
        here.delete(run_id)


def test_an_app_that_was_killed_leaves_an_interrupted_run_and_no_processes(other_app) -> None:
    import psutil

    process, folder, run_id = other_app
    with Engine(folder, address="") as here:
        progressing(here, run_id)
        rows = len(here.trace(run_id))
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 3, "a scheduler, a nanny and a worker"
        process.kill()
        process.wait()
        run = wait_for(lambda: not (found := here.get(run_id)).active and found)
        assert run.status == "interrupted" and run.result["partial"] and len(here.trace(run_id)) >= rows > 0
        assert json.loads((folder / run_id / "status.json").read_text())["status"] == "interrupted"
        _, left = psutil.wait_procs(children, timeout=HANG_S)
        assert not left, "the cluster does not outlive its app"


def test_ctrl_c_ends_in_order(other_app) -> None:
    """A terminal sends it to the whole process group; the run is told the truth and no process is left."""
    import psutil

    process, folder, run_id = other_app
    with Engine(folder, address="") as here:
        progressing(here, run_id)
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        process.wait(HANG_S)
        run = here.get(run_id)
        assert run.status == "interrupted" and run.message.startswith("The app was closed")
        _, left = psutil.wait_procs(children, timeout=HANG_S)
        assert not left


def test_rubbish_in_the_runs_folder(tmp_path: Path) -> None:
    store = Store(tmp_path)
    made = [store.create(RunSpec("downscale", {"a": 1})) for _ in range(8)]
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "holiday").mkdir()
    (tmp_path / "20261121-013255-3b698e6z").mkdir()
    (tmp_path / "20261121-013255-00000000").symlink_to("/")
    (tmp_path / made[0] / "status.json").write_text('{"status": "done"')
    (tmp_path / made[1] / "spec.json").write_bytes(b"\xff\xfe\x00")
    (tmp_path / made[2] / "spec.json").write_text('["task"]')
    (tmp_path / made[3] / "status.json").write_text('{"status": "done", "created": "x", "progress": 9, "files": 3}')
    (tmp_path / made[3] / "result.json").write_text("[" * 100000)
    (tmp_path / made[4] / "status.json").mkdir()
    (tmp_path / made[5] / "status.json").write_text('{"status": "running", "created": 1e400, "owner": "me"}')
    (tmp_path / made[6] / "trace.jsonl").write_text('{"step": 1}\nnull\n{"loss": NaN}\n{"step"\n{"step": 2}')
    (tmp_path / made[7] / "spec.json").unlink()
    with Engine(tmp_path, address="") as engine:
        runs = {run.id: run for run in engine.runs()}
        assert set(runs) == set(made)
        assert all(run.status in ("done", "interrupted") for run in runs.values())
        assert runs[made[3]].progress is None and runs[made[3]].result is None
        assert "settings" in runs[made[1]].message and runs[made[5]].status == "interrupted"
        assert engine.trace(made[6]) == [{"step": 1}, {"loss": None}], "a half-written last line waits"
        assert engine.trace(made[0]) == []
        for run_id in ("../etc", "", "20261121-013255-00000000", "holiday", made[0] + "/../" + made[1]):
            with pytest.raises(InputError, match="There is no run"):
                engine.get(run_id)
        for name in ("../spec.json", "/etc/passwd", "", ".hidden", "none.txt"):
            with pytest.raises(InputError):
                engine.file(made[0], name)
        for run_id in made:
            engine.delete(run_id)
        assert engine.runs() == () and (tmp_path / "notes.txt").exists()


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    with Engine(tmp_path / "none", address="") as engine:
        assert engine.runs() == ()
        assert not (tmp_path / "none").exists(), "looking makes nothing"


def test_owner_is_alive_only_where_its_process_runs() -> None:
    owner = Owner.here()
    facts, now = owner.to_dict(), time.time()
    assert is_alive(facts, now)
    parent = facts | {"pid": os.getppid()}
    assert not is_alive(parent | {"born": owner.born - 1e6}, now), "the process id was used again"
    assert is_alive(facts | {"host": "elsewhere"}, now - 5)
    assert not is_alive(facts | {"host": "elsewhere"}, now - 500)
    assert not any(is_alive(rubbish, now) for rubbish in (None, {}, "x", facts | {"pid": "x"}, facts | {"pid": 2**70}))
    owner.leave()
    assert not is_alive(facts, now)


def test_statuses_are_never_seen_half_written(tmp_path: Path) -> None:
    """A reader in a loop against a writer in a loop: each read is one whole status."""
    import threading

    store, stop, seen = Store(tmp_path), threading.Event(), set()
    run_id = store.create(RunSpec("downscale"))
    store.write_status(run_id, {"status": "done", "created": 1.0, "message": "a" * 20000})

    def read() -> None:
        while not stop.is_set():
            run, _ = Store(tmp_path).read(run_id)
            seen.add((run.status, len(run.message)))

    reader = threading.Thread(target=read)
    reader.start()
    for index in range(300):
        store.write_status(run_id, {"status": "done", "created": 1.0, "message": "ab"[index % 2] * 20000})
    stop.set()
    reader.join()
    assert seen == {("done", 2000)}
    assert not list((tmp_path / run_id).glob(".*")), "no parts left behind"
