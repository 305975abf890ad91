"""Which exercises are done: kept for each visitor, through the disk, in spite of damage."""

import json
from pathlib import Path

import pytest

from deconditioning.engine.visitors.exercise_progress import LONGEST_SAID, Done, Progress
from deconditioning.engine.visitors.visitor import mark_of
from deconditioning.errors import InputError


def test_ticks_survive_the_disk_until_they_are_forgotten(tmp_path: Path) -> None:
    store = Progress(tmp_path)
    assert store.done() == {}
    store.forget()
    store.keep("band", Done("It holds 95 %.", "λ: 0.002", "/line?o-lam=0.002", "2026-01-01 10:00 UTC"))
    store.keep("one", Done("x" * 9999))
    store.answer("band", "Trust has a price.")
    store.answer("nosuch", "nothing is done")
    now = Progress(tmp_path).done()
    assert now == {
        "band": Done("It holds 95 %.", "λ: 0.002", "/line?o-lam=0.002", "2026-01-01 10:00 UTC", "Trust has a price."),
        "one": Done("x" * LONGEST_SAID),
    }
    store.forget()
    assert store.done() == {}


def test_each_visitor_has_ticks_of_their_own(tmp_path: Path) -> None:
    first, second = (Progress(tmp_path, mark_of(secret)) for secret in ("a" * 64, "b" * 64))
    first.keep("band", Done(""))
    assert list(first.done()) == ["band"] and second.done() == {} and Progress(tmp_path).done() == {}
    with pytest.raises(InputError, match="64 hexadecimal"):
        Progress(tmp_path, "../../etc")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"done": 3}', '{"done": {"band": 3, "../x": "a", "": "b"}}'])
def test_a_damaged_file_is_no_tick_and_is_replaced(tmp_path: Path, text: str) -> None:
    store = Progress(tmp_path)
    store.folder.mkdir(parents=True)
    (store.folder / "done.json").write_text(text)
    assert store.done() == {}
    store.keep("band", Done("said"))
    assert json.loads((store.folder / "done.json").read_text())["done"]["band"]["said"] == "said"


def test_a_file_of_an_earlier_version_keeps_its_ticks(tmp_path: Path) -> None:
    store = Progress(tmp_path)
    store.folder.mkdir(parents=True)
    rows = {"band": "said", "one": {"said": "b", "settings": 3, "more": "x"}, "rule": {"answer": "no verdict"}}
    (store.folder / "done.json").write_text(json.dumps({"done": rows}))
    assert store.done() == {"band": Done("said"), "one": Done("b")}


def test_what_is_no_exercise_and_what_cannot_be_written_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not an exercise"):
        Progress(tmp_path).keep("../../x", Done(""))
    (tmp_path / "exercises").write_text("in the way")
    with pytest.raises(InputError, match="cannot be saved"):
        Progress(tmp_path).keep("band", Done(""))
