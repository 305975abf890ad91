"""Nothing is lost where the runs folder cannot be written, and no run stays that nobody can end or delete."""

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deconditioning.engine import disk
from deconditioning.engine.archive import zip_runs
from deconditioning.engine.engine import Engine
from deconditioning.engine.owner import _born
from deconditioning.engine.records import ACTIVE
from deconditioning.engine.store import Store
from deconditioning.errors import InputError
from tests.core.engine.conftest import ended, progressing, toy
from tests.core.engine.made import write_run
from tests.core.engine.toys import ENDLESS
from tests.waiting import wait_for


@pytest.fixture
def fill(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bool], None]]:
    """Makes the disk full, or empty again."""
    real = disk.write, disk.append

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def change(full: bool) -> None:
        monkeypatch.setattr(disk, "write", refuse if full else real[0])
        monkeypatch.setattr(disk, "append", refuse if full else real[1])

    yield change
    change(False)


def test_a_run_on_a_full_disk_is_kept_and_written_later(
    engine: Engine, fill: Callable[[bool], None], tmp_path: Path
) -> None:
    run_id = engine.submit(toy("count", steps=200, pause=0.0, gate=str(tmp_path / "gate")))
    progressing(engine, run_id, beyond=0.49)
    fill(True)
    (tmp_path / "gate").touch()
    run = ended(engine, run_id)
    assert run.status == "done" and run.result is not None and run.result["reached"] == 200
    assert "No space left on device" in run.message and "kept in memory" in run.message
    assert run.files == ("numbers.txt",) and engine.file(run_id, "numbers.txt") == b"1 2 3"
    assert [row["step"] for row in engine.trace(run_id)] == list(range(1, 201))
    assert json.loads(engine.parts(run_id)["result.json"])["reached"] == 200
    assert zip_runs(engine, [run_id]).count(b"numbers.txt")
    assert Store(engine.root).read(run_id)[0].status in ACTIVE, "the disk does not know yet"
    with pytest.raises(InputError, match="ended already"):
        engine.cancel(run_id)
    fill(False)
    wait_for(lambda: engine.get(run_id).message == "")
    there = Store(engine.root)
    kept = there.read(run_id)[0]
    assert (kept.status, kept.result, kept.files) == ("done", run.result, run.files)
    assert there.trace(run_id) == engine.trace(run_id) and len(there.trace(run_id)) == 200


def test_an_active_run_says_so_and_can_be_cancelled(engine: Engine, fill: Callable[[bool], None]) -> None:
    run_id = engine.submit(toy("count", steps=ENDLESS))
    progressing(engine, run_id)
    fill(True)
    wait_for(lambda: "No space left" in engine.get(run_id).message)
    engine.cancel(run_id)
    run = ended(engine, run_id)
    assert run.status == "cancelled" and run.result is not None and run.result["reached"] > 0
    engine.delete(run_id)
    fill(False)
    with pytest.raises(InputError, match="There is no run"):
        engine.get(run_id)
    assert not (engine.root / run_id).exists()


def test_nothing_is_begun_that_cannot_be_kept(engine: Engine, fill: Callable[[bool], None]) -> None:
    before = set(engine.root.iterdir())
    fill(True)
    with pytest.raises(InputError, match=r"cannot be written \(No space left on device\): free space"):
        engine.submit(toy("count"))
    assert set(engine.root.iterdir()) == before


def test_a_cancel_that_cannot_be_noted_is_a_sentence(engine: Engine, fill: Callable[[bool], None]) -> None:
    other = {"token": "x", "pid": os.getppid(), "born": _born(os.getppid()), "host": os.uname().nodename}
    folder = write_run(engine.root, status={"status": "running", "owner": other, "beat": time.time()})
    assert engine.get(folder.name).active
    fill(True)
    with pytest.raises(InputError, match="cannot be stopped"):
        engine.cancel(folder.name)
    fill(False)
    write_status(folder, {"status": "running", "owner": other, "beat": time.time() - 600})
    assert engine.get(folder.name).status == "interrupted", "its engine lives but has not written for ten minutes"
    engine.delete(folder.name)


def write_status(folder: Path, status: dict) -> None:
    (folder / "status.json").write_text(json.dumps(status))


def test_a_run_that_its_engine_lost_is_over(engine: Engine) -> None:
    writer = engine._owner.to_dict()
    folder = write_run(engine.root, status={"status": "running", "owner": writer, "beat": time.time()})
    assert engine.get(folder.name).status == "interrupted"
    engine.delete(folder.name)


def test_a_line_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    code = """
import resource, signal, sys
from pathlib import Path
from deconditioning.engine import disk
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
folder = Path(sys.argv[1])
disk.append(folder, "trace.jsonl", b"a" * 70 + b"\\n")
for act in (lambda: disk.append(folder, "trace.jsonl", b"b" * 70), lambda: disk.write(folder, "spec.json", b"c" * 200)):
    try:
        act()
    except OSError as error:
        print(error.strerror)
"""
    run = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["File too large"] * 2
    assert [path.name for path in tmp_path.iterdir()] == ["trace.jsonl"]
    assert (tmp_path / "trace.jsonl").read_bytes() == b"a" * 70 + b"\n"
