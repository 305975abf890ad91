"""Many computations in one run: in order without fellows, spread over workers where there are some."""

import contextlib
import os
import secrets
import threading
from typing import Any

import pytest

from deconditioning.engine.context import Context
from deconditioning.engine.parallel import each, run_all, stream
from deconditioning.errors import Cancelled, InputError
from tests.waiting import HANG_S

#: With ``FEW`` set, an item needs one of the tickets.
FEW, TICKETS = threading.Event(), threading.Semaphore(0)


def square(item: dict[str, Any]) -> dict[str, Any]:
    """One item's work, and the process that did it."""
    assert not FEW.is_set() or TICKETS.acquire(timeout=HANG_S)
    return {"n": item["n"], "square": item["n"] ** 2, "process": os.getpid()}


def spread(count: int, stop_after: int | None = None) -> dict[str, Any]:
    """What a run does on its worker; a cancel after some results."""

    done: list[dict[str, Any]] = []

    def stop() -> bool:
        enough = stop_after is not None and len(done) >= stop_after
        if enough:
            TICKETS.release(count)  # the run waits for what its workers have begun
        return enough

    context = Context(stop=stop)
    try:
        for row in each(square, [{"n": n} for n in range(count)], context):
            done.append(row)
    except Cancelled:
        return {"cancelled": True, "rows": done}
    return {"cancelled": False, "rows": done}


def test_alone_they_come_in_order_and_a_cancel_stops_the_rest():
    assert [row["square"] for row in spread(4)["rows"]] == [0, 1, 4, 9]
    stopped = spread(9, stop_after=2)
    assert stopped["cancelled"] and len(stopped["rows"]) == 2


@pytest.fixture(scope="module")
def client():
    """Two workers in this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as found,
    ):
        yield found


def test_on_a_cluster_every_item_is_done_once(client):
    found = client.submit(spread, 12, pure=False).result(timeout=HANG_S)
    assert sorted(row["square"] for row in found["rows"]) == [n**2 for n in range(12)] and not found["cancelled"]


def test_on_a_cluster_a_cancel_keeps_what_is_there(client):
    FEW.set()
    TICKETS.release(20)
    found = client.submit(spread, 500, 3, pure=False).result(timeout=HANG_S)
    FEW.clear()
    assert found["cancelled"] and 3 <= len(found["rows"]) < 500


def test_rows_that_are_there_are_not_computed_again():
    def fit(item):
        return {"case": item["case"], "seed": item["seed"], "scores": {"rmse": 1.0}, "message": None}

    items = [{"case": case, "seed": seed, "settings": {}} for seed in range(2) for case in ("a", "b")]
    kept = {"case": "b", "seed": 0, "scores": {"rmse": 7.0}, "message": None}
    other = {"case": "z", "seed": 0, "scores": {"rmse": 9.0}, "message": None}
    found = run_all(fit, items, {}, Context(), [kept, other])
    assert len(found["rows"]) == 4 and kept in found["rows"] and other not in found["rows"]
    assert sum(row["scores"]["rmse"] for row in found["rows"]) == 10.0


def share(key: int, check) -> dict[str, Any]:
    """What the items of a key have in common."""
    check()
    return {"key": key, "made": secrets.token_hex(8)}


def use(shared: dict[str, Any], item: int, check) -> dict[str, Any]:
    """One item with what it shares."""
    check()
    if item < 0:
        raise InputError("This item is not possible.")
    return {**shared, "item": item}


def flow(keys: int, each_key: int, stop_after: int | None = None) -> dict[str, Any]:
    """A stream on whatever this runs on: its rows and how many items were begun."""
    rows: list[dict[str, int]] = []
    begun: list[int] = []
    context = Context(stop=lambda: stop_after is not None and len(rows) >= stop_after)
    items = [(key, 10 * key + item) for key in range(keys) for item in range(each_key)]
    with contextlib.suppress(Cancelled):
        for row in stream(share, use, items, context, lambda: begun.append(1)):
            rows.append(row)
    return {"rows": rows, "begun": len(begun)}


def fail_in_a_stream() -> str:
    """The sentence of an item that fails."""
    try:
        list(stream(share, use, [(0, 1), (0, -1)], Context()))
    except InputError as error:
        return str(error)
    return ""


def test_a_stream_alone_prepares_once_a_key_and_keeps_the_order():
    found = flow(3, 4)
    assert [row["item"] for row in found["rows"]] == [10 * key + item for key in range(3) for item in range(4)]
    assert len({row["made"] for row in found["rows"]}) == 3 and found["begun"] == 12
    assert len(flow(3, 4, stop_after=5)["rows"]) == 5
    assert fail_in_a_stream() == "This item is not possible."


def test_a_stream_on_a_cluster_does_every_item_once_with_what_it_shares(client):
    found = client.submit(flow, 20, 4, pure=False).result(timeout=HANG_S)
    assert sorted(row["item"] for row in found["rows"]) == sorted(10 * k + i for k in range(20) for i in range(4))
    assert all(row["item"] // 10 == row["key"] for row in found["rows"]) and found["begun"] == 80
    assert len({(row["key"], row["made"]) for row in found["rows"]}) == 20, "prepared once a key"
    assert 5 <= len(client.submit(flow, 20, 4, 5, pure=False).result(timeout=HANG_S)["rows"]) < 80
    assert client.submit(fail_in_a_stream, pure=False).result(timeout=HANG_S) == "This item is not possible."
