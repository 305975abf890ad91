"""Gradient boosting: it sees what the others see, agrees with the cells, and its intervals are those of its trees."""

from dataclasses import replace

import numpy as np
import pytest

from deconditioning.downscaling.boosting import gradient_boosting
from deconditioning.downscaling.run import downscale
from deconditioning.errors import Cancelled, InputError
from deconditioning.fields.grids.blocks import reaggregate
from deconditioning.fields.problem.baselines import bilinear
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.metrics.predictive import Predictive
from tests.core.fields.samples import fields, runaway


@pytest.fixture(scope="module")
def problem() -> DownscalingProblem:
    return make_problem(fields(runaway()), DownscalingSpec("t", ("orog",), block=(4, 4), withhold=0.3))


@pytest.fixture(scope="module")
def found(problem) -> Predictive:
    return gradient_boosting(problem)


def rmse(problem: DownscalingProblem, mean: np.ndarray) -> float:
    return float(np.sqrt(np.nanmean((mean - problem.truth) ** 2)))


def test_it_uses_the_covariate_and_comes_nearer_to_the_cells_than_its_start(problem, found):
    mean = found.mean
    assert rmse(problem, mean) < 0.8 * rmse(problem, bilinear(problem))
    missed = [np.nanstd(reaggregate(problem, each) - problem.coarse) for each in (mean, bilinear(problem))]
    assert missed[0] < missed[1]


def test_what_it_may_not_see_has_no_say_and_a_seed_makes_it_again(problem, found):
    hidden = replace(
        problem, truth=np.flipud(problem.truth), coarse_truth=np.where(problem.observed, problem.coarse, 1e3)
    )
    again = gradient_boosting(hidden)
    for first, second in ((again.mean, found.mean), (again.sd, found.sd)):
        assert np.array_equal(first, second, equal_nan=True)


def test_its_intervals_are_quantiles_of_the_cells_values(problem, found):
    """By trees of our own making, on pixels whose target is the value of their cell."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    inside = problem.observed.ravel()[problem.cell.flat[problem.pixel]]
    values, area = problem.coarse.flat[problem.cell.flat[problem.pixel]], problem.grid.area.flat[problem.pixel]
    ends = [
        HistGradientBoostingRegressor(loss="quantile", quantile=q, max_iter=100, max_leaf_nodes=8, random_state=0)
        .fit(problem.inputs[inside].numpy(), values[inside], sample_weight=area[inside])
        .predict(problem.inputs.numpy())
        for q in (0.025, 0.975)
    ]  # fmt: skip
    width = np.clip(ends[1] - ends[0], 0, None) / (2 * 1.96)
    assert np.nanmedian(np.abs(found.sd.flat[problem.pixel] - width)) < 0.05 * np.median(width)
    held = np.abs(found.mean - problem.truth)[~np.isnan(found.mean)] < 1.96 * found.sd[~np.isnan(found.sd)]
    assert held.mean() > 0.5


def test_it_joins_the_table_where_asked_for(problem):
    settings = {"model": "bag_gp", "learn": False}
    assert "gradient_boosting" not in downscale(problem, settings).scores
    with_it = downscale(problem, {**settings, "gradient_boosting": True})
    assert {"rmse", "crps", "coverage95"} <= with_it.scores["gradient_boosting"].keys()
    assert np.isfinite(with_it.fields["gradient_boosting"]).any()


def test_it_can_be_cancelled_and_says_where_it_cannot_learn(problem):
    def over() -> None:
        raise Cancelled("enough")

    with pytest.raises(Cancelled):
        gradient_boosting(problem, over)
    with pytest.raises(InputError, match="there are none"):
        gradient_boosting(
            replace(problem, shares=problem.shares.renumbered(np.full(problem.coarse.size, -1), problem.coarse.size))
        )
