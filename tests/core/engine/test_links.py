"""No symbolic link in the runs folder is ever followed, neither to read nor to write."""

import json
import os
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from deconditioning.engine import disk
from deconditioning.engine.archive import zip_runs
from deconditioning.engine.engine import Engine
from deconditioning.engine.store import Store
from deconditioning.errors import InputError
from tests.core.engine.made import write_run

SECRET = "the server's own words"


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file that belongs to no run."""
    path = tmp_path / "secret.json"
    path.write_text(json.dumps({"task": "downscale", "title": SECRET, "message": SECRET}) + "\n")
    return path


@pytest.fixture
def engine_here(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "runs", address="") as made:
        yield made


def packed(engine: Engine, run_id: str) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(zip_runs(engine, [run_id]))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("name", ["spec.json", "status.json", "result.json", "trace.jsonl", "files/a.txt"])
def test_a_file_that_is_a_link_is_not_there(engine_here: Engine, secret: Path, name: str) -> None:
    folder = write_run(engine_here.root, result={"a": 1}, trace='{"step": 1}\n', files={"a.txt": b"a", "b.txt": b"b"})
    (folder / name).unlink()
    (folder / name).symlink_to(secret)
    run = engine_here.get(folder.name)
    assert SECRET not in repr(run) and SECRET not in repr(engine_here.trace(folder.name))
    assert "a.txt" not in run.files or name != "files/a.txt"
    if name == "files/a.txt":
        with pytest.raises(InputError, match="has no file"):
            engine_here.file(folder.name, "a.txt")
    found = packed(engine_here, folder.name)
    assert f"{folder.name}/{name}" not in found and len(found) >= 4
    assert not any(SECRET.encode() in data for data in found.values())
    before = secret.read_bytes()
    if name != "files/a.txt":
        write_all(Store(engine_here.root), folder.name)
    assert secret.read_bytes() == before


def write_all(store: Store, run_id: str) -> None:
    """Everything an engine writes into a run."""
    for act in (
        lambda: store.write_status(run_id, {"status": "done"}),
        lambda: store.write_result(run_id, {}),
        lambda: store.write_file(run_id, "a.txt", b"mine"),
        lambda: store.ask_to_cancel(run_id),
        lambda: store.add_trace(run_id, [{"step": 2}]),
    ):
        try:
            act()
        except OSError:  # a link in place of the trace
            continue


def test_a_folder_of_files_that_is_a_link_is_empty(engine_here: Engine, tmp_path: Path, secret: Path) -> None:
    folder = write_run(engine_here.root)
    (folder / "files").rmdir()
    (folder / "files").symlink_to(tmp_path)
    assert engine_here.get(folder.name).files == ()
    with pytest.raises(InputError, match="has no file"):
        engine_here.file(folder.name, secret.name)
    assert not any("files" in name for name in packed(engine_here, folder.name))
    with pytest.raises(OSError):
        Store(engine_here.root).write_file(folder.name, "new.txt", b"mine")
    assert not (tmp_path / "new.txt").exists()


def test_a_run_that_is_a_link_is_no_run(engine_here: Engine, tmp_path: Path) -> None:
    engine_here.root.mkdir()
    elsewhere = write_run(tmp_path / "elsewhere", result={"a": SECRET})
    (engine_here.root / elsewhere.name).symlink_to(elsewhere)
    assert engine_here.runs() == ()
    for act in (engine_here.get, engine_here.trace, engine_here.parts, engine_here.delete):
        with pytest.raises(InputError, match="There is no run"):
            act(elsewhere.name)
    assert (elsewhere / "result.json").exists()


def test_a_deleted_run_takes_nothing_with_it(engine_here: Engine, secret: Path) -> None:
    folder = write_run(engine_here.root)
    (folder / "files" / "a.txt").symlink_to(secret)
    (folder / "files" / "all").symlink_to(secret.parent)
    engine_here.delete(folder.name)
    assert not folder.exists() and secret.exists()


def test_a_pipe_is_no_file_and_is_not_waited_for(engine_here: Engine) -> None:
    folder = write_run(engine_here.root)
    (folder / "status.json").unlink()
    for path in (folder / "status.json", folder / "trace.jsonl", folder / "files" / "pipe.txt"):
        os.mkfifo(path)
    assert engine_here.get(folder.name).status == "interrupted" and engine_here.trace(folder.name) == []
    with pytest.raises(InputError, match="has no file"):
        engine_here.file(folder.name, "pipe.txt")


def test_names_of_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert disk.names(tmp_path / "none") == []
