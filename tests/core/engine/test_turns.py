"""Who comes next where several wait: each visitor in turn, within limits of number and time, told how long it takes."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deconditioning.engine import run_thread
from deconditioning.engine.engine import Engine
from deconditioning.engine.turns import in_turn
from deconditioning.engine.visitors import visitor
from deconditioning.engine.visitors.visitor import Visitor
from deconditioning.errors import InputError
from tests.core.engine.conftest import done, ended, progressing, toy
from tests.core.engine.toys import ENDLESS
from tests.waiting import wait_for

ALICE, BOB, CAROL = "a" * 64, "b" * 64, "c" * 64


def test_a_visitor_with_one_run_comes_before_the_second_of_another() -> None:
    waiting = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"), ("c1", "c"), ("b2", "b")]
    assert in_turn(waiting) == ["a1", "b1", "c1", "a2", "b2", "a3"]
    assert in_turn(waiting, ["a"]) == ["b1", "c1", "a1", "b2", "a2", "a3"]
    assert in_turn(waiting, [], {"a": 2, "b": 1}) == ["c1", "b1", "a1", "b2", "a2", "a3"]
    assert in_turn([]) == []


@given(st.lists(st.sampled_from("abcd"), max_size=30), st.lists(st.sampled_from("abcd"), max_size=5))
def test_every_run_has_its_turn_and_nobody_is_two_ahead(owners: list[str], running: list[str]) -> None:
    waiting = [(str(place), owner) for place, owner in enumerate(owners)]
    order, of = in_turn(waiting, running), dict(waiting)
    assert sorted(order) == sorted(of)
    for owner in "abcd":
        mine = [int(run) for run in order if of[run] == owner]
        assert mine == sorted(mine)
    begun = {owner: running.count(owner) for owner in "abcd"}
    for place, run in enumerate(order):
        left = {of[other] for other in order[place:]}
        assert begun[of[run]] == min(begun[owner] for owner in left)
        begun[of[run]] += 1


def test_one_visitors_runs_do_not_keep_anothers_waiting(own: Engine) -> None:
    first = own.submit(toy("count", steps=ENDLESS), ALICE)
    progressing(own, first)
    more = [own.submit(toy("count", steps=3), ALICE) for _ in range(2)]
    other = own.submit(toy("count", steps=3), BOB)
    wait_for(lambda: "2 runs come before it" in own.get(more[0]).message)
    assert "one run comes before it" in own.get(other).message
    own.cancel(first)
    runs = [ended(own, run) for run in (other, *more)]
    assert [run.status for run in runs] == ["done"] * 3
    started = [run.started or 0 for run in runs]
    assert started == sorted(started)


def test_how_long_a_run_waits_is_said_from_those_before(own: Engine) -> None:
    done(own, toy("count", steps=3))
    first = own.submit(toy("count", steps=100, pause=0.3))
    progressing(own, first, 0.02)
    second = own.submit(toy("count", steps=3))
    wait_for(lambda: "about" in own.get(second).message)
    for run in (second, first):
        own.cancel(run)
    assert ended(own, second).status == ended(own, first).status == "cancelled"


def test_without_the_cookie_no_run_begins(own: Engine) -> None:
    stranger = Visitor(own, ALICE, everything=False, known=False)
    with pytest.raises(InputError, match="cookie"):
        stranger.submit(toy("count"))
    assert own.runs() == ()


def test_limits_hold_for_sessions_at_once_for_an_address_and_for_all(own: Engine, monkeypatch) -> None:
    monkeypatch.setattr(visitor, "MOST_OF_ADDRESS", 4)
    monkeypatch.setattr(visitor, "MOST_OF_ALL", 5)
    begin = threading.Barrier(6)

    def submit(_: int) -> str:
        begin.wait()
        try:
            return Visitor(own, ALICE, everything=False, address="10.0.0.1").submit(toy("count", steps=ENDLESS))
        except InputError as error:
            return str(error)

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(submit, range(6)))
    assert sum("of your runs" in answer for answer in answers) == 3 and own.active(owner=ALICE) == 3
    same, other, last = (
        Visitor(own, mark, everything=False, address=address)
        for mark, address in ((BOB, "10.0.0.1"), (CAROL, "10.0.0.2"), ("d" * 64, ""))
    )
    same.submit(toy("count", steps=ENDLESS))
    with pytest.raises(InputError, match="from your network address"):
        same.submit(toy("count"))
    other.submit(toy("count", steps=ENDLESS))
    with pytest.raises(InputError, match="the limit of this server"):
        last.submit(toy("count"))


@pytest.mark.parametrize("own", [1.0], indirect=True)
def test_a_run_ends_at_the_limit_with_its_best_and_one_that_does_not_listen_by_force(own: Engine, monkeypatch) -> None:
    monkeypatch.setattr(run_thread, "_GRACE_S", 1.0)
    run = ended(own, own.submit(toy("count", steps=ENDLESS)))
    assert run.status == "cancelled" and run.message.startswith("Stopped after 1.0 s, the limit")
    assert run.result is not None and run.result["reached"] > 0
    deaf = ended(own, own.submit(toy("deaf")))
    assert deaf.status == "cancelled" and deaf.message.startswith("Stopped after 1.0 s")
    begun = time.monotonic()
    assert done(own, toy("count", steps=1)).status == "done" and time.monotonic() - begun < 60
