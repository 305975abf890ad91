"""A clock that jumps under an engine."""

import time
from collections.abc import Callable

import psutil
import pytest

from deconditioning.engine.context import Context
from deconditioning.engine.live import Live
from deconditioning.engine.owner import Owner, _born, is_alive
from deconditioning.engine.records import Run
from deconditioning.engine.reporting import Part
from deconditioning.figures.trace_lines import trace_series
from tests.core.engine.conftest import toy

HOUR = 3600.0


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_an_engine_is_known_by_a_clock_that_does_not_jump(jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    owner = Owner.here()
    parent = psutil.Process().parent()
    facts = owner.to_dict() | {"pid": parent.pid, "born": _born(parent.pid)}
    create_time: Callable = psutil.Process.create_time
    monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + jump)
    assert is_alive(facts, time.time())
    assert not is_alive(facts | {"born": facts["born"] - 100}, time.time())
    owner.leave()


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_a_status_is_written_on_after_the_clock_jumped(jump: float) -> None:
    run = Live(Run("", toy("count"), "running", created=time.time()), Owner.here())
    now = time.time()
    run.wrote(now)
    assert not run.due(now + 1)
    assert run.due(now + jump)
    run.advance({"step": 1, "total": 4}, now)
    run.advance({"step": 2, "total": 4}, now + jump)
    assert run.run.eta_s is not None and run.run.eta_s >= 0


def test_the_share_of_the_whole_makes_the_progress_where_a_task_has_parts() -> None:
    """Two steps of four in the second half are three quarters; after 30 s for the half between, 15 s are left."""
    run, rows = Live(Run("", toy("count"), "running", created=0.0), Owner.here()), list[dict[str, float]]()
    context = Context(rows.append)
    Part(context, 0.0, 0.5).report(step=2, total=4, value=1.0)
    Part(context, 0.5, 1.0).report(step=2, total=4, value=1.0)
    assert [(row["step"], row["share"]) for row in rows] == [(2, 0.25), (2, 0.75)]
    for row, now in zip(rows, (100.0, 130.0), strict=True):
        run.advance(row, now)
    assert (run.run.progress, run.run.eta_s) == (0.75, 15.0)
    Part(context, 0.75, 1.0).report(message="The last part")
    run.advance(rows[-1], 131.0)
    assert run.run.message == "The last part" and run.run.progress == 0.75
    assert trace_series(rows)[0][""][1].keys() == {"value"}
