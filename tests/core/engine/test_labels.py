"""Names, stars, tags; runs put aside and brought back; the script that makes a run again."""

import io
import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from deconditioning.engine.archive import zip_runs
from deconditioning.engine.engine import Engine
from deconditioning.engine.labels import LONGEST_NAME, LONGEST_TAG, MOST_TAGS, Label
from deconditioning.engine.records import RunSpec
from deconditioning.engine.store import _KEPT_ASIDE, Store
from deconditioning.engine.visitors.visitor import Visitor, mark_of
from deconditioning.errors import InputError
from tests.core.engine.conftest import done, toy

ROOT = Path(__file__).resolve().parents[3]


def ended(store: Store, owner: str = "") -> str:
    run_id = store.create(RunSpec("downscale", title="t"), owner)
    store.write_status(run_id, {"status": "done", "created": 1.0})
    return run_id


def test_a_label_is_tidied_and_survives_json() -> None:
    label = Label("  A   name ", True, ("b", " b", "", "c  d"))
    assert (label.name, label.tags) == ("A name", ("b", "c d"))
    assert Label.read(json.loads(json.dumps(label.to_dict()))) == label


@pytest.mark.parametrize("data", [None, 3, [], {"name": "x" * 999}, {"tags": "abc"}, {"star": 1}, {"tags": ["x" * 99]}])
def test_a_damaged_label_is_none(data: object) -> None:
    assert Label.read(data) == Label()


@pytest.mark.parametrize(
    ("values", "word"),
    [({"name": "x" * (LONGEST_NAME + 1)}, "name"), ({"tags": ("x" * (LONGEST_TAG + 1),)}, "tag"),
     ({"tags": tuple("abcdefghi"[: MOST_TAGS + 1])}, "tags")],
)  # fmt: skip
def test_what_is_too_much_is_refused(values: dict, word: str) -> None:
    with pytest.raises(InputError, match=word):
        Label(**values)


def test_a_label_is_read_with_its_run(tmp_path: Path) -> None:
    store = Store(tmp_path)
    run_id = ended(store)
    assert store.read(run_id)[0].label == Label()
    store.write_label(run_id, Label("mine", True))
    assert store.read(run_id)[0].label == Label("mine", True)


def test_only_the_owner_names_deletes_and_brings_back(tmp_path: Path) -> None:
    with Engine(tmp_path, address="") as engine:
        mine, other = (Visitor(engine, mark_of(name), everything=False) for name in ("a", "b"))
        run_id = ended(Store(tmp_path), mine.mark)
        with pytest.raises(InputError, match="another visitor"):
            other.call(run_id, Label("theirs"))
        mine.call(run_id, Label("ours"))
        mine.delete(run_id)
        assert mine.runs() == ()
        with pytest.raises(InputError, match="another visitor"):
            other.restore(run_id)
        mine.restore(run_id)
        assert [run.label.name for run in mine.runs()] == ["ours"]


def test_what_is_deleted_stays_for_a_while_and_not_for_ever(tmp_path: Path) -> None:
    store = Store(tmp_path)
    long_ago = time.time() - 3600
    runs = [ended(store) for _ in range(_KEPT_ASIDE + 2)]
    for index, run_id in enumerate(runs):
        store.remove(run_id)
        os.utime(tmp_path / f".deleted-{run_id}", (long_ago + index, long_ago + index))
    store.remove(ended(store))
    assert store.ids() == []
    with pytest.raises(InputError, match="permanently deleted"):
        store.restore(runs[0])
    store.restore(runs[-1])
    assert store.ids() == [runs[-1]]
    os.utime(tmp_path / f".deleted-{runs[-2]}", (1e9, 1e9))
    store.remove(ended(store))
    with pytest.raises(InputError, match="permanently deleted"):
        store.restore(runs[-2])
    with pytest.raises(InputError, match="permanently deleted"):
        store.restore("../../etc")


def test_the_script_in_the_zip_makes_the_run_again(engine: Engine, tmp_path: Path) -> None:
    run = done(engine, toy("count", seed=6, steps=3))
    with zipfile.ZipFile(io.BytesIO(zip_runs(engine, [run.id]))) as archive:
        archive.extractall(tmp_path)
    folder = tmp_path / run.id
    subprocess.run([sys.executable, str(folder / "run.py")], cwd=ROOT, check=True)
    assert run.result is not None
    again = json.loads((folder / "again.json").read_text())
    assert {name: again[name] for name in ("reached", "seed")} == {
        name: run.result[name] for name in ("reached", "seed")
    }
    assert (folder / "again-numbers.txt").read_bytes() == engine.file(run.id, "numbers.txt")


def test_the_zip_says_nothing_of_the_machine(engine: Engine, tmp_path: Path) -> None:
    run = done(engine, toy("count", seed=6, steps=3))
    status = engine.root / run.id / "status.json"
    written = json.loads(status.read_text())
    assert set(written["owner"]) == {"token", "pid", "born", "host"}
    with zipfile.ZipFile(io.BytesIO(zip_runs(engine, [run.id]))) as archive:
        given = json.loads(archive.read(f"{run.id}/status.json"))
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert given == {name: value for name, value in written.items() if name not in ("owner", "beat")}
    assert written["owner"]["token"].encode() not in everything and written["owner"]["host"].encode() not in everything
    for damaged in (b"\xff\xfe{", b'{"owner": {"token"', b"[1]", b""):
        status.write_bytes(damaged)
        with zipfile.ZipFile(io.BytesIO(zip_runs(engine, [run.id]))) as archive:
            assert archive.read(f"{run.id}/status.json") == b"{}"
