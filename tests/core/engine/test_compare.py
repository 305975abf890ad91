"""Two runs side by side, and all runs in one zip."""

import io
import json
import zipfile
from pathlib import Path

from deconditioning.engine.archive import zip_runs
from deconditioning.engine.compare import compare_settings, flatten, run_model, run_scores
from deconditioning.engine.engine import Engine
from deconditioning.engine.records import Run, RunSpec
from deconditioning.engine.store import Store
from deconditioning.figures.trace_lines import BEST, best_objective, trace_series
from deconditioning.figures.traces import objective_trace


def made(seed: int, scores, **settings) -> Run:
    return Run(f"r{seed}", RunSpec("downscale", settings, seed), "done", 1.0, result={"scores": scores})


def test_settings_that_differ_come_first() -> None:
    one = made(0, {}, model="cmp", problem={"block": [7, 7], "target": "t"})
    two = made(1, {}, model="cmp", problem={"block": [9, 9], "target": "t"}, extra=None)
    rows = compare_settings([one, two])
    assert rows[:2] == [("seed", [0, 1]), ("problem.block", [[7, 7], [9, 9]])]
    assert ("model", ["cmp", "cmp"]) in rows and len(rows) == 6
    assert [name for name, _ in compare_settings([one, two], only_differences=True)] == ["seed", "problem.block"]
    assert compare_settings([one, one], only_differences=True) == [] and compare_settings([]) == []
    assert flatten({"a": {"b": {"c": 1}}, "d": {}}) == {"a.b.c": 1, "d": {}}


def test_results_that_are_no_results_have_no_scores() -> None:
    for rubbish in (None, 3, [1], {"cmp": 3}, {"cmp": {"rmse": "x", "ok": True}}):
        assert not any(run_scores(made(0, rubbish)).values())


def test_scores_without_a_model_are_those_of_the_one_that_was_fitted() -> None:
    run = made(0, {"rmse": 0.5, "crps": None}, model="dme")
    assert run_scores(run) == {"dme": {"rmse": 0.5, "crps": None}} and run_model(run) == "dme"


def test_zip_of_runs(tmp_path: Path) -> None:
    store = Store(tmp_path)
    first, second = (store.create(RunSpec("downscale", {"n": n})) for n in range(2))
    for run_id in (first, second):
        store.write_status(run_id, {"status": "done", "created": 1.0})
    store.write_file(first, "field.nc", b"CDF")
    store.add_trace(first, [{"step": 1}])
    (tmp_path / first / "stranger.txt").write_text("not ours")
    with Engine(tmp_path, address="") as engine:
        archive = zipfile.ZipFile(io.BytesIO(zip_runs(engine, [first, second, "gone"])))
    assert set(archive.namelist()) == {
        f"{first}/spec.json",
        f"{first}/status.json",
        f"{first}/trace.jsonl",
        f"{first}/files/field.nc",
        f"{first}/run.py",
        f"{second}/run.py",
        f"{second}/spec.json",
        f"{second}/status.json",
    }
    assert json.loads(archive.read(f"{second}/spec.json"))["settings"] == {"n": 1}


def test_series_of_a_trace() -> None:
    rows = [
        {"time": 0.1, "step": 1, "total": 4, "message": "reading"},
        {"step": 1, "total": 4, "stage": "one", "loss": 3.0, "restart": 0, "hyperparameters": {"λ": 0.1, "m": -1}},
        {
            "step": 2,
            "total": 4,
            "stage": "evidence",
            "loss": 2.0,
            "best_loss": 1.5,
            "hyperparameters": {"λ": 0.2, "σ²": None},
        },
        {"step": "x", "loss": True, "hyperparameters": [1]},
    ]
    objectives, parameters = trace_series(rows)
    assert objectives == {"one": ([1], {"loss": [3.0]}), "evidence": ([2], {"loss": [2.0], "best_loss": [1.5]})}
    assert parameters == ([1, 2], {"λ": [0.1, 0.2]})
    named = {"stage": "two", "quantity": "log evidence", "value": -170.0, "best": -169.0, "restart": 1}
    assert trace_series([named])[0] == {"two": ([1], {"log evidence": [-170.0], BEST: [-169.0]})}
    assert trace_series([{"evidence": -1, "loss": 2.0}])[0] == {"": ([1], {"evidence": [-1.0]})}
    assert trace_series([{"reached": 2}, {"message": "x"}])[0] == {"": ([1], {"reached": [2.0]})}
    assert trace_series([]) == ({}, ([], {}))


def test_another_fit_is_parted_from_the_one_before() -> None:
    """A capped step that stays is the same fit; the best of each starts anew."""
    values = [(1, 1.0, 1.0), (2, 3.0, 3.0), (2, 2.0, 3.0), (1, -1.0, -1.0), (2, 0.5, 0.5)]
    rows = [
        {"step": step, "stage": "evidence", "quantity": "log evidence (every pixel)", "value": value, "best": best,
         "hyperparameters": {"λ": 0.1}}
        for step, value, best in values
    ]  # fmt: skip
    objectives, parameters = trace_series([*rows, {"message": "Predicting"}])
    steps, lines = objectives["evidence"]
    assert steps == [1, 2, 3, 3.5, 4, 5] == parameters[0] and parameters[1]["λ"][3] is None
    assert lines[BEST] == [1.0, 3.0, 3.0, None, -1.0, 0.5]
    assert best_objective(rows) == ("log evidence", 3.0) and best_objective([{"message": "x"}]) is None
    figure = objective_trace("evidence", steps, lines)
    assert [shape["x0"] for shape in figure["layout"]["shapes"]] == [3.5]
    assert "5 steps in 2 fits" in figure["layout"]["meta"]["alt"]
    starts = [{"step": step, "restart": step // 3, "value": 1.0} for step in (1, 2, 3, 4)]
    assert trace_series([{"step": 1, "value": 1.0}, *starts])[0][""][0] == [1, 2, 3, 3.5, 4, 5]
    damaged = [{"step": 1, "restart": restart, "value": 1.0} for restart in (7, [1], {}, "one", True, None)]
    assert trace_series(damaged)[0][""][0] == [1, 2, 3, 4, 5, 6]


def test_the_model_of_a_run() -> None:
    scores = {"cmp": {"rmse": 1.0}, "bilinear": {"rmse": 2.0}}
    assert run_model(made(0, scores, model="cmp")) == "cmp"
    assert run_model(made(0, scores, model={"model": "cmp"})) == "cmp"
    assert run_model(made(0, scores)) == "cmp" and run_model(made(0, None)) == "downscale"
