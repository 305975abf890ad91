"""Sweeps of every study: a cell against another way to its scores; resumed, read back, refused."""

import json
from typing import Any

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal

from deconditioning.datasets.sparse_toy import LENGTHSCALE, VARIANCE, ToySpec
from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.distribution_regression.simulate import SimulationSpec
from deconditioning.downscaling.saved_map import THUMBNAIL
from deconditioning.engine.context import Context
from deconditioning.engine.records import Run, RunSpec
from deconditioning.errors import Cancelled, InputError
from deconditioning.studies.conditional_means.study import BagLayout, conditional_mean, dense_estimator, sample_bags
from deconditioning.studies.distribution_regression.sweep import prepared_at
from deconditioning.studies.filtering.camera import CameraSpec, compare_camera
from deconditioning.studies.filtering.settings import SCALES, SweptSettings
from deconditioning.studies.filtering.study import FilterSettings, compare, rotation_problem, system_of, train
from deconditioning.studies.kernel_bayes.one_observation import answers
from deconditioning.studies.kernel_bayes.study import GaussianSpec, make_gaussian
from deconditioning.studies.likelihood_free.study import make_problem, run_problem
from deconditioning.studies.one_dimension.bayes import posterior_of_y
from deconditioning.studies.one_dimension.evidence_surface import AXES, evidence_surface
from deconditioning.studies.one_dimension.problem import fit_line
from deconditioning.studies.one_dimension.settings import LineSettings
from deconditioning.studies.one_dimension.sweep import kernel_at, line_at, model_at
from deconditioning.studies.sparse_representation.study import SparseSettings, represent
from deconditioning.studies.sparse_representation.sweep import toy_at
from deconditioning.studies.sweep_content import page_of, swept
from deconditioning.studies.sweeping import STUDIES, Study, study_of, study_task, sweep_study
from deconditioning.studies.swiss_roll.settings import SwissRollSettings
from deconditioning.studies.swiss_roll.study import model_spec, posterior_at_points, score
from deconditioning.studies.swiss_roll.sweep import roll_at
from deconditioning.sweeps import Axis

#: Study → settings that make it small, and an axis.
SMALL: dict[str, tuple[dict[str, Any], Axis]] = {
    "one-dimension": ({"n": 30, "m": 25}, Axis("noise", 0.05, 0.5, 2)),
    "bayes-rule": ({"n": 40, "m": 40, "herded": 20}, Axis("x", -1.0, 1.0, 2, False)),
    "there-and-back": ({"n": 30, "m": 25}, Axis("second_regularisation", 1e-4, 1e-1, 2)),
    "sparse-representation": ({"data": 40}, Axis("points", 3, 6, 2, False)),
    "swiss-roll": ({"points": 300, "slices": 12}, Axis("regularisation", 1e-6, 1e-2, 2)),
    "conditional-means": ({"bags": 12, "per_bag": 4}, Axis("regularisation", 1e-4, 1e-1, 2)),
    "kernel-bayes": ({"dimension": 1, "pairs": 40, "prior": 40}, Axis("delta", 1e-5, 1e-2, 2)),
    "likelihood-free": ({"simulations": 40}, Axis("epsilon", 0.1, 0.5, 2)),
    "filtering": ({"train": 60, "test": 30}, Axis("scale", SCALES[0], SCALES[-1], 2)),
    "camera": ({"train": 100, "test": 20}, Axis("regularisation", 1e-6, 1e-3, 2)),
    "distribution-regression": ({"n": 20, "m": 20, "unequal": True}, Axis("noise", 1e-3, 1e-1, 2)),
}


def row(name: str, **more: Any) -> tuple[Study, dict[str, Any], dict[str, Any]]:
    """A study, all its settings, and its row at them."""
    study = study_of(name)
    settings = study.complete(SMALL[name][0] | more)
    return study, settings, study.row(settings)


@pytest.mark.parametrize("name", list(STUDIES))
def test_every_study_is_a_run_that_can_be_read(name: str) -> None:
    given, axis = SMALL[name]
    study, context = study_of(name), Context()
    settings = {"study": name, "settings": given, "axes": [vars(axis)], "page": {"url": "line", "query": "a=1&a=2"}}
    result = json.loads(json.dumps(study_task(settings, context)))
    assert not result["cancelled"] and context.files[THUMBNAIL].startswith(b"\x89PNG")
    run = Run("r", RunSpec("sweep-study", settings), "done", created=0.0, result=result)
    found = swept(run)
    assert found is not None and [each["values"][axis.name] for each in found.rows] == axis.values
    for cell, each in zip(result["cells"], found.rows, strict=True):
        assert "picture" in each and each == {key: each[key] for key in cell}, "nothing of a sound row is left out"
        assert set(each) - {"values", "picture"} <= set(study.scores)
    assert any(found.rows[0][score] != found.rows[1][score] for score in study.scores if score in found.rows[0])
    assert page_of(run) == ("line", {"a": ["1", "2"], "sweep": ["true"], "swept": ["r"]})


def test_evidence_of_one_dimension_is_that_of_its_surface() -> None:
    names = ("k1 lengthscale [x]", "noise σ²")
    study = study_of("one-dimension")
    given = study.complete(SMALL["one-dimension"][0])
    axes = [Axis(mine, *AXES[name], 2) for mine, name in zip(("k_scale", "noise"), names, strict=True)]
    cells = {tuple(each["values"].values()): each for each in sweep_study(study, given, axes)}
    line, model = line_at(given), model_at(given)
    surface = evidence_surface(line, model, *names, 2)
    for j, noise in enumerate(surface.second):
        for i, scale in enumerate(surface.first):
            cell = cells[float(f"{scale:.6g}"), float(f"{noise:.6g}")]
            assert cell["evidence"] == pytest.approx(surface.values[j, i], rel=1e-5)
    fit = fit_line(line, LineSettings(model=model.to_dict(), learn=False))
    assert study.row(given)["rmse"] == pytest.approx(fit.scores(line)["rmse"], rel=1e-9)


def test_bayes_rule_is_what_the_page_shows() -> None:
    _, given, found = row("bayes-rule", x=0.5)
    posterior = posterior_of_y(
        line_at(given),
        "uniform",
        0.5,
        kernel_at(given, "k", "x"),
        kernel_at(given, "l", "y"),
        1e-5,
        1e-2,
        20,
    )
    mean, sd = posterior.moments["herded"]
    assert found["mean_error"] == pytest.approx(abs(mean - posterior.moments["exact"][0]))
    assert found["sd_error"] == pytest.approx(abs(sd - posterior.moments["exact"][1]))
    assert found["negative"] == pytest.approx(float(-posterior.mean.weights.clamp_max(0).sum()))


def test_there_and_back_is_two_ridge_regressions_one_after_the_other() -> None:
    _, given, found = row("there-and-back", drawn=False, second_regularisation=1e-5)
    line = line_at(given)
    x, y, query, grid = (v.numpy() for v in (line.inputs, line.mediators, line.query, line.grid))

    def k(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.exp(-0.5 * np.subtract.outer(left, right) ** 2 / 0.8**2)

    def ell(left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return np.exp(-np.abs(np.subtract.outer(left, right)) / 0.5)

    spread = np.linalg.solve(ell(y, y) + len(y) * 1e-6 * np.eye(len(y)), ell(y, query))
    dual = np.linalg.solve(
        spread.T @ k(x, x) @ spread + len(query) * 1e-5 * np.eye(len(query)), spread.T @ line.spec.f(x)
    )
    back = k(grid, x) @ spread @ dual
    assert found["lost"] == pytest.approx(float(np.sqrt(np.mean((back - line.truth.numpy()) ** 2))), rel=1e-5)
    share = 1 - np.mean((back - line.truth.numpy()) ** 2) / np.var(line.truth.numpy())
    assert found["comes_back"] == pytest.approx(float(share), rel=1e-5)
    _, _, drawn = row("there-and-back", drawn=True, draw=1, second_regularisation=1e-5)
    assert drawn["lost"] != found["lost"]


def test_the_camera_is_what_its_study_says() -> None:
    _, given, found = row("camera")
    rows = compare_camera(CameraSpec(100, 20, given["noise"]), FilterSettings(1.0, 1e-5, 1e-2), ("kbr_gauss", "kbr_tr"))
    for each in rows:
        for name in ("angle", "mse"):
            assert found[f"{name}_{each['model']}"] == pytest.approx(each["scores"][name])


def test_a_sparse_representation_at_the_truth_is_the_studys_own() -> None:
    given = study_of("sparse-representation").complete(SMALL["sparse-representation"][0])
    toy = toy_at(ToySpec(40, given["made_of"], given["data_noise"], given["seed"]))
    _, _, found = row("sparse-representation", k_scale=LENGTHSCALE, k_size=VARIANCE, noise=given["data_noise"] ** 2)
    same = represent(toy, SparseSettings("random", given["points"]))
    assert found["evidence"] == pytest.approx(same.evidence) and found["rmse"] == pytest.approx(
        same.scores(toy)["rmse"]
    )


def test_a_roll_is_what_its_posterior_says_without_kept_sums() -> None:
    _, given, found = row("swiss-roll")
    roll, model = roll_at(RollSpec(300, 12, given["slice_noise"], "direct", 0)), model_spec(SwissRollSettings(**given))
    scores = score(roll, *posterior_at_points(model, roll.data, roll.inputs))
    for name in ("rmse", "crps", "coverage95"):
        assert found[name] == pytest.approx(scores[name], rel=1e-6)


def test_a_conditional_mean_is_that_of_the_dense_estimator() -> None:
    _, given, found = row("conditional-means")
    layout = BagLayout(**given)
    sample = sample_bags(layout)
    y = torch.linspace(float(sample.mediators.min()), float(sample.mediators.max()), 60, dtype=torch.float64)
    mean = dense_estimator(layout, sample, y[:, None]).T @ sample.bags.inputs[:, 0]
    assert found["mean_standard"] == pytest.approx(float((mean - conditional_mean(y)).square().mean().sqrt()))


def test_kernel_bayes_is_what_the_page_shows() -> None:
    _, given, found = row("kernel-bayes")
    problem = make_gaussian(GaussianSpec(1, 40, 40, 1, given["seed"]))
    numbers = {name: given[name] for name in ("scale", "epsilon", "delta")}
    answer = answers(problem, np.array([4.0]), **numbers, bandwidth=1.0)["kbr"]
    assert found["distance"] == pytest.approx(float(abs(answer.mean - problem.posterior(np.array([4.0]))[0])[0]))
    _, _, printed = row("kernel-bayes", prior_weights="n", delta=40**2 * given["delta"])
    assert printed["distance"] == pytest.approx(found["distance"], rel=1e-4)
    _, _, several = row("kernel-bayes", dimension=3)
    assert several["mse"] > 0 and "negative" not in several


def test_a_filter_is_what_its_study_says_and_validation_ranks_alike() -> None:
    study, given, found = row("filtering", scale=0.5)
    problem = rotation_problem(system_of(SweptSettings(**given)), 60, 30, 0)
    settings = FilterSettings(0.5, given["regularisation"], given["tolerance"])
    assert found["mse"] == pytest.approx(compare(problem, 0, settings, ("kbr",))[0]["scores"]["mse"])
    errors = {scale: study.row(given | {"scale": scale})["validation"] for scale in SCALES}
    chosen = train(problem.states, problem.observations, FilterSettings(None, given["regularisation"]))
    assert min(errors, key=errors.__getitem__) == chosen.scale


def test_evidence_of_distribution_regression_is_the_gaussians() -> None:
    study, given, found = row("distribution-regression")
    prepared = prepared_at(SimulationSpec(20, 20, 0, True, spread=25.0))
    subjects = prepared.subjects
    x, owner = subjects.measures[:, 0].numpy(), subjects.owner.numpy()
    mean = np.array([owner == i for i in range(20)], dtype=float)
    mean /= mean.sum(1, keepdims=True)
    gram = mean @ np.exp(-0.5 * (x[:, None] - x) ** 2 / given["scale"] ** 2) @ mean.T
    covariance = gram + given["noise"] * np.eye(20)
    assert found["evidence"] == pytest.approx(multivariate_normal(np.zeros(20), covariance).logpdf(subjects.outcomes))
    inverse = np.linalg.inv(covariance)
    missed = inverse @ subjects.outcomes.numpy() / np.diag(inverse)
    assert found["left_out"] == pytest.approx(float(np.sqrt(np.mean(missed**2))))
    assert study.row(given | {"noise_by": "learned"})["evidence"] >= found["evidence"]


def test_likelihood_free_inference_is_what_its_study_says() -> None:
    study, given, found = row("likelihood-free")
    kept, rows = run_problem(make_problem("exponential-gamma"), 40, 0, methods=("dme",))
    scores = next(each["scores"] for each in rows if each["model"] == "dme")
    assert {name: found[name] for name in ("error", "width", "covers")} == pytest.approx(
        {name: scores[name] for name in ("error", "width", "covers")}
    )
    assert kept.learned is not None and found["log_q"] == pytest.approx(kept.learned.log_q)
    assert study.chosen(given, ["epsilon"])["by_q"] is False and study.chosen(given, ["simulations"])["by_q"] is True


def test_a_stopped_sweep_goes_on_where_it_was() -> None:
    given, axes = SMALL["one-dimension"][0], [vars(Axis("noise", 0.05, 0.5, 4)), vars(Axis("n", 20, 30, 2))]
    settings = {"study": "one-dimension", "settings": given, "axes": axes}
    told: list[dict] = []
    stopping = Context(told.append, stop=lambda: len(told) >= 3)
    with pytest.raises(Cancelled):
        study_task(settings, stopping)
    kept = stopping.best_result
    assert kept is not None and len(kept["cells"]) == 3 and kept["cancelled"]
    assert [cell["values"]["n"] for cell in kept["cells"]] == [20.0] * 3, "what is drawn changes last"
    again = study_task(settings | {"rows": kept["cells"]}, Context())
    assert again["cells"][:3] == kept["cells"] and len(again["cells"]) == 8
    assert again["cells"] == study_task(settings, Context())["cells"]


@pytest.mark.parametrize(
    ("name", "given", "axis", "words"),
    [
        ("nothing", {}, "noise", "no study `nothing` to sweep: choose one of one-dimension"),
        ("one-dimension", {"k": 1}, "noise", "no setting `k`: choose one of n, m"),
        ("one-dimension", {"n": 3.5}, "noise", "`n` is 3.5: give a value such as 200"),
        ("one-dimension", {"n": True}, "noise", "`n` is True"),
        ("one-dimension", {}, "seed", "no setting `seed` to sweep"),
        ("one-dimension", {"method": "dme"}, "l_size", "no setting `l_size` to sweep"),
        ("filtering", {}, "eta", "no setting `eta` to sweep"),
    ],
)
def test_what_cannot_be_swept_is_refused(name: str, given: dict[str, Any], axis: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        next(sweep_study(study_of(name), given, [Axis(axis, 0.1, 1.0, 2)]))


def test_a_damaged_run_is_none_and_a_damaged_row_is_left_out() -> None:
    axes = [vars(Axis("noise", 0.1, 1.0, 2))]
    settings = {"study": "one-dimension", "settings": {}, "axes": axes}
    good = {"values": {"noise": 0.1}, "rmse": 1.0, "picture": {"x": [0, 1], "lines": {"mean": [0, None]}}}
    bad = [7, {"values": {"noise": "a"}}, {"values": {"k": 1.0}}]
    torn = good | {"picture": {"x": [0, 1], "lines": {"mean": [0]}}, "rmse": "low"}

    def run(given: dict[str, Any]) -> Run:
        return Run("r", RunSpec("sweep-study", given), "done", created=0.0, result={"cells": [good, *bad, torn]})

    found = swept(run(settings))
    assert found is not None and list(found.rows) == [good, {"values": {"noise": 0.1}}]
    for wrong in ({"axes": [{"name": "noise"}]}, {"axes": 3}, {"study": "nothing"}):
        assert swept(run(settings | wrong)) is None
    assert swept(Run("r", RunSpec("downscale", {}), "done", created=0.0)) is None and page_of(run(settings)) is None
