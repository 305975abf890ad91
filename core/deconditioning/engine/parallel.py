"""Many independent computations inside one run, distributed over the cluster's workers or computed one
after another.
"""

import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any

from deconditioning.errors import Cancelled, InputError

_POLL_S = 0.3
#: What tells a benchmark's rows apart.
_IDENTITY = ("case", "matching", "model", "seed")


def each(
    function: Callable[[dict[str, Any]], dict[str, Any]], items: Sequence[dict[str, Any]], context: Any
) -> Iterator[dict[str, Any]]:
    """``function(item)`` for every item, in the order in which they are done; ``context.check`` may stop the rest.

    On a Dask worker that has fellows the items become tasks of the cluster; results then come out of order. An item
    carries all it needs, and the result says which item it belongs to.
    """
    if _fellows() > 1:
        yield from _spread(function, items, context)
        return
    for item in items:
        context.check()
        yield function(item)


def _fellows() -> int:
    """Workers of the cluster this runs on; 0 outside a worker."""
    from distributed import get_client, get_worker

    try:
        get_worker()
    except ValueError:
        return 0
    return len(get_client().scheduler_info(n_workers=-1)["workers"])


def _spread(function: Callable[..., Any], items: Sequence[dict[str, Any]], context: Any) -> Iterator[dict[str, Any]]:
    from distributed import TimeoutError as NothingYet
    from distributed import wait, worker_client

    with worker_client() as client:
        pending = set(client.map(function, items, pure=False))
        try:
            while pending:
                context.check()
                try:
                    done = wait(pending, timeout=_POLL_S, return_when="FIRST_COMPLETED").done
                except NothingYet:
                    continue
                pending -= done
                for future in done:
                    yield _released_result(future)
        finally:
            client.cancel(list(pending))


def _released_result(future: Any) -> Any:
    """A result; the cluster may forget it now, so that the loss of the worker that holds it costs nothing."""
    result = future.result()
    future.release()
    return result


def stream(
    prepare: Callable[[Any, Callable[[], None]], Any],
    work: Callable[[Any, Any, Callable[[], None]], dict[str, Any]],
    items: Sequence[tuple[Hashable, Any]],
    context: Any,
    begun: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """``work(prepare(key, check), item, check)`` for every ``(key, item)``, in the order in which they are done.

    What ``prepare`` gives is made once a key and shared by its items, which lie together; few of either are alive at a
    time, however many items there are. On a cluster a lost worker costs what it had under way: those items (and what
    they share, where it lay there alone) are done again elsewhere. ``begun`` is called at the start of each item,
    again where one is repeated; ``check`` raises ``Cancelled`` in time.
    """
    if _fellows() > 1:
        yield from _stream_spread(prepare, work, items, context, begun)
        return
    last: Any = None
    for key, item in items:
        context.check()
        if last is None or last[0] != key:
            last = None  # two are never held
            last = (key, prepare(key, context.check))
        begun()
        yield work(last[1], item, context.check)


def _stream_spread(
    prepare: Callable[..., Any],
    work: Callable[..., Any],
    items: Sequence[tuple[Hashable, Any]],
    context: Any,
    begun: Callable[[], None],
) -> Iterator[dict[str, Any]]:
    from distributed import worker_client

    topic = f"begun-{uuid.uuid4().hex[:12]}"
    with worker_client() as client:
        client.subscribe_topic(topic, lambda event: begun())
        ahead = 2 * max(1, sum(client.nthreads().values()))
        waiting, left = deque(items), Counter(key for key, _ in items)
        shared: dict[Hashable, Any] = {}
        pending: dict[Any, Hashable] = {}
        try:
            while waiting or pending:
                context.check()
                while waiting and len(pending) < ahead:
                    key, item = waiting.popleft()
                    if key not in shared:
                        shared[key] = client.submit(_watched, prepare, key, pure=False)
                    pending[client.submit(_announced, topic, work, shared[key], item, pure=False)] = key
                for future in _some_done(pending):
                    key = pending.pop(future)
                    yield _result(future)
                    left[key] -= 1
                    if not left[key]:
                        del shared[key]
        finally:
            client.cancel([*pending, *shared.values()])
            client.unsubscribe_topic(topic)


def _some_done(pending: Mapping[Any, Any]) -> set[Any]:
    from distributed import TimeoutError as NothingYet
    from distributed import wait

    try:
        return set(wait(list(pending), timeout=_POLL_S, return_when="FIRST_COMPLETED").done)
    except NothingYet:
        return set()


def _result(future: Any) -> Any:
    from distributed.scheduler import KilledWorker

    try:
        return _released_result(future)
    except KilledWorker:
        raise InputError(
            "The same part was lost twice with its worker (often for lack of memory): make the parts smaller "
            "or give the workers more memory, then resume."
        ) from None


def _watched(work: Callable[..., Any], *arguments: Any) -> Any:
    """A piece of work on a worker of the cluster; it stops when nobody wants it any longer."""
    import dask

    with dask.config.set(scheduler="synchronous"):  # else xarray hands its file locks to the cluster, and fails
        return work(*arguments, _check_requested())


def _announced(topic: str, work: Callable[..., Any], *arguments: Any) -> Any:
    from distributed import get_worker

    get_worker().log_event(topic, {})
    return _watched(work, *arguments)


def _check_requested() -> Callable[[], None]:
    """A check that raises ``Cancelled`` once Dask has released the task it is made in; it looks twice a second."""
    from distributed import get_worker

    worker, looked = get_worker(), [time.monotonic()]
    key = worker.get_current_task()

    def check() -> None:
        """Raise ``Cancelled`` where Dask has released the task; at most twice a second."""
        if time.monotonic() - looked[0] < 0.5:
            return
        looked[0] = time.monotonic()
        task = worker.state.tasks.get(key)
        if task is None or task.state in ("cancelled", "released", "forgotten"):
            raise Cancelled("The part is no longer needed.")

    return check


def run_all(
    function: Callable[[dict[str, Any]], dict[str, Any]],
    items: Sequence[dict[str, Any]],
    spec: Mapping[str, Any],
    context: Any,
    done: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """The rows of a benchmark, each reported when it is done (``row``); finished rows are kept after a cancellation.

    ``done`` are rows of an earlier call with the same settings, which are not computed again.
    """
    rows: list[dict[str, Any]] = [dict(row) for item in items for row in done if _belongs(row, item)]
    missing = [item for item in items if not any(_belongs(row, item) for row in rows)]
    try:
        for row in each(function, missing, context):
            rows.append(row)
            context.report(step=len(rows), total=len(items), message=_row_sentence(row), row=row)
            context.best(_result_of(spec, rows, cancelled=True))
    except Cancelled:
        return _result_of(spec, rows, cancelled=True)
    return _result_of(spec, rows, cancelled=False)


def _belongs(row: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    names = {**item.get("roll", {}), **item.get("settings", {}), **item}
    return all(row[key] == names.get(key) for key in _IDENTITY if key in row)


def _row_sentence(row: Mapping[str, Any]) -> str:
    score = row["scores"].get("rmse")
    what = ", ".join(str(row[name]) for name in ("model", "matching", "case") if name in row)
    return f"{what}, seed {row['seed']}: " + (str(row["message"]) if score is None else f"RMSE {score:.3f}")


def _result_of(spec: Mapping[str, Any], rows: Sequence[Mapping[str, Any]], *, cancelled: bool) -> dict[str, Any]:
    """What a benchmark leaves: its settings, its rows, the version that made them."""
    import deconditioning

    return {"cancelled": cancelled, "version": deconditioning.__version__, "settings": dict(spec), "rows": list(rows)}
