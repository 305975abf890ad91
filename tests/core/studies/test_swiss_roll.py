"""The swiss roll experiment: every model, both matchings, the benchmark and its table; bad input."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.bag_sums.cached_terms import SumsStore
from deconditioning.bag_sums.pixel_sums import term_sums
from deconditioning.datasets.swiss_roll import RollSpec, make_swiss_roll
from deconditioning.engine.context import Context
from deconditioning.errors import Cancelled, InputError
from deconditioning.kernels.spec import KernelSpec
from deconditioning.models.catalogue import GENERAL, named
from deconditioning.models.learning.learning import LearningOptions, learn
from deconditioning.models.named_posterior import named_posterior
from deconditioning.models.spec import ModelSpec
from deconditioning.studies.benchmark_table import table_rows
from deconditioning.studies.downscaling.benchmark import (
    MATCHED,
    MEDIATED,
    MEDIATION,
    MEDIATORS,
    TRUST,
    DownscalingBenchmark,
    chosen,
    expanded,
    problem_of,
)
from deconditioning.studies.downscaling.benchmark import one_fit as one_downscaling
from deconditioning.studies.swiss_roll.benchmark import PAPER, BenchmarkSpec, benchmark_task
from deconditioning.studies.swiss_roll.study import (
    COLUMNS,
    RollSettings,
    data_for,
    fit_roll,
    posterior_at_points,
    starting_spec,
)

QUICK = {"restarts": 1, "steps": 25, "points": 8, "inducing": 40}
ROLL = {"points": 600, "bags": 20}


def as_learned(spec: ModelSpec) -> RollSettings:
    """Settings that stay at what was learned."""
    assert spec.mediator_kernel is not None
    return RollSettings(
        model=spec.model.name,
        kernel=spec.kernel.to_dict(),
        mediator_kernel=spec.mediator_kernel.to_dict(),
        regularisation=spec.regularisation,
        noise=spec.noise,
        point_noise=spec.point_noise,
        learn=False,
    )


def test_the_shrinkage_process_recovers_the_roll_and_its_settings_give_it_again():
    found = fit_roll(make_swiss_roll(RollSpec(points=2000)), RollSettings(model="shrinkage_cmp", restarts=2))
    assert found.scores["rmse"] < 0.3 and found.scores["coverage95"] > 0.7
    roll = make_swiss_roll(RollSpec(points=2000))
    again = fit_roll(roll, as_learned(found.spec))
    assert torch.allclose(again.mean, found.mean, atol=1e-8) and again.spec.kernel == found.spec.kernel


@pytest.mark.parametrize("model", GENERAL)
def test_every_model_learns_on_unmatched_slices(model):
    roll = make_swiss_roll(RollSpec(**ROLL, matching="indirect"))
    found = fit_roll(roll, RollSettings.from_dict({"model": model, **QUICK}))
    assert found.scores["rmse"] < 1.6 and found.mean.shape == (600,) and not found.cancelled


@pytest.mark.parametrize("bound", ["collapsed", "stochastic"])
def test_both_bounds_learn_a_sparse_model(bound):
    roll = make_swiss_roll(RollSpec(**ROLL))
    found = fit_roll(roll, RollSettings.from_dict({"model": "vbagg", **QUICK, "bound": bound}))
    assert found.scores["rmse"] < 0.8


def test_pseudo_targets_belong_to_their_own_bags():
    """Heights and pseudo-targets move together: the public code's mistake would break this."""
    roll = make_swiss_roll(RollSpec(matching="indirect", noise=0.0))
    data = data_for(roll, named("bag_gp"))
    truth = torch.tensor([float(roll.truth[roll.slice == j].mean()) for j in roll.with_points])
    right = float(torch.corrcoef(torch.stack([data.targets, truth]))[0, 1])
    in_order = float(torch.corrcoef(torch.stack([data.targets.sort().values, truth]))[0, 1])
    assert right > 0.6 and in_order < right - 0.2


def test_the_priors_hold_hyperparameters_near_their_start_and_zero_width_means_none():
    roll = make_swiss_roll(RollSpec(**ROLL, matching="indirect"))
    spec = starting_spec(roll, RollSettings(model="cmp"))
    moved = {}
    for width in (0.05, 0.0):
        options = LearningOptions("joint", restarts=1, steps=20, prior_sd=width)
        learned = learn(spec, roll.data, COLUMNS, options)
        evidence = named_posterior(learned.spec, roll.data, COLUMNS).evidence
        assert learned.evidence == pytest.approx(evidence, abs=1e-5)  # the prior is not counted in
        moved[width] = max(abs(1 - v) for v in learned.spec.kernel.terms[0].factors[0].lengthscales)
    assert moved[0.05] < 0.1 < moved[0.0]


def test_the_benchmark_reports_every_row_and_a_cancel_keeps_those_finished():
    settings = {"models": ["cmp", "vbagg"], "matchings": ["direct"], "seeds": [0, 1], "roll": ROLL, "settings": QUICK}
    context = Context()
    found = benchmark_task({**settings, "seed": 0}, context)
    assert len(found["rows"]) == 4 and not found["cancelled"]
    assert [row["row"]["model"] for row in context.trace] == ["cmp", "vbagg"] * 2
    table = table_rows(found["rows"], "matching", "direct", paper=PAPER["direct"])
    assert [row["model"] for row in table] == ["cmp", "vbagg"] and table[0]["n"] == 2
    scores = [row["scores"]["rmse"] for row in found["rows"] if row["model"] == "cmp"]
    assert table[0]["mean"] == pytest.approx(sum(scores) / 2) and table[0]["paper"] == (0.33, 0.06)

    class Stops(Context):
        def check(self):
            if len(self.trace) == 2:
                raise Cancelled

    stopped = benchmark_task(settings, Stops())
    assert stopped["cancelled"] and len(stopped["rows"]) == 2


@pytest.mark.parametrize(
    ("roll", "settings", "word"),
    [
        ({"points": 100}, {"model": "variational_cmp"}, "contain 100 points"),
        ({}, {"model": "nonsense"}, "unknown"),
        ({}, {"nonsense": 1}, "unknown"),
        ({}, {"model": "cmp", "regularisation": 0.0, "learn": False, "mediator_lengthscale": 500.0}, "raise λ"),
        ({}, {"model": "vbagg", "noise": 0.0, "learn": False}, "σ² is 0"),
    ],
)
def test_bad_settings_are_a_sentence(roll, settings, word):
    with pytest.raises(InputError, match=word):
        fit_roll(make_swiss_roll(RollSpec(**{"points": 300, "bags": 10, **roll})), RollSettings.from_dict(settings))


def test_duplicated_points_and_a_bag_of_one_point_work(unchecked):
    roll = make_swiss_roll(RollSpec(points=60, bags=30))
    assert int(torch.bincount(roll.slice).min()) == 1
    twice = replace(roll, inputs=roll.inputs.repeat(2, 1), truth=roll.truth.repeat(2))
    found = fit_roll(twice, RollSettings(model="shrinkage_cmp", learn=False))
    assert torch.allclose(found.mean[:60], found.mean[60:], atol=1e-9)


def test_the_downscaling_benchmark_scores_models_and_interpolations():
    item = {"case": "planets-2deg", "seed": 0, "settings": {"restarts": 1, "steps": 3, "points": 3, "inducing": 30}}
    rows = [one_downscaling({**item, "model": name}) for name in ("interpolation", "variational_gp")]
    assert [row["status"] for row in rows] == ["ok", "ok"], [row["message"] for row in rows]
    assert [row["model"] for row in expanded(rows)] == ["constant", "bilinear", "bicubic", "variational_gp"]
    assert {"rmse", "mae", "pearson", "ssim", "crps", "coverage95"} <= set(rows[1]["scores"])
    matched = {"case": "ukv-75m-matched", "seed": 1, "settings": {"steps": 1, "restarts": 1, "points": 2}}
    row = one_downscaling({**matched, "model": "regression_kriging"})
    assert row["status"] == "ok" and row["warned"] is bool(row["message"]), row["message"]
    assert row["scores"]["rmse"] < one_downscaling({**matched, "model": "interpolation"})["scores"]["rmse"]
    assert DownscalingBenchmark.from_dict(TRUST).cases == tuple(MATCHED)
    spec = DownscalingBenchmark(seeds=(0,))
    assert spec.cases == tuple(MEDIATED)
    for case in spec.cases:
        assert {entry["model"] for entry in spec.items() if entry["case"] == case} == {"interpolation", *spec.models}
    for wrong in ({"cases": ("x",)}, {"models": ("x",)}, {"seeds": ()}):
        with pytest.raises(InputError):
            DownscalingBenchmark(**wrong)


def test_made_up_cases_are_others_for_every_seed_and_large_ones_have_few():
    first, second = (problem_of("planets-2deg", seed) for seed in (0, 1))
    assert not np.allclose(first.truth, second.truth) and not np.array_equal(first.observed, second.observed)
    target, covariate = (problem_of(f"mediator-{mediator}-0.5", 0) for mediator in ("1", "0"))
    assert np.array_equal(target.truth, covariate.truth) and not target.spec.coordinates
    assert not torch.equal(target.data.mediators, covariate.data.mediators)
    items = DownscalingBenchmark(seeds=(3, 4, 5), models=("cmp",)).items()
    assert [each["seed"] for each in items if each["case"] == "planet-half-deg" and each["model"] == "cmp"] == [3, 4]
    assert DownscalingBenchmark.from_dict(MEDIATION).cases == tuple(MEDIATORS)


def test_what_one_scale_up_chose_stands_before_the_other():
    def row(model: str, seed: int, rmse: float, above: dict[str, float] | None) -> dict:
        checked = {"rmse": above} if above else None
        return {"case": "x", "seed": seed, "model": model, "scores": {"rmse": rmse}, "one_scale_up": checked}

    above = {"area_to_point_gp": 2.0, "partial_cmp": 1.0}
    both = [row("area_to_point_gp", 0, 5.0, above), row("partial_cmp", 0, 4.0, above), row("cmp", 0, 1.0, above)]
    alone, unchecked = [row("partial_cmp", 1, 3.0, above)], [row(name, 2, 3.0, None) for name in above]
    assert chosen([*both, *alone, *unchecked]) == [(4.0, 5.0)]
    assert chosen([{**each, "case": "y"} for each in both[::-1]]) == [(4.0, 5.0)]


def test_a_benchmark_of_nothing_is_refused():
    for wrong in ({"models": ()}, {"models": ("x",)}, {"settings": {"x": 1}}):
        with pytest.raises(InputError):
            BenchmarkSpec(**wrong)


@pytest.mark.parametrize("matching", ["direct", "indirect"])
@pytest.mark.parametrize("model", ["cmp", "shrinkage_cmp", "bag_gp", "centroid_gp", "variational_cmp"])
def test_pairs_of_points_may_be_evaluated_once(matching, model):
    roll = make_swiss_roll(RollSpec(300, 12, 0.05, matching, 3))
    data, spec = data_for(roll, named(model)), starting_spec(roll, RollSettings(model=model, inducing=40))
    assert torch.equal(roll.inputs[roll.points], roll.data.bags.inputs)
    mean, sd = posterior_at_points(spec, data, roll.inputs, roll.points)
    other_mean, other_sd = posterior_at_points(spec, data, roll.inputs)
    assert torch.allclose(mean, other_mean, atol=1e-9) and torch.allclose(sd, other_sd, atol=1e-8)


def test_kept_sums_serve_another_amplitude_and_no_other_roll(monkeypatch):
    asked = []
    monkeypatch.setattr(
        "deconditioning.bag_sums.cached_terms.term_sums", lambda *a, **k: asked.append(a) or term_sums(*a, **k)
    )
    store = SumsStore()
    for seed, scale, passes in ((3, 1.0, 1), (3, 2.5, 1), (4, 2.5, 2)):
        roll = make_swiss_roll(RollSpec(300, 12, 0.05, "direct", seed))
        spec = starting_spec(roll, RollSettings())
        spec = replace(spec, kernel=KernelSpec((replace(spec.kernel.terms[0], scale=scale),)))
        kept = posterior_at_points(spec, roll.data, roll.inputs, roll.points, cache=(store, repr(roll.spec)))
        anew = posterior_at_points(spec, roll.data, roll.inputs)
        assert len(asked) == passes
        for mine, other in zip(kept, anew, strict=True):
            assert torch.allclose(mine, other, atol=1e-8)
