"""Favourites: kept, renamed, deleted, brought back; damaged files, limits, visitors, links out of the folder."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from deconditioning.engine.visitors import favourites as module
from deconditioning.engine.visitors.favourites import (
    LARGEST_PICTURE,
    LONGEST_NAME,
    LONGEST_QUERY,
    MOST,
    Favourite,
    Favourites,
)
from deconditioning.engine.visitors.visitor import mark_of
from deconditioning.errors import InputError

PICTURE = b"\x89PNG\r\n\x1a\n and more"
ONE = Favourite("line", (("o-n", "20"), ("o-view", "a"), ("o-view", "b")), " two  words ", (("n", "20"),), PICTURE)


def kept(root: Path, mark: str = "") -> list[str]:
    return [one.name for one in Favourites(root, mark).all()[0]]


def test_a_favourite_survives_the_disk(tmp_path: Path) -> None:
    store = Favourites(tmp_path)
    name = store.keep(ONE)
    found = store.get(name)
    assert found == replace(ONE, id=name, created=found.created) and found.name == "two words"
    assert store.all() == ((found,), ())
    assert json.loads((store.folder / f"{name}.json").read_text())["query"][2] == ["o-view", "b"]


def test_renamed_deleted_and_brought_back(tmp_path: Path) -> None:
    store = Favourites(tmp_path)
    first, second = store.keep(ONE), store.keep(replace(ONE, name="other"))
    store.rename(first, "new")
    assert sorted(kept(tmp_path)) == ["new", "other"]
    with pytest.raises(InputError, match="no name"):
        store.rename(first, "  ")
    store.delete(first)
    assert kept(tmp_path) == ["other"]
    with pytest.raises(InputError, match="no such"):
        store.delete(first)
    store.restore(first)
    assert sorted(kept(tmp_path)) == ["new", "other"]
    with pytest.raises(InputError, match="no such"):
        store.restore(second)


def test_what_is_deleted_goes_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_KEPT_ASIDE", 1)
    store = Favourites(tmp_path)
    first, second, third = (store.keep(ONE) for _ in range(3))
    store.delete(first)
    os.utime(store.folder / f"{first}.deleted", (1e9, 1e9))
    store.delete(second)
    assert sorted(os.listdir(store.folder)) == sorted([f"{second}.deleted", f"{third}.json"])
    store.delete(third)
    assert len(os.listdir(store.folder)) == 1


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "[" * 5000,
     '{"page": 3, "name": "x"}', '{"page": "line", "name": ""}', '{"page": "../x", "name": "x"}',
     '{"page": "line", "name": "x", "query": [["a"]]}', '{"page": "line", "name": "x", "picture": "%%"}',
     '{"page": "line", "name": "x", "picture": "YWJj"}', '{"page": "line", "name": "x", "told": {"a": 1}}'],
)  # fmt: skip
def test_a_damaged_file_is_told_and_can_be_deleted(tmp_path: Path, text: str) -> None:
    store = Favourites(tmp_path)
    good, bad = store.keep(ONE), store.keep(ONE)
    (store.folder / f"{bad}.json").write_text(text)
    (store.folder / "notes.json").write_text("no favourite of ours")
    found, damaged = store.all()
    assert [one.id for one in found] == [good] and damaged == (bad,)
    with pytest.raises(InputError, match="damaged"):
        store.get(bad)
    store.delete(bad)
    assert store.all()[1] == ()


def test_absurd_values_of_a_readable_file_are_shown_as_none(tmp_path: Path) -> None:
    store = Favourites(tmp_path)
    name = store.keep(ONE)
    wild = ONE.to_dict() | {"created": 1e300, "name": "half \ud800", "more": 1}
    (store.folder / f"{name}.json").write_text(json.dumps(wild))
    found = store.get(name)
    assert found.created == 0.0 and found.name == "half ?"


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ({"name": "x" * (LONGEST_NAME + 1)}, {"query": (("a", "x" * LONGEST_QUERY),)}, {"page": "a/b"},
                  {"picture": b"GIF89a"}, {"picture": PICTURE + bytes(LARGEST_PICTURE)}):  # fmt: skip
        with pytest.raises(InputError):
            replace(ONE, **wrong)
    assert len(replace(ONE, told=(("a" * 999, "b"),) * 99).told[0][0]) == 80
    monkeypatch.setattr(module, "MOST", 2)
    store = Favourites(tmp_path)
    name, _ = store.keep(ONE), store.keep(ONE)
    with pytest.raises(InputError, match="delete one"):
        store.keep(ONE)
    store.delete(name)
    store.keep(ONE)
    assert MOST >= 50
    largest = replace(ONE, query=(("a", "\u2603" * (LONGEST_QUERY - 1)),), told=(("\u2603" * 80,) * 2,) * 40)
    largest = replace(largest, picture=PICTURE + bytes(LARGEST_PICTURE - len(PICTURE)))
    assert len(json.dumps(largest.to_dict(), indent=1)) < module._MOST_BYTES


def test_nobody_reaches_anothers(tmp_path: Path) -> None:
    mine, other = (Favourites(tmp_path, mark_of(name)) for name in "ab")
    name = mine.keep(ONE)
    assert other.all() == ((), ()) and Favourites(tmp_path).all() == ((), ())
    for reach in (other.get, other.delete, other.restore, lambda one: other.rename(one, "theirs")):
        for asked in (name, f"../{mark_of('a')}/{name}", "../../status", ""):
            with pytest.raises(InputError):
                reach(asked)
    assert kept(tmp_path, mark_of("a")) == ["two words"]
    with pytest.raises(InputError, match="mark"):
        Favourites(tmp_path, "../x")


def test_no_link_leads_out_of_the_folder(tmp_path: Path) -> None:
    store, secret = Favourites(tmp_path), tmp_path / "secret.json"
    secret.write_text(json.dumps(ONE.to_dict()))
    store.folder.mkdir(parents=True)
    (store.folder / "20260101-000000-00000000.json").symlink_to(secret)
    assert store.all() == ((), ())
    with pytest.raises(InputError):
        store.get("20260101-000000-00000000")


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "favourites").write_text("a file in its place")
    with pytest.raises(InputError, match="cannot be saved"):
        Favourites(tmp_path).keep(ONE)
    assert Favourites(tmp_path).all() == ((), ())
