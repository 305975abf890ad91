"""The downscaling benchmarks: models × cases × seeds, matched through a mediator (the paper's Table 2) or directly."""

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import torch

from deconditioning.device import choose
from deconditioning.downscaling.boosting import gradient_boosting
from deconditioning.downscaling.checks.assumptions import assumptions, refused
from deconditioning.downscaling.checks.learning_check import bilinear_error, compared_with_bilinear
from deconditioning.downscaling.learning import learn_model
from deconditioning.downscaling.prediction import matched_data, predict
from deconditioning.downscaling.result_dataset import ResultDataset
from deconditioning.downscaling.run import coarse_scores, jitter_sentence
from deconditioning.downscaling.settings import AUTO, DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.warping.choice import choose_warp
from deconditioning.downscaling.warping.physical_map import physical_map
from deconditioning.engine.parallel import run_all
from deconditioning.engine.reporting import NoReport, Stopwatch, peak_mb
from deconditioning.errors import InputError
from deconditioning.fields.from_dataset import fields_from_dataset
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.fields.writing.delivery import Delivery
from deconditioning.metrics.coverage_error import coverage_error
from deconditioning.metrics.field_scores import score_field
from deconditioning.metrics.predictive import Predictive
from deconditioning.models.catalogue import named
from deconditioning.models.defaults import CANDIDATES
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.downscaling.given_fields import (
    FIELD_FEW,
    FIELD_MATCHED,
    FIELD_MEDIATED,
    FieldNotThereError,
    problem_of_field,
)
from deconditioning.studies.downscaling.optimal_interpolation import optimal_interpolation

_EXACT = ("shrinkage_cmp", "cmp", "bag_gp", "centroid_gp")
_VARIATIONAL = ("variational_cmp", "vbagg", "variational_gp")
#: The shrinkage CMP with ℓ and λ learned by the evidence with everything else, not from the bags left out.
JOINT = "shrinkage_joint"
#: The same in the way that learning chooses.
CHOSEN = "shrinkage_chosen"
#: The default with its most probable hyperparameters taken as known, where cells are few.
_MOST_PROBABLE = "most_probable"
#: Name of a row → the model, and the settings that it changes.
_OTHER_WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    JOINT: ("shrinkage_cmp", {"stage_one": "joint"}),
    CHOSEN: ("shrinkage_cmp", {"stage_one": "choose"}),
    _MOST_PROBABLE: ("area_to_point_gp", {"integrate": False}),
}
#: Peers that are no Gaussian process.
BOOSTING, _INTERPOLATION = "gradient_boosting", "optimal_interpolation"
_PEERS: dict[str, Callable[[DownscalingProblem], Predictive]] = {
    BOOSTING: gradient_boosting, _INTERPOLATION: optimal_interpolation,
}  # fmt: skip
#: Case → data set and the changes to its own settings: matched through a mediator. ``planets``: (rows, columns) of
#: synthetic planets, another one for each seed; ``seeds``: how many seeds it has at most.
MEDIATED: dict[str, dict[str, Any]] = {
    "ukv-645m": {"data": "ukv-645m", "problem": {"withhold": 0.5, "mediators": ["surface_altitude"]}},
    "ukv-75m": {"data": "ukv-75m", "problem": {"withhold": 0.5, "mediators": ["surface_altitude"]}},
    "era5-t2m": {"data": "era5-t2m", "problem": {"withhold": 0.5, "mediators": ["sp"]}},
    "gdas-ttop": {"data": "gdas-ttop", "problem": {"withhold": 0.5, "mediators": ["ctp"]}},
    "planets-2deg": {"data": "atmosphere-small", "problem": {}, "planets": (90, 180)},
    "planet-half-deg": {"data": "atmosphere", "problem": {}, "seeds": 2},
}
#: The same for real fields, half of whose cells are withheld and the others matched.
MATCHED: dict[str, dict[str, Any]] = {
    f"{data}-matched": {"data": data, "problem": {"withhold": 0.5}}
    for data in ("ukv-645m", "ukv-75m", "era5-t2m", "gdas-ttop")
}
#: Generated fields by what their mediator depends on, from the covariate alone (0) to the target itself (1), and by the
#: sd of the part of the target that no covariate explains.
MEDIATORS: dict[str, dict[str, Any]] = {
    f"mediator-{mediator:g}-{unexplained:g}": {
        "mediator": mediator,
        "unexplained": unexplained,
        "problem": {"target": "target", "covariates": ["covariate"], "mediators": ["mediator"], "block": [4, 4],
                    "withhold": 0.5, "coordinates": False},
    }
    for unexplained in (0.0, 0.5)
    for mediator in (0.0, 0.5, 1.0)
}  # fmt: skip
CASES = MEDIATED | MATCHED | MEDIATORS | FIELD_MATCHED | FIELD_MEDIATED | FIELD_FEW
#: Cases of real fields, those that come with the project and those that are given, by how cells are matched.
REAL_MATCHED, REAL_MEDIATED = (
    (*MATCHED, *FIELD_MATCHED),
    ("ukv-645m", "ukv-75m", "era5-t2m", "gdas-ttop", *FIELD_MEDIATED),
)
#: The models that the default is compared with, by how cells are matched.
SINGLE = {True: ("area_to_point_gp", "regression_kriging"), False: CANDIDATES}
#: What the benchmark of real fields runs: how far the default can be trusted (`trust_summary`).
REAL_FIELDS: dict[str, Any] = {
    "models": (AUTO, *dict.fromkeys((*SINGLE[True], *SINGLE[False]))),
    "cases": (*REAL_MATCHED, *REAL_MEDIATED),
    "seeds": (0, 1),
    "settings": {},
}
#: Coverage from few cells: hyperparameters integrated out, and the most probable ones taken as known.
_FEW_CELLS: dict[str, Any] = {
    "models": ("area_to_point_gp", _MOST_PROBABLE),
    "cases": tuple(FIELD_FEW),
    "seeds": tuple(range(10)),
    "settings": {},
}
#: When mediation helps; all with priors, as the evidence of few targets runs away without.
MEDIATION: dict[str, Any] = {
    "models": ("task_transformed_gp", "shrinkage_cmp", JOINT, CHOSEN, "bag_gp"),
    "cases": tuple(MEDIATORS),
    "seeds": tuple(range(10)),
    "settings": {"prior_sd": 1.0},
}
#: What the benchmark of matched cells compares: every model learns as it does by default.
TRUST: dict[str, Any] = {
    "models": ("area_to_point_gp", "regression_kriging", "bag_gp", "shrinkage_cmp", BOOSTING),
    "cases": tuple(MATCHED),
    "seeds": tuple(range(5)),
    "settings": {},
}
#: The default and kriging of residuals beside what other tools offer, on matched cells of real fields.
PEERS: dict[str, Any] = {
    "models": (AUTO, "regression_kriging", *_PEERS),
    "cases": REAL_MATCHED,
    "seeds": (0, 1),
    "settings": {},
}
#: What a benchmark runs that is not the paper's, by its name.
OWN = {
    "trust": TRUST, "mediation": MEDIATION, "real-fields": REAL_FIELDS, "few-cells": _FEW_CELLS, "peers": PEERS,
}  # fmt: skip


@dataclass(frozen=True)
class DownscalingBenchmark:
    """What to run; ``settings`` change the model's defaults (``DownscaleSettings``)."""

    models: tuple[str, ...] = (*CANDIDATES, *_EXACT, *_VARIATIONAL)
    cases: tuple[str, ...] = tuple(MEDIATED)
    seeds: tuple[int, ...] = tuple(range(10))
    settings: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for model in self.models:
            if model not in (*_PEERS, AUTO):
                named(_OTHER_WAYS.get(model, (model, {}))[0])
        unknown = [case for case in self.cases if case not in CASES]
        if unknown:
            raise InputError(f"The case '{unknown[0]}' is unknown: choose among {', '.join(CASES)}.")
        if not (self.models and self.cases and self.seeds):
            raise InputError("A benchmark needs at least one model, one case and one seed.")
        DownscaleSettings.from_dict(self.settings)

    @staticmethod
    def from_dict(value: dict[str, Any]) -> "DownscalingBenchmark":
        """From plain data."""
        lists: dict[str, Any] = {key: tuple(value[key]) for key in ("models", "cases", "seeds") if key in value}
        return DownscalingBenchmark(**{**value, **lists})

    def items(self) -> list[dict[str, Any]]:
        """One entry a fit, and one a seed and case for the interpolations; seeds outermost."""
        out: list[dict[str, Any]] = []
        for index, seed in enumerate(self.seeds):
            for case in self.cases:
                if index < CASES[case].get("seeds", len(self.seeds)):
                    names = ("interpolation", *(model for model in self.models if _suits(model, case)))
                    out += [{"case": case, "seed": seed, "model": name, "settings": self.settings} for name in names]
        return out


def _suits(model: str, case: str) -> bool:
    """Whether a model is for a case: partial models need mediators, and kriging of pseudo-targets is no candidate."""
    if case not in REAL_FIELDS["cases"]:
        return True
    return model != ("partial_cmp" if case in REAL_MATCHED else "regression_kriging")


def one_fit(item: dict[str, Any]) -> dict[str, Any]:
    """One row: case, model, seed, scores against the truth at every pixel, seconds, whether a user without a truth
    would have been warned; a refusal says why."""
    torch.set_num_threads(1)
    row = {"case": item["case"], "model": item["model"], "seed": item["seed"]}
    try:
        return row | _fit(item)
    except InputError as error:
        status = "skipped" if isinstance(error, FieldNotThereError) else "failed"
        return {**row, "status": status, "message": str(error), "scores": {}, "seconds": None, "peak_mb": None}


def problem_of(name: str, seed: int) -> DownscalingProblem:
    """The problem of a case: which cells are withheld, and for planets which planet it is, follow from the seed."""
    from deconditioning.datasets.entries import atmosphere_fields, find
    from deconditioning.datasets.mediated import make_mediated

    case = CASES[name]
    if "file" in case:
        return problem_of_field(case, seed)
    if "unexplained" in case:
        made = fields_from_dataset(make_mediated(case["mediator"], case["unexplained"], seed))
        return make_problem(made, DownscalingSpec.from_dict({**case["problem"], "seed": seed}))
    spec = DownscalingSpec.from_dict({**find(case["data"]).default, **case["problem"], "seed": seed})
    if "planets" in case:
        return make_problem(atmosphere_fields(case["planets"], seed), spec)
    return build_problem(Source(case["data"]), spec)


def _fit(item: dict[str, Any]) -> dict[str, Any]:
    from deconditioning.fields.problem.baselines import interpolations
    from deconditioning.metrics.pointwise import rmse

    problem = problem_of(item["case"], item["seed"])
    assert problem.truth is not None
    if item["model"] == "interpolation":
        return {"status": "ok", "message": None, "seconds": None, "peak_mb": None, **_interpolated(problem)}
    watch = Stopwatch()
    if item["model"] in _PEERS:
        made = _PEERS[item["model"]](problem)
        scores = score_field(problem.truth, made, area=problem.grid.area)
        return {"status": "ok", "message": None, "warned": False, "scores": scores, "seconds": watch.seconds(),
                "reaggregated": _reaggregated(problem, made.mean), "peak_mb": peak_mb(choose("cpu"))}  # fmt: skip
    row = _learned(problem, item)
    errors = {name: rmse(truth=problem.truth, mean=each) for name, each in interpolations(problem).items()}
    best = min(errors, key=errors.__getitem__)
    return {"status": "ok", **row, "best_interpolation": {"name": best, "rmse": errors[best]}}


def _learned(problem: DownscalingProblem, item: dict[str, Any]) -> dict[str, Any]:
    """What a row says of one of the project's models, learned on a problem."""
    assert problem.truth is not None
    watch = Stopwatch()
    model, way = _OTHER_WAYS.get(item["model"], (item["model"], {"stage_one": "leave_one_bag_out"}))
    settings = DownscaleSettings.from_dict({**way, **item["settings"], "model": model, "seed": item["seed"]})
    device = choose(settings.device)
    warped = choose_warp(problem, settings.replace(learn=True), NoReport())
    problem = warped.problem
    learned, guard = learn_model(problem, warped.settings, known=warped.checked)
    data = matched_data(problem, learned.spec)
    result = predict(learned.spec, data, problem, device=device)
    seconds = watch.seconds()
    predictive = physical_map(problem, result.parts, result.cells)
    coverage = None if guard.one_scale_up is None else guard.one_scale_up.held
    guard = compared_with_bilinear(problem, learned.spec.model, result.left_out, bilinear_error(problem), guard)
    rests_on = assumptions(problem, learned.spec, data, predictive.mean, predictive.sd, coverage)
    sentences = [
        *guard.sentences,
        *learned.warnings,
        *jitter_sentence(result.jitter),
        *result.notes,
        *refused(rests_on),
    ]
    entry: dict[str, Any] = {"message": " ".join(sentences) or None, "warned": bool(sentences), "warnings": sentences}
    if (checked := guard.one_scale_up) is not None:
        entry["one_scale_up"] = {"rmse": checked.rmse, "t": checked.t, "held": checked.held, "cpu_s": checked.cpu_s}
        entry |= {"claims": checked.claims, "weights": checked.weights}
    assert problem.truth is not None
    scores = score_field(problem.truth, predictive, area=problem.grid.area)
    entry["warp"] = None if problem.warp is None else problem.warp.to_dict()
    if item["model"] == AUTO:
        entry["spectra"] = _spectra(problem, learned.spec, predictive)
    entry["reaggregated"] = _reaggregated(problem, predictive.mean)
    entry["coverage_error"] = coverage_error(problem.truth, predictive, problem.cell, problem.coarse_shape)
    return {**entry, "scores": scores, "seconds": seconds, "peak_mb": peak_mb(device)}


def _reaggregated(problem: DownscalingProblem, mean: np.ndarray) -> float | None:
    """RMSE of the map averaged back over the visible cells against their values, as a share of these values' sd."""
    visible = coarse_scores(problem.plain, mean).get("seen")
    return None if visible is None else visible["rmse"] / float(np.std(problem.plain.coarse[problem.observed]))


def _spectra(problem: DownscalingProblem, spec: ModelSpec, predictive: Predictive) -> dict[str, Any] | None:
    """Power of the mean, of ten draws and of the truth in thirds of the wavenumbers; None for a very small grid."""
    spectra = ResultDataset(problem, spec, predictive, settings={}).drawn(Delivery(draws=10))[1]
    return None if spectra is None else spectra.to_dict()


def _interpolated(problem: DownscalingProblem) -> dict[str, Any]:
    """Scores of the interpolations: the row's own are bilinear's, all of them ride along under ``more``."""
    from deconditioning.fields.problem.baselines import interpolations, lapse_rate

    assert problem.truth is not None
    every = interpolations(problem)
    if (result := lapse_rate(problem)) is not None:
        every["lapse_rate"] = result
    scores = {name: score_field(problem.truth, values, area=problem.grid.area) for name, values in every.items()}
    return {"scores": scores["bilinear"], "more": scores}


def expanded(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with each interpolation in a row of its own."""
    out = []
    for row in rows:
        if "more" in row:
            plain = {key: value for key, value in row.items() if key != "more"}
            out += [{**plain, "model": name, "scores": scores} for name, scores in row["more"].items()]
        else:
            out.append(row)
    return out


def picked(rows: list[dict[str, Any]]) -> tuple[int, int]:
    """How many pairs of ways one scale up put into the order that they have at the pixels, and of how many pairs.

    Pairs are of two models, or of a model and bilinear interpolation, on the same case and seed.
    """
    at_pixels = {(row["case"], row["seed"], row["model"]): row["scores"] for row in expanded(rows)}
    cases: dict[tuple[str, int], dict[str, tuple[float, float]]] = {}
    for row in rows:
        above = (row.get("one_scale_up") or {}).get("rmse", {})
        for way in {row["model"], "bilinear"} & above.keys():
            if scores := at_pixels.get((row["case"], row["seed"], way)):
                cases.setdefault((row["case"], row["seed"]), {})[way] = (above[way], scores["rmse"])
    pairs = [pair for ways in cases.values() for pair in combinations(ways.values(), 2)]
    return sum((a[0] - b[0]) * (a[1] - b[1]) > 0 for a, b in pairs), len(pairs)


def chosen(rows: list[dict[str, Any]]) -> list[tuple[float, float]]:
    """Of each case and seed the RMSE at the pixels of the model that one scale up chose among `CANDIDATES`, and of the
    other one."""
    result: dict[tuple[str, int], dict[str, dict[str, Any]]] = {}
    for row in rows:
        if row["model"] in CANDIDATES and row["scores"]:
            result.setdefault((row["case"], row["seed"]), {})[row["model"]] = row
    pairs = []
    for models in result.values():
        checked: list[dict[str, float]] = [row["one_scale_up"]["rmse"] for row in models.values()
                                           if row.get("one_scale_up")]  # fmt: skip
        above = checked[0] if checked else {}
        if len(models) == 2 and set(CANDIDATES) <= above.keys():
            first, other = sorted(CANDIDATES, key=above.__getitem__)
            pairs.append((models[first]["scores"]["rmse"], models[other]["scores"]["rmse"]))
    return pairs


def benchmark_task(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """The engine's task: every fit of a ``DownscalingBenchmark``, each row reported when done; ``done``: rows kept."""
    spec = DownscalingBenchmark.from_dict(
        {key: value for key, value in settings.items() if key not in ("seed", "done")}
    )
    return run_all(one_fit, spec.items(), asdict(spec), context, settings.get("done", ()))
