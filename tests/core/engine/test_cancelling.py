"""Cancel: at once where nothing is computed yet, and with no further evaluation while hyperparameters are learned."""

import time
from pathlib import Path
from typing import Any

import pytest

from deconditioning.engine import run_thread
from deconditioning.engine.context import Context
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import RunSpec
from deconditioning.engine.turns import waiting_sentences
from deconditioning.errors import Cancelled
from deconditioning.models.learning.optimise import _Search
from tests.core.engine.conftest import do_task, done, ended, toy
from tests.waiting import wait_for

LEARN: dict[str, dict[str, Any]] = {
    "downscale": {
        "source": {"fields": "ukv-645m"},
        "problem": {
            "target": "air_potential_temperature", "covariates": ["surface_altitude"], "block": [18, 18],
            "withhold": 0.0, "select": {"time": 2, "level_height": 4},
        },
        "settings": {"model": "bag_gp", "restarts": 3, "steps": 30, "points": 3},
    },
    "one-dimension": {"line": {"n": 40, "m": 40}, "settings": {"restarts": 2, "steps": 30}},
    "swiss-roll": {
        "roll": {"points": 300, "bags": 20}, "settings": {"model": "bag_gp", "restarts": 2, "steps": 30},
    },
}  # fmt: skip


@pytest.fixture
def evaluations(monkeypatch) -> list[str]:
    """Grows with every evaluation that is begun, and with every one that ends."""
    seen: list[str] = []
    evaluate = _Search.evaluate

    def counted(search, point):
        seen.append("begun")
        found = evaluate(search, point)
        seen.append("ended")
        return found

    monkeypatch.setattr(_Search, "evaluate", counted)
    return seen


@pytest.mark.parametrize("task", LEARN)
def test_no_evaluation_ends_after_the_flag(task: str, evaluations: list[str]) -> None:
    """The one that is under way looks at the flag before its sums: it is begun, and does not end."""
    when: list[int] = []

    def stop() -> bool:
        if evaluations.count("ended") >= 4 and not when:
            when.append(len(evaluations))
        return bool(when)

    found = do_task(RunSpec(task, LEARN[task], seed=1), Context(stop=stop))
    assert found["cancelled"] and when
    assert "ended" not in evaluations[when[0] + 1 :] and evaluations[when[0] :].count("begun") <= 1


@pytest.mark.parametrize("task", LEARN)
def test_none_begins_where_the_flag_was_there_before(task: str, evaluations: list[str]) -> None:
    try:
        found = do_task(RunSpec(task, LEARN[task], seed=1), Context(stop=lambda: True))
    except Cancelled:
        found = {"cancelled": True}
    assert found["cancelled"] and "ended" not in evaluations and evaluations.count("begun") <= 1


def absorbed(engine: Engine, folder: Path) -> str:
    """A run that has begun and does not look up until its gate is opened."""
    run_id = engine.submit(toy("absorbed", folder=str(folder)))
    wait_for((folder / "begun").exists)
    wait_for(lambda: engine.get(run_id).status == "running")
    return run_id


def test_before_the_first_result_a_run_ends_at_once_and_its_worker_when_it_looks_up(own: Engine, tmp_path) -> None:
    first = absorbed(own, tmp_path)
    own.cancel(first)
    run = ended(own, first)  # the gate is shut: the task has not looked up yet
    assert run.status == "cancelled" and run.result is None and run.message.startswith("Cancelled before there was")
    second = own.submit(toy("count", steps=3))
    wait_for(lambda: "a cancelled run is being stopped" in own.get(second).message)
    (tmp_path / "gate").touch()
    assert ended(own, second).status == "done"
    assert not list(tmp_path.glob("step-*")) and own.get(first) == run


def test_a_worker_that_never_looks_up_is_started_anew(own: Engine, monkeypatch) -> None:
    monkeypatch.setattr(run_thread, "_GRACE_S", 1.0)
    deaf = own.submit(toy("deaf"))
    wait_for(lambda: own.get(deaf).status == "running")
    own.cancel(deaf)
    assert ended(own, deaf).status == "cancelled"
    begun = time.monotonic()
    assert done(own, toy("count", steps=1)).status == "done" and time.monotonic() - begun < 60


@pytest.mark.parametrize(
    ("left", "mean", "workers", "said"),
    [
        ([], None, 1, ["Waiting: a cancelled run is being stopped.", "Waiting for its turn: one run comes before it."]),
        ([30.0], None, 1, ["one run comes before it, about 30 s.", "2 runs come before it."]),
        ([None], 40.0, 1, ["one run comes before it, about 40 s.", "2 runs come before it, about 1 min 20 s."]),
        ([90.0, 20.0], 40.0, 2, ["2 runs come before it, about 20 s.", "3 runs come before it, about 40 s."]),
    ],
)
def test_what_runs_that_wait_are_told(left, mean, workers, said) -> None:
    told = waiting_sentences(len(said), left, mean, workers)
    assert len(told) == len(said) and all(one.endswith(end) for one, end in zip(told, said, strict=True)), told
