"""Every file of stored results: at least one of its rows is what its command measures today."""

import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deconditioning.datasets.one_dimension import LineSpec, make_line
from deconditioning.datasets.sparse_toy import ToySpec, make_toy
from deconditioning.datasets.swiss_roll import RollSpec
from deconditioning.distribution_regression.simulate import SimulationSpec
from deconditioning.distribution_regression.stand_in import accelerometer_stand_in
from deconditioning.distribution_regression.subjects import with_covariates
from deconditioning.filtering.room import Camera
from deconditioning.filtering.rotations import RotationPath
from deconditioning.filtering.systems import RotationSystem
from deconditioning.likelihood_free.other_methods import OTHERS
from deconditioning.studies.conditional_means.bag_rates import BagSizeSpec, bag_size_errors
from deconditioning.studies.conditional_means.study import BagLayout
from deconditioning.studies.conditional_means.study import compare as compare_means
from deconditioning.studies.distribution_regression.clustered import ClusterSpec, cluster_sweep
from deconditioning.studies.distribution_regression.few_features import validate_few
from deconditioning.studies.distribution_regression.study import MethodSettings
from deconditioning.studies.downscaling import benchmark as downscaling
from deconditioning.studies.filtering.camera import CameraSpec, compare_camera
from deconditioning.studies.filtering.smoothing import compare_smoothers
from deconditioning.studies.filtering.study import FilterSettings, rotation_problem
from deconditioning.studies.kernel_bayes.study import (
    FOLDED,
    FOLDED_ANEW,
    LEAST_SQUARES,
    PRINTED,
    GaussianSpec,
    compare_rules,
)
from deconditioning.studies.likelihood_free.guards import NARROW, NO_EPSILON, guard_rows
from deconditioning.studies.likelihood_free.study import drawn, make_problem, run_problem
from deconditioning.studies.one_dimension.problem import summary_of as line_row
from deconditioning.studies.one_dimension.settings import LineSettings
from deconditioning.studies.one_dimension.shifted import one_shift
from deconditioning.studies.sparse_representation.study import SparseSettings
from deconditioning.studies.sparse_representation.study import summary_of as sparse_row
from deconditioning.studies.swiss_roll.ablation import WAYS
from deconditioning.studies.swiss_roll.benchmark import one_fit as roll_fit
from deconditioning.studies.swiss_roll.study import RollSettings

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "data" / "benchmarks"
#: Files whose rows another test computes anew.
ELSEWHERE = {
    "deconditional_rates": "tests/core/studies/test_rates.py",
    "deconditional_rates_infinite": "tests/core/studies/test_rates.py",
    "distribution_regression": "tests/pages/test_distribution_regression.py",
    "few_cells": "tests/core/studies/test_trust_summary.py",
    "filtering": "tests/pages/test_filtering.py",
    "kernel_bayes": "tests/pages/test_kernel_bayes.py",
    "kernel_bayes_sizes": "tests/pages/test_kernel_bayes.py",
    "likelihood_free": "tests/pages/test_likelihood_free.py",
    "sources": "tests/core/downscaling/test_further_tables.py",
    "stations": "tests/core/downscaling/test_stations.py",
    "stations_measured": "tests/core/downscaling/test_measured_stations.py",
    "stations_real": "tests/core/downscaling/test_stations.py",
}
Row = dict[str, Any]
TIMES = ("ms_per_step",)


def rows(name: str) -> list[Row]:
    kept = json.loads((FOLDER / f"{name}.json").read_text())
    return kept["rows"] if "rows" in kept else kept["results"]


def settings(name: str) -> Row:
    return json.loads((FOLDER / f"{name}.json").read_text())["settings"]


def _camera(name: str) -> Iterator[Row]:
    given = settings(name)
    spec = CameraSpec(given["train"], given["test"], given["noise"][0], 0,
                      RotationPath(speed=given["speed"], tilt=given["tilt"]),
                      Camera(field_of_view=given["field_of_view"]), given["room"])  # fmt: skip
    for row in compare_camera(spec, FilterSettings(), ("kalman_matrix", "kalman_quaternion", "nearest")):
        yield {**row, "noise": given["noise"][0]}


def _conditional_means() -> Iterator[Row]:
    given = settings("conditional_means")
    found = compare_means(BagLayout(**{name: given[name] for name in asdict(BagLayout()) if name in given}, seed=0))
    for name, model in (("standard", "cmp"), ("shrinkage", "shrinkage_cmp")):
        yield {"model": model, "seed": 0, "scores": {"rmse": found.regression_rmse[name]}}


def _conditional_means_paper() -> Iterator[Row]:
    found = compare_means(BagLayout(50, 3, alike=False, regularisation=0.1, seed=4))
    for name, model in (("standard", "cmp"), ("shrinkage", "shrinkage_cmp")):
        scores = {"rmse": found.regression_rmse[name]}
        yield {"model": model, "seed": 4, "scores": scores, "bags": 50, "per_bag": 3}


def _line(method: str, size: int, seed: int, **given: Any) -> Row:
    found = line_row(make_line(LineSpec(n=size, m=size, seed=seed)), LineSettings(method, seed=seed, **given))
    return {"model": method, "seed": seed, "scores": found["scores"]}


def _one_dimension() -> Iterator[Row]:
    for method in ("impute", "cascade"):
        yield {**_line(method, 100, 3), "n": 100}


def _sparse_representation() -> Iterator[Row]:
    given = settings("sparse_representation")
    toy = make_toy(ToySpec(given["data"], noise=given["noise"], seed=4))
    common = {name: given[name] for name in ("points", "starts", "steps")}
    for version in ("variational_gp", "exact_gp"):
        yield {"model": version, "seed": 4, **sparse_row(toy, SparseSettings(version, seed=4, **common))}


def _roll(model: str, matching: str, seed: int, **given: Any) -> Row:
    roll = RollSpec(matching=matching, seed=seed).to_dict()
    return roll_fit({"roll": roll, "settings": asdict(RollSettings.from_dict({**given, "model": model, "seed": seed}))})


def _swiss_roll() -> Iterator[Row]:
    yield _roll("centroid_gp", "indirect", 1)


def _swiss_roll_ablation() -> Iterator[Row]:
    way = "λ held at 1e-6"
    row = _roll("bag_gp", "direct", 2, **WAYS[way])
    yield {"model": row["model"], "seed": row["seed"], "scores": row["scores"], "way": way}


def _mediator_shift() -> Iterator[Row]:
    for way, shift, seed in (("learned", 3.0, 2), ("held, far too smooth", 1.0, 5)):
        row = one_shift(shift, seed, way)
        for name in ("plain", "weighed"):
            yield {"model": name, "seed": seed, "way": way, "shift": shift, "scores": {"rmse": row[name]}}


def _fields(name: str, case: str, models: tuple[str, ...], seed: int) -> Iterator[Row]:
    given = settings(name)["settings"]
    for each in models:
        yield downscaling.one_fit({"case": case, "seed": seed, "model": each, "settings": given})


def _simulated(name: str, observed: float, seed: int, methods: tuple[str, ...]) -> Iterator[Row]:
    for row in run_problem(make_problem("exponential-gamma", observed), 100, seed, methods=methods)[1]:
        yield {**row, "observed": observed}


def _guards() -> Iterator[Row]:
    problem = make_problem("exponential-gamma", 3.0)
    for row in guard_rows(problem, 100, 5, ("dme", "cme"), (NO_EPSILON, NARROW)):
        yield {**row, **row["more"], "observed": 3.0}


def _lotka_volterra() -> Iterator[Row]:
    for row in run_problem(make_problem("lotka-volterra"), 200, 2)[1]:
        yield {**row, "simulations": 200}


def _all_methods() -> Iterator[Row]:
    yield from run_problem(make_problem("exponential-gamma"), 100, 17, methods=OTHERS)[1]


def _drawn(name: str, count: int, seed: int, methods: tuple[str, ...]) -> Iterator[Row]:
    yield from run_problem(drawn(make_problem(name), seed), count, seed, methods=methods)[1]


def _smoothing() -> Iterator[Row]:
    problem = rotation_problem(RotationSystem.named("a", "M"), 400, settings("smoothing")["test"], 1)
    kept = next(row for row in rows("smoothing") if (row["system"], row["seed"], row["model"]) == ("a", 1, "kbr"))
    scale, epsilon = (float(part.split(" = ")[1]) for part in kept["message"].split(", ")[:2])
    for row in compare_smoothers(problem, 1, FilterSettings(scale, epsilon)):
        yield {**row, "system": "a", "train": 400}


def _rules(spec: GaussianSpec, *methods: str) -> Iterator[Row]:
    for row in compare_rules(spec, methods):
        yield {**row, "dimension": spec.dimension, "size": spec.pairs}


def _clustered() -> Iterator[Row]:
    given = settings("clustered_regression")
    spec = ClusterSpec(SimulationSpec(given["subjects"], given["measures"]), given["clusters"])
    yield from cluster_sweep(spec, [0.3], [7], MethodSettings())


def _stand_in() -> Iterator[Row]:
    """The first of the 500 partitions."""
    given = settings("distribution_regression_stand_in")
    people = with_covariates(accelerometer_stand_in(given["subjects"]), given["covariates"])
    method = MethodSettings(given["family"], given["lengthscale"], intercept=True)
    found = validate_few(people, method, ("flr",), rank=given["rank"], repeats=1)["flr"]
    yield {"model": "flr", "seed": 0, "scores": {"r2_first": float(found.r2[0])}}


def _shrinkage_rates() -> Iterator[Row]:
    for row in bag_size_errors(BagSizeSpec(100, 30, unequal=True, seed=3)):
        yield {**row, **row["more"], "scores": {"risk": row["scores"]["risk"]}}


#: File → rows computed today; each has keys that single out a stored row, and its scores.
TODAY: dict[str, Callable[[], Iterator[Row]]] = {
    "camera": lambda: _camera("camera"),
    "camera_rotations": lambda: _camera("camera_rotations"),
    "clustered_regression": _clustered,
    "conditional_means": _conditional_means,
    "conditional_means_paper": _conditional_means_paper,
    "distribution_regression_stand_in": _stand_in,
    "downscaling": lambda: _fields("downscaling", "ukv-75m", ("interpolation", "centroid_gp"), 0),
    "kernel_bayes_printed": lambda: _rules(GaussianSpec(8, seed=3), PRINTED),
    "kernel_bayes_sizes_printed": lambda: _rules(GaussianSpec(6, 100, 100, 100, 2), PRINTED),
    "kernel_bayes_validated": lambda: _rules(GaussianSpec(32, seed=3), LEAST_SQUARES, FOLDED, FOLDED_ANEW),
    "likelihood_free_drawn": lambda: _drawn("exponential-gamma", 100, 41, ("dme", "kelfi", "smc_abc")),
    "likelihood_free_guards": _guards,
    "likelihood_free_methods": _all_methods,
    "likelihood_free_observed": lambda: _simulated("likelihood_free_observed", 30.0, 7, ("dme",)),
    "likelihood_free_other_seeds": lambda: iter(
        run_problem(make_problem("exponential-gamma"), 100, 77, methods=("dme", "kelfi"))[1]
    ),
    "lotka_volterra": _lotka_volterra,
    "lotka_volterra_drawn": lambda: _drawn("lotka-volterra", 2000, 6, ("cme_evidence", "kelfi")),
    "mediator_shift": _mediator_shift,
    "mediation": lambda: _fields("mediation", "mediator-0.5-0.5", ("interpolation",), 4),
    "one_dimension": _one_dimension,
    "one_dimension_free": lambda: iter([_line("dme", 200, 0, tied=False)]),
    "peers": lambda: _fields("peers", "era5-t2m-matched", ("interpolation", "gradient_boosting"), 0),
    "real_fields": lambda: _fields("real_fields", "era5-t2m-matched", ("interpolation", "regression_kriging"), 0),
    "shrinkage_rates": _shrinkage_rates,
    "smoothing": _smoothing,
    "sparse_representation": _sparse_representation,
    "swiss_roll": _swiss_roll,
    "swiss_roll_ablation": _swiss_roll_ablation,
    "trust": lambda: _fields("trust", "era5-t2m-matched", ("interpolation",), 1),
}
KEYS = ("model", "seed", "case", "matching", "way", "observed", "simulations", "system", "train", "smoothing", "noise",
        "n", "dimension", "size", "bags", "per_bag", "shift", "apart", "unequal")  # fmt: skip


@pytest.mark.parametrize("name", sorted(TODAY))
def test_stored_rows_are_what_their_command_measures_today(name: str) -> None:
    torch.set_num_threads(1)
    seen = 0
    for row in TODAY[name]():
        given = {key: row[key] for key in KEYS if key in row}
        found = [kept for kept in rows(name) if all(kept.get(key) == value for key, value in given.items())]
        assert len(found) == 1, f"{len(found)} stored rows have {given}"
        for score, value in row["scores"].items():
            if score not in TIMES and value is not None and np.isfinite(value):
                near = 2e-3 * (row["scores"].get("rmse") or 0) if score.startswith("bias") else 0  # a small difference
                assert found[0]["scores"][score] == pytest.approx(value, rel=2e-3, abs=near + 1e-6), (given, score)
                seen += 1
    assert seen


def test_no_stored_file_goes_unchecked() -> None:
    kept = {path.stem for path in FOLDER.glob("*.json")}
    assert kept == TODAY.keys() | ELSEWHERE.keys() and not TODAY.keys() & ELSEWHERE.keys()
    for name, test in ELSEWHERE.items():
        assert f"{name}.json" in (ROOT / test).read_text()
