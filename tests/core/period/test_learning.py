"""Pooled learning: the averaged evidence, what is kept, and what it is worth on few cells."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source
from deconditioning.downscaling.starting import columns_of, completed, starting_spec
from deconditioning.engine.reporting import NoReport
from deconditioning.errors import never
from deconditioning.models.learning.objectives import exact_objective
from deconditioning.models.learning.repeats import Repeats, averaged_objective, gap_patterns
from deconditioning.models.learning.trainable import Trainable
from deconditioning.period.learning import learn_pooled, spread_times
from deconditioning.period.run import downscale_series
from deconditioning.period.scores import verified_result
from deconditioning.period.series import Series, read_series
from deconditioning.verification.scores import series_scores
from deconditioning.verification.series import BILINEAR
from tests.core.period.made import SPEC, made_fields

SETTINGS = DownscaleSettings(model="area_to_point_gp", local_scale=False, restarts=1, steps=15)


@pytest.fixture(scope="module")
def series() -> Series:
    fields = made_fields(20)
    return read_series(Source("x"), SPEC, lambda key: fields, ["all"])


def test_the_averaged_evidence_is_the_mean_of_those_of_single_times(series: Series) -> None:
    problem = series.problem
    spec = starting_spec(problem, completed(problem, SETTINGS))
    trainable = Trainable(spec, problem.data, columns_of(problem))
    targets = series.targets([0, 3, 7])
    targets[4, 1] = torch.nan
    loss = averaged_objective(trainable, [Repeats(problem.data, targets)], never)()
    singles = []
    for column in targets.T:
        known = column.isfinite().nonzero()[:, 0]
        bags = problem.data.bags.subset(known)
        data = replace(problem.data, bags=bags, mediators=problem.data.mediators[known],
                       query_mediators=problem.data.mediators[known], targets=column[known])  # fmt: skip
        data = replace(data, query_mediators=data.mediators)
        singles.append(float(exact_objective(trainable, data, never)().detach()) * len(known) / len(column))
    assert float(loss.detach()) == pytest.approx(np.mean(singles), abs=1e-10)


def test_times_in_one_pattern_share_it() -> None:
    targets = torch.tensor([[1.0, torch.nan, 2.0, torch.nan], [1.0, 2.0, 3.0, torch.nan]])
    groups = {tuple(times.tolist()): rows.tolist() for rows, times in gap_patterns(targets)}
    assert groups == {(0, 2): [0, 1], (1,): [1]}


def test_repeating_the_times_changes_nothing_that_is_learned(series: Series) -> None:
    """Summed evidences would grow with the number of times, beside a prior that does not; averaged ones do not."""
    problem = series.problem
    spec = starting_spec(problem, completed(problem, SETTINGS))
    trainable = Trainable(spec, problem.data, columns_of(problem))
    losses = [
        averaged_objective(trainable, [Repeats(problem.data, series.targets(times))], never)()
        for times in ([0, 3, 7], [0, 0, 3, 3, 7, 7])
    ]
    assert float(losses[0].detach()) == pytest.approx(float(losses[1].detach()), abs=1e-12)


def test_learning_raises_the_averaged_evidence(series: Series) -> None:
    settings = completed(series.problem, SETTINGS)
    result = learn_pooled(series, settings, NoReport())
    assert 0 < result.after and 0 < result.start
    kept = starting_spec(series.problem, settings) == result.learned.spec
    assert kept == (result.start < 0.99 * result.after) and bool(result.sentences) == kept


def test_learning_looks_at_twelve_times_evenly_spread(series: Series) -> None:
    chosen = spread_times(series)
    assert len(chosen) == 12 and chosen[0] == 0 and chosen[-1] == 19 and set(np.diff(chosen)) <= {1, 2}


def test_a_learned_series_beats_interpolation_and_its_intervals_hold(series: Series) -> None:
    result = downscale_series(series, SETTINGS)
    scores = series_scores(verified_result(result))[0]
    mine, plain = scores["prediction"].pooled, scores[BILINEAR].pooled
    assert mine["rmse"] < 0.7 * plain["rmse"]
    assert 0.85 < mine["coverage95"] <= 1 and mine["crps"] < 0.6 * mine["rmse"]
    truth = np.stack([series.fine(time) for time in range(len(series))])
    area = np.broadcast_to(series.problem.grid.area, truth.shape)
    assert mine["rmse"] == pytest.approx(np.sqrt(np.average((result.means - truth) ** 2, weights=area)))
    changes = [np.average(np.diff(each, axis=0) ** 2, weights=area[1:]) for each in (result.means, truth)]
    assert mine["tendency"] == pytest.approx(np.sqrt(changes[0] / changes[1]))
