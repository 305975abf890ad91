"""What a worker sends, and in which order."""

import time
from types import SimpleNamespace
from typing import Any

import pytest

from deconditioning.engine.worker import WorkerContext


def test_a_best_result_never_overtakes_the_trace_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    worker = SimpleNamespace(
        get_current_task=lambda: "run",
        log_event=lambda topic, event: sent.append(event),
        state=SimpleNamespace(tasks={}),
    )
    monkeypatch.setattr("distributed.get_worker", lambda: worker)
    monkeypatch.setattr("distributed.get_client", lambda: None)
    monkeypatch.setattr("distributed.Event", lambda name, client: SimpleNamespace(wait=lambda timeout: time.sleep(60)))
    context = WorkerContext("run", "topic")
    for step in range(1, 200):  # closer together than reports are sent
        context.best({"reached": step})
        rows = [row["step"] for event in sent if event["kind"] == "trace" for row in event["rows"]]
        assert sent[-1]["kind"] == "best" and rows == list(range(1, step))
        context.report(step=step, total=200)
    context.end()
    assert sum(event["kind"] == "trace" for event in sent) <= 199
    assert next(event for event in reversed(sent) if event["kind"] == "trace")["rows"][-1]["step"] == 199
