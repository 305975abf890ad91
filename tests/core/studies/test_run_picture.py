"""What runs learned as pictures and words: read again from the result, kept small beside the run; damaged results."""

import base64
from dataclasses import asdict, replace

import numpy as np
import pytest

from deconditioning.datasets.entries import find
from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.datasets.sparse_toy import ToySpec, make_toy
from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.engine.compare import run_scores
from deconditioning.engine.context import Context
from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import InputError
from deconditioning.figures.style import Figure
from deconditioning.metrics.field_scores import score_points
from deconditioning.metrics.predictive import Predictive
from deconditioning.studies.one_dimension.settings import LineSettings
from deconditioning.studies.picture_tasks import line_task, roll_task, sparse_task
from deconditioning.studies.run_description import (
    data_sentence,
    learned_compared_with_start,
    made_sentence,
    settings_compared_with_usual,
)
from deconditioning.studies.run_picture import run_figures, run_sketch, sweep_sketch
from deconditioning.studies.sparse_representation.study import SparseSettings
from deconditioning.studies.swiss_roll.study import RollSettings

SPARSE = {"toy": asdict(ToySpec(40)), "settings": vars(SparseSettings("random", 4)), "model": "random"}
LINE = {"line": asdict(LineSpec(20, 20)), "settings": vars(LineSettings(learn=False)), "model": "task_transformed_gp"}
ROLL = {"roll": asdict(RollSpec(200, 10)), "settings": vars(RollSettings(learn=False)), "model": "cmp"}
CASES = [
    ("sparse-representation", SPARSE, sparse_task, lambda: make_toy(ToySpec(40)).truth),
    ("one-dimension", LINE, line_task, lambda: make_line(LineSpec(20, 20)).truth.numpy()),
    ("swiss-roll", ROLL, roll_task, lambda: make_swiss_roll(RollSpec(200, 10)).truth.numpy()),
]


def drawn_mean(figure: Figure) -> np.ndarray:
    """The posterior mean in a picture: its points' colours in space, else its widest line."""
    first = figure["data"][0]
    if first["type"] == "scatter3d":
        data = first["marker"]["color"]
    else:
        data = max(figure["data"], key=lambda trace: (trace.get("line") or {}).get("width", 0))["y"]
    return np.frombuffer(base64.b64decode(data["bdata"]), np.dtype(data["dtype"])).astype(float)


@pytest.mark.parametrize(("task", "settings", "work", "truth"), CASES, ids=[case[0] for case in CASES])
def test_the_picture_has_the_scores_of_the_result(task: str, settings: dict, work, truth) -> None:
    context = Context()
    result = work(settings, context)
    figures = run_figures(task, settings, result)
    mean = drawn_mean(figures[0])
    scores = score_points(truth(), Predictive(mean, np.ones_like(mean)))
    assert scores["rmse"] == pytest.approx(result["scores"]["rmse"], rel=1e-4)
    assert context.files[THUMBNAIL] == run_sketch(task, settings, result)
    run = Run("r", RunSpec(task, settings), "done", 1.0, result=result)
    assert list(run_scores(run)) == [result["model"]]
    for damage in ({"learned": {"kernel": 3}}, {"learned": [1]}):
        with pytest.raises(InputError, match="damaged"):
            run_figures(task, settings, result | damage)
    assert run_figures(task, settings, result | {"learned": None}) == [] == run_figures(task, settings, None)


def test_a_sweep_is_drawn_small_and_one_that_is_damaged_is_not() -> None:
    rows = [{"values": {"noise": at}, "evidence": -((at - 2) ** 2), "rmse": at} for at in (1.0, 2.0, 3.0)]
    spec = RunSpec("sweep", {"axes": [{"name": "noise", "low": 1.0, "high": 3.0, "count": 3, "log": False}]})
    run = Run("r", spec, "done", 1.0, result={"cells": rows})
    assert sweep_sketch(run).startswith(b"\x89PNG")
    for cells in (None, 3, [{}], [{"values": {"other": 1.0}, "evidence": 1.0}]):
        with pytest.raises(InputError, match="no picture"):
            sweep_sketch(replace(run, result={"cells": cells}))
    with pytest.raises(InputError, match="no picture"):
        run_sketch("predict-store", {}, {"a": 1})


def test_settings_that_are_not_the_usual_ones_come_first() -> None:
    toy, chosen = replace(ToySpec(), noise=0.3), replace(SparseSettings(), points=7)
    run = Run("r", RunSpec("sparse-representation", {"toy": vars(toy), "settings": vars(chosen)}, 5), "done", 1.0)
    rows = settings_compared_with_usual(run)
    assert set(rows[:3]) == {("seed", 5, 0), ("toy.noise", 0.3, 0.1), ("settings.points", 7, 5)}
    assert all(value == usual for _, value, usual in rows[3:])
    odd = Run("r", RunSpec("downscale", {"source": {"fields": "gone"}, "problem": 3}), "failed", 1.0)
    assert ("problem", 3, None) in settings_compared_with_usual(odd)


def test_learned_values_stand_beside_those_where_learning_started() -> None:
    start = {"terms": [{"scale": 1.0, "factors": []}]}
    end = {"terms": [{"scale": 4.189, "factors": []}]}
    given = {"kernel": start, "noise": None, "learn": True, "steps": 3}
    run = Run("r", RunSpec("downscale", {"settings": given}), "done", 1.0)
    run = replace(run, result={"learned": given | {"kernel": end, "noise": 0.2, "point_noise": 0.0}})
    assert learned_compared_with_start(run) == [("kernel.terms", end["terms"], start["terms"]), ("noise", 0.2, None)]
    assert learned_compared_with_start(replace(run, result=None)) == []
    kept = replace(run, spec=RunSpec("downscale", {"settings": given | {"learn": False}}))
    assert learned_compared_with_start(kept) == []


def test_a_downscaling_is_compared_with_its_worked_example_and_names_its_source() -> None:
    entry = find("ukv-645m")
    settings = {"source": {"fields": entry.key}, "problem": {**entry.default, "block": [7, 7]}, "settings": {}}
    run = Run("r", RunSpec("downscale", settings), "done", 1.0)
    assert settings_compared_with_usual(run)[0] == ("problem.block", [7, 7], [9, 9])
    told = data_sentence(run)
    assert entry.source in told and entry.licence in told
    assert "uploaded" in data_sentence(replace(run, spec=RunSpec("downscale", {"source": {"fields": "upload:0"}})))
    assert data_sentence(replace(run, spec=RunSpec("downscale", {"source": 3}))) == ""
    made = made_sentence(replace(run, status="cancelled", started=1.0, ended=4.0))
    assert "1970-01-01 00:00 UTC in 3" in made and "best result before that" in made
