"""RunSpec and Context: what goes in and out as plain JSON."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from deconditioning.engine.cluster import worker_count, worker_environment
from deconditioning.engine.context import Context
from deconditioning.engine.records import RunSpec, jsonable
from deconditioning.engine.tasks import TASKS, task_path
from deconditioning.errors import Cancelled, InputError
from tests.core.engine.conftest import ROOT, do_task, toy

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), plain, max_size=4), st.integers(0, 2**32 - 1))
def test_a_spec_survives_json(settings: dict, seed: int) -> None:
    spec = RunSpec("downscale", settings, seed, "a title")
    assert RunSpec.from_dict(json.loads(json.dumps(spec.to_dict()))) == spec


def test_a_spec_does_not_share_its_settings() -> None:
    settings = {"block": (7, 7)}
    spec = RunSpec("downscale", settings)
    settings["block"] = (9, 9)
    assert spec.settings == {"block": [7, 7]}
    assert spec.arguments() == {"seed": 0, "block": [7, 7]}
    assert RunSpec("downscale", {"seed": 4}, seed=1).arguments() == {"seed": 4}


@pytest.mark.parametrize(
    "rubbish",
    [{}, [], None, {"task": 3}, {"task": "x", "settings": 3}, {"task": "x", "seed": "1"}, {"task": "x", "seed": True}],
)
def test_rubbish_is_no_spec(rubbish) -> None:
    with pytest.raises(InputError):
        RunSpec.from_dict(rubbish)
    with pytest.raises(InputError, match="JSON"):
        RunSpec("downscale", {"function": print})


def test_jsonable() -> None:
    found = jsonable({"a": np.float32(1.5), "b": torch.tensor([1.0, float("nan")]), 3: (True, {1}), "d": -np.inf})
    assert found == {"a": 1.5, "b": [1.0, None], "3": [True, [1]], "d": None}
    with pytest.raises(TypeError, match="function"):
        jsonable([lambda: None])


def test_every_named_task_is_of_this_project() -> None:
    assert all(task_path(name) == path for name, path in TASKS.items())


def test_a_context_here_keeps_trace_and_files() -> None:
    rows: list[dict] = []
    context = Context(on_report=rows.append)
    result = do_task(toy("count", seed=6, steps=3), context)
    assert result["seed"] == 6 and context.files == {"numbers.txt": b"1 2 3"}
    assert rows == context.trace and [row["step"] for row in rows] == [1, 2, 3]
    assert context.best_result == {"reached": 3, "seed": 6}


def test_a_context_here_stops_when_told() -> None:
    context = Context(stop=lambda: len(context.trace) >= 2)
    assert do_task(toy("count", steps=9), context)["reached"] == 2
    with pytest.raises(Cancelled):
        context.check()


@pytest.mark.parametrize("name", ["../up", "a/b", "", ".hidden", "a\n", "x" * 300, 3])
def test_a_context_saves_plain_names_only(name) -> None:
    with pytest.raises(InputError, match="plain file name"):
        Context().save(name, b"")


def test_worker_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deconditioning.engine.cluster.usable_cores", lambda: 4)
    assert [worker_count(wanted) for wanted in (None, 0, 2, 99)] == [1, 1, 2, 3]
    monkeypatch.setenv("DECONDITIONING_WORKERS", "2")
    assert worker_count() == 2
    monkeypatch.setenv("DECONDITIONING_WORKERS", "many")
    with pytest.raises(InputError, match="whole number"):
        worker_count()


def test_several_workers_leave_the_gpu_alone_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each would make a CUDA context of its own."""
    from deconditioning.device import choose

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for given_device, workers, expected in (
        (None, 1, "cuda"),
        (None, 2, "cpu"),
        ("cuda", 2, "cuda"),
        ("cpu", 1, "cpu"),
    ):
        with monkeypatch.context() as process:
            process.delenv("DECONDITIONING_DEVICE", raising=False)
            if given_device:
                process.setenv("DECONDITIONING_DEVICE", given_device)
            for name, value in worker_environment(workers).items():
                process.setenv(name, value)
            assert choose("auto").type == expected and choose("cuda").type == "cuda"


def test_importing_the_engine_is_light() -> None:
    heavy = ("torch", "distributed", "numpy", "streamlit")
    code = f"import sys, deconditioning.engine; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
