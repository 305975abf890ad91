"""What a visitor of a shared server sees and may change: their own runs; others' by id, to read."""

from collections.abc import Callable
from pathlib import Path

import pytest

from deconditioning.downscaling.source import keep_upload, stored_uploads
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import RunSpec
from deconditioning.engine.visitors.visitor import MOST_ACTIVE, Visitor, mark_of
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.tables import keep_table, stored_tables
from tests.core.engine.made import write_run
from tests.core.engine.toys import ENDLESS
from tests.core.fields.samples import netcdf, region
from tests.waiting import HANG_S

ALICE, BOB = mark_of("alice's secret"), mark_of("bob's secret")
#: What a visitor does to a run of somebody else's.
CHANGES: dict[str, Callable[[Visitor, str], None]] = {"cancelled": Visitor.cancel, "deleted": Visitor.delete}


@pytest.fixture
def engine(runs_folder: Path) -> Engine:
    """Runs of two visitors and one of nobody's, ended; and one that looks as if it went on."""
    for number, mark in enumerate((ALICE, BOB, "", "../" + ALICE[3:])):
        folder = write_run(runs_folder, f"20260101-00000{number}-{number:016x}", files={"out.nc": b"CDF"})
        if mark:
            (folder / "owner").write_text(mark)
    return Engine(runs_folder)


def ids(visitor: Visitor) -> list[int]:
    return sorted(int(run.id.rpartition("-")[2], 16) for run in visitor.runs())


def test_everyone_lists_their_own(engine: Engine) -> None:
    assert ids(Visitor(engine, ALICE, everything=False)) == [0]
    assert ids(Visitor(engine, BOB, everything=False)) == [1]
    assert ids(Visitor(engine, mark_of("a third"), everything=False)) == []
    assert ids(Visitor(engine, "", everything=False)) == []  # runs of nobody's are not those of a nameless visitor
    assert ids(Visitor(engine, ALICE, everything=True)) == ids(Visitor(engine)) == [0, 1, 2, 3]


@pytest.mark.parametrize("verb", CHANGES)
def test_others_runs_are_read_and_not_changed(engine: Engine, verb: str) -> None:
    bob = Visitor(engine, BOB, everything=False)
    for run in engine.runs():
        assert bob.get(run.id) == run and bob.file(run.id, "out.nc") == b"CDF" and "status.json" in bob.parts(run.id)
        if not bob.is_mine(run):
            with pytest.raises(InputError, match=f"another visitor: it can be {verb} only in the browser"):
                CHANGES[verb](bob, run.id)
    assert len(engine.runs()) == 4
    (mine,) = bob.runs()
    bob.delete(mine.id)
    assert ids(Visitor(engine)) == [0, 2, 3]
    Visitor(engine, everything=True).delete("20260101-000002-0000000000000002")
    assert ids(Visitor(engine)) == [0, 3]


def test_a_run_belongs_to_who_began_it_and_so_does_what_is_run_again(runs_folder: Path) -> None:
    with Engine(runs_folder) as engine:
        alice, bob = (Visitor(engine, mark, everything=False) for mark in (ALICE, BOB))
        first = alice.submit(RunSpec("tests.core.engine.toys:count", {"steps": 2}))
        again = bob.rerun(first)
        assert alice.get(first).owner == ALICE and bob.get(again).owner == BOB
        assert [run.id for run in bob.runs()] == [again]
        with pytest.raises(InputError, match="cancelled only in the browser"):
            bob.cancel(first)
    assert Engine(runs_folder).get(first).owner == ALICE  # after a new start too
    for name in ("spec.json", "status.json"):
        assert ALICE not in (runs_folder / first / name).read_text()


def test_one_visitor_does_not_fill_the_queue(runs_folder: Path) -> None:
    endless = RunSpec("tests.core.engine.toys:count", {"steps": ENDLESS})
    with Engine(runs_folder) as engine:
        alice, bob = (Visitor(engine, mark, everything=False) for mark in (ALICE, BOB))
        begun = [alice.submit(endless) for _ in range(MOST_ACTIVE)]
        with pytest.raises(InputError, match="cancel one on page Runs"):
            alice.submit(endless)
        bob.submit(endless)
        Visitor(engine).submit(endless)  # one person's own machine, or an administrator
        alice.cancel(begun[-1])
        assert alice.wait(begun[-1], HANG_S).status == "cancelled"
        alice.submit(endless)


def test_uploads_are_listed_for_who_brought_them(runs_folder: Path) -> None:
    data = netcdf(region(12, 12))
    key, _ = keep_upload(data, "alice.nc", ALICE)
    assert stored_uploads(ALICE) == stored_uploads() == {key: "alice.nc"} and stored_uploads(BOB) == {}
    assert keep_upload(data, "bob.nc", BOB)[0] == key and stored_uploads(BOB) == {key: "bob.nc"}
    assert stored_uploads(ALICE) == {key: "alice.nc"}  # nor does she learn what he calls it
    table = keep_table(b"id,x,y\n1,2,3\n", "alice.csv", ALICE)
    assert stored_tables(ALICE) == stored_tables() == {table: "alice.csv"} and stored_tables(BOB) == {}
