"""A clock that jumps under an engine."""

import time
from collections.abc import Callable

import psutil
import pytest

from deconditioning.engine.live import Live
from deconditioning.engine.owner import Owner, _born, is_alive
from deconditioning.engine.records import Run
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
