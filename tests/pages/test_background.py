"""Work in the background: the newest request wins, a slider's move stops what it has made useless."""

import gc
import threading
import weakref
from types import SimpleNamespace

import pytest

from deconditioning.errors import Cancelled, InputError
from pages.kit.chart import background as background_module
from pages.kit.chart.background import Background
from tests.waiting import HANG_S, wait_for


def test_a_dropped_job_stops_and_may_be_asked_for_again() -> None:
    background, checked = Background(), []

    def endless(check) -> None:
        while True:
            check()
            checked.append(True)

    job = background.request("first", "lane", endless)
    wait_for(lambda: checked)
    background.drop("lane", unless="first")
    before = len(checked)
    wait_for(lambda: len(checked) > before + 2, "a job that goes on")
    assert not job.done()
    background.drop("lane", unless="second")
    with pytest.raises(Cancelled):
        job.result(timeout=HANG_S)
    assert background.request("first", "lane", lambda check: 7).result(timeout=HANG_S) == 7


def test_other_lanes_go_on() -> None:
    background, go = Background(), threading.Event()

    def work(check) -> str:
        assert go.wait(HANG_S)
        check()
        return "done"

    job = background.request("mine", "lane", work)
    background.drop("other lane", unless="theirs")
    go.set()
    assert job.result(timeout=HANG_S) == "done"


def test_work_that_nobody_waits_for_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "PATIENCE_S", 0.05)

    def endless(check) -> None:
        while True:
            check()

    with pytest.raises(Cancelled, match="nobody is waiting"):
        Background().request("key", "lane", endless).result(timeout=HANG_S)


def test_work_stops_when_the_windows_that_asked_for_it_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not at once, since a page that is reloaded asks for it again, nor before the last of them is closed."""
    now, open_windows = [0.0], {"one", "two"}
    monkeypatch.setattr(background_module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(background_module, "is_connected", lambda session: session in open_windows)
    background, rounds = Background(), []

    def endless(check) -> None:
        while True:
            check()
            rounds.append(True)

    def goes_on() -> bool:
        before = len(rounds)
        wait_for(lambda: len(rounds) > before + 2 or job.done(), "the next look at who waits")
        return not job.done()

    for window in ("one", "two"):
        monkeypatch.setattr(background_module, "session_id", lambda window=window: window)
        job = background.request("key", f"lane of {window}", endless)
    now[0] = 100.0
    assert goes_on()
    open_windows.remove("one")
    now[0] = 150.0
    assert goes_on()
    open_windows.remove("two")
    now[0] = 154.0
    assert goes_on()
    open_windows.add("two")
    assert goes_on()
    open_windows.clear()
    now[0] = 158.0
    assert goes_on()
    now[0] = 160.0
    with pytest.raises(Cancelled, match="nobody is waiting"):
        job.result(timeout=HANG_S)


def test_work_that_gives_way_stops_for_other_work_and_may_be_asked_for_again() -> None:
    background, began = Background(), threading.Event()

    def endless(check) -> None:
        began.set()
        while True:
            check()

    ahead = background.request("ahead", "mine", endless, gives_way=True)
    assert began.wait(HANG_S)
    later = background.request("ahead too", "theirs", lambda check: 2, gives_way=True)  # its like does not stop it
    assert not ahead.done() and not later.done()
    assert background.request("picture", "another", lambda check: 3).result(timeout=HANG_S) == 3
    for job in (ahead, later):
        with pytest.raises(Cancelled, match="another picture waits"):
            job.result(timeout=HANG_S)
    assert background.request("ahead", "mine", lambda check: 1, gives_way=True).result(timeout=HANG_S) == 1


class Large:
    """Something as large as a picture's sums."""


def test_a_stopped_job_lets_go_of_what_it_held() -> None:
    held: list[weakref.ref] = []

    def work(check) -> None:
        large = Large()
        held.append(weakref.ref(large))
        raise Cancelled("stopped half-way")

    background = Background()
    job = background.request("key", "lane", work)
    with pytest.raises(Cancelled):
        job.result(timeout=HANG_S)
    del job
    gc.collect()
    assert background.known("key") is not None and held[0]() is None


def test_a_result_that_pages_look_at_stays_and_failures_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background_module, "_KEPT", 3)
    background = Background()

    def fail(check) -> None:
        raise InputError("This cannot be computed.")

    def add(name: str, work=lambda check: 1) -> None:
        background.request(name, name, work).exception(timeout=HANG_S)

    for name in ("picture", "older", "newer"):
        add(name)
    assert background.known("picture") is not None
    add("failed", fail)
    assert background.known("older") is None and background.known("picture") is not None
    add("next")
    assert background.known("failed") is None and background.known("newer") is not None
    add("last")
    assert background.known("picture") is None and background.known("newer") is not None


def test_a_page_that_waits_keeps_asking(monkeypatch: pytest.MonkeyPatch) -> None:
    """What it waits for is not stopped as something that nobody waits for, however long it takes."""
    background, go, asked = Background(), threading.Event(), []
    monkeypatch.setattr(background_module, "get_background", lambda: background)
    monkeypatch.setattr(background_module, "session_lane", lambda name: name)
    monkeypatch.setattr(background_module, "redraw_when", lambda ready, waiting: asked.append(ready))
    assert background_module.awaited("key", "lane", lambda check: go.wait(HANG_S), "Drawing …") is None
    background._asked["lane"] = 0.0
    assert not asked[0]() and background._asked["lane"] > 0
    go.set()
    wait_for(asked[0], "the end of the work")
    assert background_module.awaited("key", "lane", lambda check: False, "Drawing …") is True
