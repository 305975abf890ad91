"""Estimators on arrays and tables: their manners, the studies' own numbers, and second routes by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import deconditioning
from deconditioning import DistributionRegression, InputError, KernelBayesFilter, KernelBayesRule, LikelihoodFree
from deconditioning.filtering.systems import RotationSystem
from deconditioning.studies.filtering.study import FilterSettings, follow, rotation_problem
from deconditioning.studies.kernel_bayes.study import GaussianSpec, gaussian_rule, kernel_bayes_weights, make_gaussian

RNG = np.random.default_rng(5)


def people(count: int = 12, seed: int = 0) -> pd.DataFrame:
    """A long table whose outcome is the mean of a square."""
    rng = np.random.default_rng(seed)
    rows = []
    for person in range(count):
        x = rng.normal(rng.uniform(-1, 1), 0.5, 8)
        rows += [{"id": f"p{person}", "x": v, "y": float((x**2).mean()), "w": float(person % 3)} for v in x]
    return pd.DataFrame(rows)


ROLES: dict[str, Any] = {"subject": "id", "values": "x", "outcome": "y"}
FITS = {
    "KernelBayesRule": ({"scale": 0.7}, lambda e: e.fit(RNG.normal(size=(20, 1)), RNG.normal(size=20)).posterior(0.1)),
    "KernelBayesFilter": (
        {"scale": 0.7, "regularisation": 1e-4},
        lambda e: e.fit(np.sin(np.arange(30.0)), np.cos(np.arange(30.0))).filter(np.cos(np.arange(4.0))),
    ),
    "DistributionRegression": ({"learn": False}, lambda e: e.fit(people(), **ROLES).predict(people(3, seed=1))),
    "LikelihoodFree": (
        {"method": "abc"},
        lambda e: e.fit(RNG.normal(size=(40, 1)), RNG.normal(size=40)).posterior(0.1),
    ),
}
ASK = {"KernelBayesRule": "posterior", "KernelBayesFilter": "filter", "DistributionRegression": "predict"}


@pytest.mark.parametrize("name", FITS)
def test_estimators_share_their_manners(name: str) -> None:
    from sklearn.base import clone

    parameters, use = FITS[name]
    estimator = getattr(deconditioning, name)(**parameters)
    with pytest.raises(InputError, match="call `fit` first"):
        getattr(estimator, ASK.get(name, "posterior"))(people())
    copied = clone(estimator)
    assert copied.get_params() == estimator.get_params() and repr(copied) == repr(estimator)
    assert all(f"{key}={value!r}" in repr(copied) for key, value in parameters.items())
    with pytest.raises(InputError, match="has no parameter 'depth'"):
        copied.set_params(depth=3)
    assert copied.set_params(**parameters) is copied and use(copied) is not None
    with pytest.raises(TypeError):
        getattr(deconditioning, name)(1.0)  # keyword arguments only


def test_the_rule_gives_the_studys_numbers() -> None:
    problem = make_gaussian(GaussianSpec(2, 40, 30, 3, seed=1))
    weights = kernel_bayes_weights(problem, gaussian_rule(problem))
    fitted = KernelBayesRule().fit(problem.inputs, problem.observations, problem.draws)
    for column, y in zip(weights.T, problem.tests, strict=True):
        found = fitted.posterior(y)
        assert np.allclose(found.weights, column.numpy(), rtol=1e-9, atol=1e-12)
        assert np.allclose(found.mean, found.weights @ problem.inputs)


def test_the_rule_finds_a_gaussian_posterior() -> None:
    """X ~ N(0, 1), Y = X + N(0, 0.3²): E[X | y] = y/1.09."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=600)
    fitted = KernelBayesRule(regularisation=1e-4, tolerance=1e-8).fit(x, x + 0.3 * rng.normal(size=600))
    for y in (-1.0, 0.0, 0.8):
        assert fitted.posterior(y).mean[0] == pytest.approx(y / 1.09, abs=0.08)


def test_the_filter_gives_the_studys_numbers() -> None:
    problem = rotation_problem(RotationSystem.named("b", "M"), 60, 15, 0)
    settings = FilterSettings(0.5, 1e-4)
    told = follow(problem, settings)
    found = KernelBayesFilter(scale=0.5, regularisation=1e-4, standardise=False).fit(
        problem.states, problem.observations
    )
    followed = found.filter(problem.observed)
    assert np.array_equal(followed.mean, told.means["kbr"]) and np.array_equal(followed.weights, told.weights)
    scaled = KernelBayesFilter(scale=0.5, regularisation=1e-4).fit(1000 * problem.states + 7, problem.observations)
    assert np.allclose((scaled.filter(problem.observed).mean - 7) / 1000, problem.truth, atol=1.5)
    longer = KernelBayesFilter(scale=0.5, regularisation=1e-4).fit(
        problem.states[:-1], problem.observations
    )  # as many as states: the last teaches nothing
    assert longer.filter_.length == len(problem.observations) - 1


def test_regression_is_a_gaussian_process_on_means() -> None:
    """By hand: M_ij = mean of k over the measures of i and j, with an intercept by generalised least squares."""
    train, new = people(14), people(4, seed=2)
    fitted = DistributionRegression(learn=False, lengthscale=0.8, variance=2.0, noise=0.05).fit(train, **ROLES)
    groups = [
        g["x"].to_numpy() for _, g in pd.concat([train.assign(s=0), new.assign(s=1)]).groupby(["s", "id"], sort=False)
    ]
    gram = np.array([[2 * np.exp(-0.5 * (a[:, None] - b) ** 2 / 0.64).mean() for b in groups] for a in groups])
    y = train.groupby("id", sort=False)["y"].first().to_numpy()
    s = gram[:14, :14] + 0.05 * np.eye(14)
    ones = np.ones(14)
    beta = ones @ np.linalg.solve(s, y) / (ones @ np.linalg.solve(s, ones))
    cross = gram[:14, 14:]
    mean = beta + cross.T @ np.linalg.solve(s, y - beta)
    gap = 1 - ones @ np.linalg.solve(s, cross)
    variance = (
        np.diag(gram)[14:] - (cross * np.linalg.solve(s, cross)).sum(0) + gap**2 / (ones @ np.linalg.solve(s, ones))
    )
    found = fitted.predict(new.drop(columns="y"))
    assert list(found.index) == ["p0", "p1", "p2", "p3"]
    assert np.allclose(found["mean"], mean, atol=1e-8) and np.allclose(found["sd"], np.sqrt(variance + 0.05), atol=1e-8)
    alone = fitted.predict(new[new["id"] == "p2"].head(1).assign(y=np.nan))
    assert list(alone.index) == ["p2"] and np.isfinite(alone.to_numpy()).all()


def test_regression_reads_files_and_frames_alike(tmp_path) -> None:
    people(10).to_csv(tmp_path / "people.csv", index=False)
    given = {**ROLES, "covariates": ["w"]}
    one = DistributionRegression().fit(people(10), **given)
    other = DistributionRegression().fit(tmp_path / "people.csv", **given)
    assert one.settings_ == other.settings_ and one.subjects_.names == other.subjects_.names
    assert torch.equal(one.subjects_.measures, other.subjects_.measures)
    grid = one.function(np.linspace(-1, 1, 5))
    assert grid.equals(other.function(np.linspace(-1, 1, 5))) and (grid["sd"] > 0).all()


def test_likelihood_free_finds_a_gaussian_posterior() -> None:
    """θ ~ U(−3, 3), x ~ N(θ, 0.5²): the posterior at x = 1 is nearly N(1, 0.25)."""
    rng = np.random.default_rng(1)
    theta = rng.uniform(-3, 3, 400)
    runs = pd.DataFrame({"rate": theta}), pd.DataFrame({"seen": theta + 0.5 * rng.normal(size=400)})
    for method in ("dme", "kbr", "cme", "abc", "kelfi"):
        found = (fitted := LikelihoodFree(method=method).fit(*runs)).posterior(1.0)
        assert found.mean[0] == pytest.approx(1.0, abs=0.3) and found.interval[0, 0] < 1 < found.interval[0, 1]
        assert fitted.parameter_names_ == ("rate",) and found.samples.shape == (200, 1)


@pytest.mark.parametrize(
    ("attempt", "sentence"),
    [
        (lambda: KernelBayesRule().fit([1.0, np.nan, 2.0], [1.0, 2.0, 3.0]), "1 numbers of `X` are missing"),
        (lambda: KernelBayesRule().fit([1.0, 2.0], [1.0, 2.0, 3.0]), "2 states and 3 observations"),
        (lambda: KernelBayesRule().fit(["a", "b"], [1.0, 2.0]), "`X` contains something that is not a number"),
        (lambda: KernelBayesRule().fit(np.zeros((2, 2, 2)), [1.0, 2.0]), "has shape"),
        (lambda: KernelBayesRule().fit([1.0, 2.0], [1.0, 2.0], [[1.0, 2.0]]), "give draws of X"),
        (lambda: KernelBayesRule(scale=0).fit([1.0, 2.0], [1.0, 2.0]), "`scale` is 0"),
        (lambda: KernelBayesRule(regularisation=-1).fit([1.0, 2.0], [1.0, 2.0]), "are not both positive"),
        (lambda: KernelBayesFilter().fit(np.arange(30.0), np.arange(5.0)), "30 states and 5 observations"),
        (lambda: KernelBayesFilter().fit(np.arange(5.0), np.arange(5.0)), "are needed"),
        (lambda: LikelihoodFree().fit(np.arange(5.0), np.arange(5.0)), "There are 5 runs"),
        (lambda: LikelihoodFree().fit(np.arange(20.0), np.arange(19.0)), "20 rows of parameters and 19 of summaries"),
        (lambda: LikelihoodFree(method="x").fit(np.arange(20.0), np.arange(20.0)).posterior(1), "'x' is unknown"),
        (lambda: LikelihoodFree().fit(np.arange(20.0), np.arange(20.0)).posterior([1, 2]), "has 2 numbers"),
        (lambda: DistributionRegression().fit([1, 2], **ROLES), "is a list: give a pandas DataFrame"),
        (lambda: DistributionRegression().fit(people(), subject="who", values="x", outcome="y"), "no column 'who'"),
        (lambda: DistributionRegression().fit(people().replace({"id": {"p1": None}}), **ROLES), "missing cell"),
        (lambda: DistributionRegression().fit(people().assign(y=1.0), **ROLES), "nothing to explain"),
        (lambda: DistributionRegression().fit(people().assign(x="a"), **ROLES), "it must contain numbers"),
        (lambda: DistributionRegression(kernel="x").fit(people(), **ROLES), "The kernel 'x' is unknown"),
        (lambda: DistributionRegression(learn=False).fit(people(), **ROLES).predict(people()[["y"]]), "no column 'id'"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_sentence(attempt, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence) as error:
        attempt()
    assert "\n" not in str(error.value)
