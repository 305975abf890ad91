"""What the page draws of one data set: every method at once, ridges, learning, a link."""

import numpy as np
import pytest
import torch

from deconditioning.distribution_regression.gpdr import fit
from deconditioning.distribution_regression.kernel_sums import KernelSums
from deconditioning.distribution_regression.simulate import SimulationSpec, regression_function, simulate
from deconditioning.distribution_regression.subjects import make_subjects
from deconditioning.studies.distribution_regression.compare import Prepared, compare, find_link, learn_settings, ridges
from deconditioning.studies.distribution_regression.study import METHODS, MethodSettings, risk_rows

GIVEN = MethodSettings()


def test_all_methods_at_once_are_the_methods_one_by_one():
    subjects = simulate(SimulationSpec(30, 80, 1)).subjects
    found = compare(Prepared(subjects), GIVEN, regression_function)
    alone = {row["model"]: row["scores"]["posterior_risk"] for row in risk_rows(subjects, GIVEN, METHODS, 0)}
    assert {name: curve.risk for name, curve in found.curves.items()} == pytest.approx(alone, rel=1e-9)
    direct = fit(GIVEN.regression(("x",)), KernelSums(subjects.bags, ("x",)), subjects.outcomes, subjects.covariates)
    mean = direct.mean(torch.from_numpy(found.at)[:, None]).numpy()
    assert np.abs(found.curves["gpdr"].mean - mean).max() < 1e-10


def test_moving_hyperparameters_reuses_the_measures_and_changes_nothing_else():
    subjects = simulate(SimulationSpec(20, 50, 2)).subjects
    kept = Prepared(subjects)
    for settings in (GIVEN, MethodSettings(variance=3.0), MethodSettings(lengthscale=0.2), GIVEN):
        mine, fresh = compare(kept, settings), compare(Prepared(subjects), settings)
        for name, curve in mine.curves.items():
            assert np.array_equal(curve.mean, fresh.curves[name].mean)


def test_ridges_are_densities_by_rank_of_the_outcome():
    subjects = simulate(SimulationSpec(50, 200, 0)).subjects
    grid, density, rows = ridges(subjects, 9)
    y = subjects.outcomes.numpy()[rows]
    assert len(rows) == 9 and (np.diff(y) > 0).all() and y[0] == y.min() == subjects.outcomes.min()
    assert y[-1] == subjects.outcomes.max()
    mass = np.trapezoid(density, grid, axis=1)
    assert ((mass > 0.8) & (mass < 1.01)).all()  # what leaks beyond the measures' range is not drawn


def test_learning_several_columns_shares_a_lengthscale_and_raises_the_evidence():
    rng = np.random.default_rng(0)
    values, owner = rng.normal(size=(400, 2)), np.repeat(np.arange(40), 10)
    means = np.stack([np.bincount(owner, np.sin(values[:, k]), minlength=40) / 10 for k in range(2)])
    two = make_subjects(values, owner, means.sum(0) + 0.05 * rng.normal(size=40), columns=("a", "b"))
    start = MethodSettings(lengthscale=0.3, variance=0.1, noise=1.0, intercept=True)
    settings, found = learn_settings(Prepared(two), start)
    again = fit(settings.regression(two.columns), KernelSums(two.bags, two.columns), two.outcomes, two.covariates)
    before = fit(start.regression(two.columns), KernelSums(two.bags, two.columns), two.outcomes, two.covariates)
    assert again.evidence == pytest.approx(found.evidence, abs=1e-4) and again.evidence > before.evidence + 5
    assert set(Prepared(two).methods) == set(METHODS) - {"kde"}


def test_a_link_is_compared_with_the_straight_line():
    drawn = simulate(SimulationSpec(80, 100, 1, spread=3.0))
    prepared = Prepared(drawn.subjects)
    found, fitted, left_out = find_link(prepared, GIVEN, 3)
    y = drawn.subjects.outcomes.numpy()
    assert float(found.index.mean()) == pytest.approx(0, abs=1e-9)
    assert ((y - fitted) ** 2).mean() < ((y - left_out) ** 2).mean()
    again = found.predict(prepared.base.gram(GIVEN.regression(("x",)).kernel))
    assert float((again - found.link(found.index)).abs().max()) < 1e-7
