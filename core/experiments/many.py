"""Many independent computations inside one run: spread over the cluster's workers, or one after the other."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from core.errors import Cancelled
from core.experiments.benchmark_table import kept

_POLL_S = 0.3
#: What tells a benchmark's rows apart.
IDENTITY = ("case", "matching", "model", "seed")


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


def _spread(function: Callable, items: Sequence[dict[str, Any]], context: Any) -> Iterator[dict[str, Any]]:
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
                    yield future.result()
        finally:
            client.cancel(list(pending))


def run_all(
    function: Callable[[dict[str, Any]], dict[str, Any]],
    items: Sequence[dict[str, Any]],
    spec: Mapping[str, Any],
    context: Any,
    done: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """A benchmark's rows, each reported as it is done (``row``); a cancel keeps those that are finished.

    ``done`` are rows of an earlier call with the same settings: their items are not computed again.
    """
    rows: list[dict[str, Any]] = [dict(row) for item in items for row in done if _belongs(row, item)]
    missing = [item for item in items if not any(_belongs(row, item) for row in rows)]
    try:
        for row in each(function, missing, context):
            rows.append(row)
            context.report(step=len(rows), total=len(items), message=_said(row), row=row)
            context.best(kept(spec, rows, cancelled=True))
    except Cancelled:
        return kept(spec, rows, cancelled=True)
    return kept(spec, rows, cancelled=False)


def _belongs(row: Mapping[str, Any], item: Mapping[str, Any]) -> bool:
    names = {**item.get("roll", {}), **item.get("settings", {}), **item}
    return all(row[key] == names.get(key) for key in IDENTITY if key in row)


def _said(row: Mapping[str, Any]) -> str:
    score = row["scores"].get("rmse")
    what = ", ".join(str(row[name]) for name in ("model", "matching", "case") if name in row)
    return f"{what}, seed {row['seed']}: " + (str(row["message"]) if score is None else f"RMSE {score:.3f}")
