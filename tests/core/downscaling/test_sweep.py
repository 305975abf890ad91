"""Sweeps: each setting against the ordinary route, going on against going through, axes that are none."""

import json

import numpy as np
import pytest

from deconditioning.downscaling.interactive import traced_spec
from deconditioning.downscaling.prediction import predict
from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import starting_spec
from deconditioning.downscaling.sweep import SCORES, is_cheap, sweep, sweep_task, sweepable
from deconditioning.engine.context import Context
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.figures.downscaled_maps import field_scale
from deconditioning.figures.small_multiples import small_map, small_multiples
from deconditioning.figures.sweep import sweep_plot, table_of
from deconditioning.metrics.field_scores import score_field
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.spec import ModelSpec
from deconditioning.sweeps import Axis, optimum, settings_of

PLACE = "k1 lengthscale [grid_latitude+grid_longitude]"
AXES = (Axis("noise σ²", 1e-4, 1.0, 2), Axis(PLACE, 0.5, 5.0, 3))
SOURCE = Source("ukv-645m")


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    from deconditioning.datasets.entries import catalogue

    default = next(entry.default for entry in catalogue() if entry.key == "ukv-645m")
    return build_problem(SOURCE, DownscalingSpec.from_dict(default | {"withhold": 0.4, "block": [18, 18]}))


@pytest.fixture(scope="module")
def spec(problem: DownscalingProblem) -> ModelSpec:
    return starting_spec(problem, DownscaleSettings(model="area_to_point_gp", local_scale=False))


@pytest.fixture(scope="module")
def rows(problem: DownscalingProblem, spec: ModelSpec) -> list[dict]:
    return list(sweep(problem, spec, AXES))


def test_each_setting_is_what_the_ordinary_route_says(problem, spec, rows) -> None:
    assert len(rows) == 6 and [row["values"] for row in rows] == settings_of(AXES, is_cheap)
    for row in rows[::2]:
        found = predict(traced_spec(spec, problem, row["values"]), problem.data, problem)
        mean, sd = problem.physical_mean(found.mean), problem.physical_sd(found.sd)
        scores = score_field(problem.truth, Predictive(mean, sd))
        assert row["evidence"] == pytest.approx(found.evidence, rel=1e-8)
        for name in ("rmse", "crps", "coverage95"):
            assert row[name] == pytest.approx(scores[name], rel=1e-6), name
        scale, small = field_scale(problem), small_map(row["picture"])
        step = -(-max(mean.shape) // 60)
        expected = np.clip((mean[::step, ::step] - scale.low) / (scale.high - scale.low), 0, 1)
        assert np.nanmax(np.abs(small - expected)) <= 0.5 / 254 + 1e-9


def test_a_stopped_sweep_goes_on_where_it_was(problem, spec, rows) -> None:
    settings = {
        "source": SOURCE.to_dict(), "problem": problem.spec.to_dict(), "model": spec.to_dict(),
        "axes": [vars(axis) for axis in AXES],
    }  # fmt: skip
    told: list[dict] = []
    stopping = Context(told.append, stop=lambda: len(told) >= 2)
    with pytest.raises(Cancelled):
        sweep_task(settings, stopping)
    kept = stopping.best_result
    assert kept is not None and len(kept["cells"]) == 2 and kept["cancelled"]
    again = sweep_task(json.loads(json.dumps(settings | {"rows": kept["cells"]})), Context())
    assert stopping.files[THUMBNAIL].startswith(b"\x89PNG")
    assert not again["cancelled"] and again["cells"][:2] == kept["cells"]
    for found, known in zip(again["cells"], rows, strict=True):
        assert found["values"] == known["values"] and found["evidence"] == pytest.approx(known["evidence"], rel=1e-9)


def test_rows_that_are_known_are_not_computed_again(problem, spec) -> None:
    known = [{"values": values, "evidence": 7.0} for values in settings_of(AXES, is_cheap)]
    assert list(sweep(problem, spec, AXES, known)) == known


def test_a_name_that_is_none_is_refused_with_those_that_are(problem, spec) -> None:
    with pytest.raises(InputError, match=r"`nothing` to sweep: choose one of k1 variance"):
        sweep(problem, spec, (Axis("nothing", 1, 2),))


def test_what_can_be_swept_is_what_the_model_has(problem, spec) -> None:
    names = sweepable(spec, problem)
    assert names[PLACE] == pytest.approx(spec.kernel.terms[0].factors[0].lengthscales[0])
    assert "noise σ²" in names and "regularisation λ" not in names
    assert "regularisation λ" in sweepable(starting_spec(problem, DownscaleSettings(model="shrinkage_cmp")), problem)


def test_pictures_of_a_sweep(rows) -> None:
    x, y, z = table_of(rows, "rmse")
    for row in rows:
        first, second = row["values"].values()
        assert z[list(y).index(second), list(x).index(first)] == row["rmse"]
    there = optimum(rows, "rmse", SCORES["rmse"])
    places = {"best here": there, "choice by the evidence": None, "the sliders": {PLACE: 1.0, "noise σ²": 0.1}}
    figure = sweep_plot(rows, "rmse", "RMSE", places, log=(True, True), names={PLACE: "place"})
    star, circle = figure["data"][1:]
    assert (star["x"][0], star["y"][0]) == tuple(there.values()) and circle["x"] == [1.0]
    assert (star["name"], circle["name"], circle["marker"]["symbol"]) == ("best here", "the sliders", "circle")
    assert figure["layout"]["xaxis"]["title"]["text"] == "place"
    assert "6 settings" in figure["layout"]["meta"]["alt"]
    sheet = small_multiples([np.zeros((4, 5)), np.ones((4, 5)), np.ones((4, 5))], ["a", "b", "c"], 2)
    assert [note["text"] for note in sheet["layout"]["annotations"]] == ["a", "b", "c"]
