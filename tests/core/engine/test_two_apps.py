"""Two apps on one runs folder, one of them killed, and a clock that jumps under both."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from deconditioning.engine.engine import Engine
from deconditioning.engine.live import Live
from deconditioning.engine.owner import Owner, _born, is_alive
from deconditioning.engine.records import Run
from tests.core.engine.conftest import ROOT, done, ended, progressing, toy
from tests.core.engine.toys import ENDLESS
from tests.waiting import wait_for

#: Another app: it begins a run, says its id, and goes on until it is ended.
APP = f"""
import sys, time
from pathlib import Path
from deconditioning.engine.engine import Engine
from tests.core.engine.conftest import toy
engine = Engine(Path(sys.argv[1]), address="")
print(engine.submit(toy("count", steps={ENDLESS})), flush=True)
time.sleep(3600)
"""
HOUR = 3600.0


@pytest.fixture
def other(tmp_path: Path):
    """The other app on this folder and the id of its run."""
    command = [sys.executable, "-c", APP, str(tmp_path)]
    app = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, start_new_session=True)
    yield app, app.stdout.readline().strip()
    app.kill()
    app.wait()


def test_each_sees_the_others_runs_stops_them_and_inherits_those_of_one_killed(other, tmp_path: Path) -> None:
    app, theirs = other
    with Engine(tmp_path, address="") as engine:
        progressing(engine, theirs)
        mine = done(engine, toy("count"))
        assert mine.status == "done" and {run.id for run in engine.runs()} == {theirs, mine.id}
        assert engine.active() == 0, "their runs take no turn of ours"
        engine.cancel(theirs)
        assert ended(engine, theirs).status == "cancelled"
        status = json.loads((tmp_path / theirs / "status.json").read_text())
        assert status["status"] == "cancelled" and status["owner"]["pid"] == app.pid


def test_the_run_of_an_app_killed_while_it_writes_is_interrupted_and_whole(other, tmp_path: Path) -> None:
    app, theirs = other
    with Engine(tmp_path, address="") as engine:
        progressing(engine, theirs)
        rows = len(engine.trace(theirs))
        workers = psutil.Process(app.pid).children(recursive=True)
        app.kill()
        app.wait()
        wait_for(lambda: engine.get(theirs).status == "interrupted")
        assert len(engine.trace(theirs)) >= rows > 0
        assert engine.get(theirs).result == {**(engine.get(theirs).result or {}), "partial": True}
    wait_for(lambda: not psutil.wait_procs(workers, timeout=1)[1], "the end of its workers")


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_an_engine_is_known_by_a_clock_that_does_not_jump(jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner.here()
    parent = psutil.Process().parent()
    facts = owner.to_dict() | {"pid": parent.pid, "born": _born(parent.pid)}
    create_time: Callable = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + jump)
    assert is_alive(facts, time.time())
    assert not is_alive(facts | {"born": facts["born"] - 100}, time.time())
    owner.leave()


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_a_status_is_written_on_after_the_clock_jumped(jump: float) -> None:
    run = Live(Run("", toy("count"), "running", created=time.time()), Owner.here())
    now = time.time()
    run.wrote(now)
    assert not run.due(now + 1)
    assert run.due(now + jump)
    run.advance({"step": 1, "total": 4}, now)
    run.advance({"step": 2, "total": 4}, now + jump)
    assert run.run.eta_s is not None and run.run.eta_s >= 0
