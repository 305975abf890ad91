"""Risks, curves and cross-validation of distribution regression, each by a second route."""

import numpy as np
import pytest
import torch
from scipy.stats import t as student

from deconditioning.distribution_regression.gpdr import fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.stand_in import accelerometer_stand_in
from deconditioning.distribution_regression.subjects import subset
from deconditioning.errors import InputError
from deconditioning.studies.distribution_regression.curves import curves, paired_tests, slope, slopes, theory_exponent
from deconditioning.studies.distribution_regression.study import (
    METHODS,
    MethodSettings,
    part,
    posterior_risk,
    regress,
    risk_by_draws,
    risk_sweep,
    sums_of,
)
from deconditioning.studies.distribution_regression.validation import PREDICTORS, cross_validate, folds_of

GIVEN = MethodSettings()


def test_the_risk_in_closed_form_is_that_of_many_draws_and_of_a_fine_grid():
    subjects = simulate(SimulationSpec(40, 100, 2)).subjects
    found, _ = regress(sums_of("gpdr", subjects, GIVEN), subjects, GIVEN.regression(("x",)), GIVEN)
    exact = posterior_risk(found)
    assert risk_by_draws(found, 20_000, 0) == pytest.approx(exact, rel=0.02)
    x = np.linspace(0, 1, 2001)
    mean, variance = found.moments(torch.from_numpy(x)[:, None])
    at = (mean.numpy() - regression_function(x)) ** 2 + variance.numpy()
    assert np.trapezoid(at, x) == pytest.approx(exact, rel=1e-5)


def test_the_sweep_is_the_same_as_single_runs():
    rows = risk_sweep([6, 15], [10, 30], [3, 4], GIVEN)
    assert len(rows) == 2 * 2 * 2 * len(METHODS)
    alone = risk_sweep([6], [10], [4], GIVEN, ("kde",))
    same = next(
        r for r in rows if (r["subjects"], r["measures"], r["seed"], r["model"]) == (6, 10, 4, "kde")
    )  # fmt: skip
    assert same["scores"]["posterior_risk"] == pytest.approx(alone[0]["scores"]["posterior_risk"], rel=1e-10)
    whole = simulate(SimulationSpec(15, 30, 3))
    assert np.array_equal(part(whole, 6, 10).subjects.measures, simulate(SimulationSpec(6, 10, 3)).subjects.measures)


def test_curves_gather_pair_and_measure_slopes():
    rows = [
        {"model": model, "subjects": n, "measures": 9, "seed": seed,
         "scores": {"posterior_risk": (1 + (model == "kde")) * (1 + 0.01 * seed) / n}}
        for model in ("gpdr", "kde") for n in (10, 40) for seed in range(8)
    ]  # fmt: skip
    found = curves(rows)
    assert found[0]["seeds"] == list(range(8)) and found[0]["mean"] == pytest.approx(1.035 / 10)
    assert found[0]["se"] == pytest.approx(np.std(found[0]["risks"], ddof=1) / 8**0.5)
    test = paired_tests(found)[0]
    assert (test["first"], test["second"], test["n"]) == ("gpdr", "kde", 8) and test["difference"] < 0
    assert test["p_value"] == pytest.approx(2 / 2**8)
    gap = np.array([(1 + 0.01 * seed) / 10 for seed in range(8)])  # kde's risk is twice gpdr's
    assert test["mean_difference"] == pytest.approx(-gap.mean())
    t = gap.mean() / (gap.std(ddof=1) / 8**0.5)
    assert test["p_mean"] == pytest.approx(2 * student.sf(t, 7))
    assert [s["slope"] for s in slopes(found)] == [pytest.approx(-1.0)] * 2
    assert slope([1, 10], [5, 0.5]) == pytest.approx(-1.0)
    assert theory_exponent("matern52") == pytest.approx(-5 / 6) and theory_exponent("rbf") == -1


def test_the_risk_falls_with_n_and_gpdr_beats_the_densities_at_many_measures():
    found = curves(risk_sweep([50, 200], [2000], range(6), GIVEN, ("gpdr", "kde")))
    mean = {(c["model"], c["subjects"]): c["mean"] for c in found}
    assert mean["gpdr", 200] < 0.7 * mean["gpdr", 50]
    assert mean["gpdr", 200] < mean["kde", 200] and mean["gpdr", 50] < mean["kde", 50]


@pytest.mark.parametrize("noise_by", ["learned", "gibbs"])
def test_noise_that_is_not_given_comes_near_the_truth(noise_by):
    subjects = simulate(SimulationSpec(200, 500, 1)).subjects
    settings = MethodSettings(noise=1.0, noise_by=noise_by, rank=30)
    found, drawn = regress(sums_of("gpdr", subjects, settings), subjects, settings.regression(("x",)), settings)
    assert float(found.noises.mean()) == pytest.approx(0.01, rel=0.25)
    assert (drawn is not None) == (noise_by == "gibbs")


def test_cross_validation_is_refitting_without_the_fold():
    people = accelerometer_stand_in(30, 1, minutes=60)
    settings = MethodSettings("matern52", 3.0, 1e3, 100.0, intercept=True)
    found = cross_validate(people, settings, ("gpdr", "flr"), folds=3, repeats=2, seed=5)
    spec, y = settings.regression(people.columns), people.outcomes.numpy()
    scores = []
    for held in folds_of(30, 3, 5):
        train = np.setdiff1d(np.arange(30), held)
        own = subset(people, train)
        fitted = fit(spec, KernelSums(own.bags, own.columns), own.outcomes, own.covariates)
        means = fitted.sums.cross(spec.kernel, people.bags.inputs)  # l(s) at every value, then its mean
        member = torch.zeros(30, len(people.bags.inputs), dtype=torch.float64)
        member[people.bags.bag, torch.arange(len(people.bags.inputs))] = people.bags.weights
        design = torch.cat([torch.ones(30, 1, dtype=torch.float64), people.covariates], 1)
        mean, _ = fitted.predict((means @ member.T)[:, held], torch.ones(len(held)).double(), design[held])
        assert np.abs(mean.numpy() - found["gpdr"].predicted[held]).max() < 1e-7
        scores.append(1 - ((y[held] - mean.numpy()) ** 2).sum() / ((y[held] - y[held].mean()) ** 2).sum())
    assert found["gpdr"].r2[0] == pytest.approx(np.mean(scores))
    assert found["flr"].r2.shape == (2,) and found["flr"].interval[0] <= found["flr"].interval[1]


def test_the_average_alone_is_least_squares_on_the_means_of_the_raw_measures():
    people = accelerometer_stand_in(30, 1, minutes=60)
    found = cross_validate(people, GIVEN, ("average",), folds=3, repeats=1, seed=5)["average"]
    raw, owner = people.measures[:, 0].numpy(), people.owner.numpy()
    design = np.array([[*people.covariates[i].tolist(), raw[owner == i].mean(), 1.0] for i in range(30)])
    y = people.outcomes.numpy()
    for held in folds_of(30, 3, 5):
        train = np.setdiff1d(np.arange(30), held)
        slopes = np.linalg.solve(design[train].T @ design[train], design[train].T @ y[train])
        assert np.allclose(found.predicted[held], design[held] @ slopes)


@pytest.mark.parametrize("seed", [0, 3])
def test_a_function_that_is_no_line_is_seen_by_the_distribution_and_not_by_the_average(seed):
    subjects = simulate(SimulationSpec(200, 200, seed)).subjects
    found = cross_validate(subjects, MethodSettings(), ("gpdr", "average"), repeats=3)
    assert found["gpdr"].r2.mean() > found["average"].r2.mean() + 0.03


def test_learning_on_each_fold_helps_a_poor_start():
    subjects = simulate(SimulationSpec(60, 200, 0, spread=3.0)).subjects
    poor = MethodSettings(lengthscale=0.02, variance=1e-3, noise=1.0, intercept=True)
    given = cross_validate(subjects, poor, ("gpdr",), repeats=1)["gpdr"].r2[0]
    learned = cross_validate(subjects, poor, ("gpdr",), repeats=1, learned=True)["gpdr"].r2[0]
    assert learned > given + 0.05


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: MethodSettings(family="cubic"), "kernel 'cubic' is unknown"),
        (lambda: MethodSettings(noise_by="luck"), "noise 'luck'"),
        (lambda: sums_of("guess", None, GIVEN), "method 'guess'"),
        (lambda: folds_of(10, 7, 0), "give 2 to 5"),
        (lambda: folds_of(3, 2, 0), "at least 4"),
        (lambda: cross_validate(simulate(SimulationSpec(9, 5)).subjects, GIVEN, ("no",)), ", ".join(PREDICTORS)),
    ],
)
def test_wrong_settings_are_a_sentence(call, word):
    with pytest.raises(InputError, match=word):
        call()
