"""Likelihood-free experiments: calibration of an exact sampler, error against simulations, rows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import Settings
from deconditioning.likelihood_free.simulators import gaussian, simulate
from deconditioning.studies.likelihood_free.study import (
    Calibration,
    calibrate,
    calibration,
    drawn,
    exactness_gap,
    infer,
    make_problem,
    mean_errors,
    rank_of,
    rows_of,
    run_problem,
)


def exact_sampler(problem, shift=0.0, widen=1.0):
    """Draws from the exact posterior in u, perhaps spoilt."""
    exact = problem.exact(np.zeros(2))
    slope = np.stack([problem.exact(axis).mean for axis in np.eye(2)], axis=1)
    root = np.linalg.cholesky(exact.covariance).T

    def sample(y, count, rng):
        cloud = rng.standard_normal((count, 2)) @ root
        return slope @ y + widen * cloud + shift

    return sample


def test_ranks_of_an_exact_sampler_are_uniform_and_others_are_found_out() -> None:
    problem = make_problem("gaussian", dimension=2)
    ranks = calibrate(problem, exact_sampler(problem), 400, 19)
    for j in range(2):
        record = Calibration("exact", "θ", ranks[:, j], 19)
        assert record.counts().sum() == 400
        assert stats.chisquare(record.counts()).pvalue > 0.001
    low, high = record.band()
    assert stats.binom(400, 0.1).cdf(high) - stats.binom(400, 0.1).cdf(low - 1) >= 0.95
    assert 20 < low < 40 < high < 60
    assert Calibration("exact", "θ", ranks[:, 0], 19).shapes() == ()
    narrow, wide = exact_sampler(problem, widen=0.5), exact_sampler(problem, widen=2.0)
    for spoilt, shape in ((exact_sampler(problem, shift=0.4), "slope"), (narrow, "bowl"), (wide, "hill")):
        record = Calibration("exact", "θ", calibrate(problem, spoilt, 400, 19)[:, 0], 19)
        assert stats.chisquare(record.counts()).pvalue < 1e-4 and record.shapes()[-1] == shape


def test_ties_are_broken_fairly_and_bins_must_divide() -> None:
    rng = np.random.default_rng(0)
    ranks = [int(rank_of(np.array([1.0]), np.array([[0.0], [1.0], [1.0], [2.0]]), rng)[0]) for _ in range(300)]
    assert set(ranks) == {1, 2, 3}
    with pytest.raises(InputError, match="not a multiple"):
        Calibration("dme", "θ", np.array([3]), 100).band(10)


def test_calibration_runs_a_method_for_every_data_set() -> None:
    record = calibration(make_problem("exponential-gamma"), 40, ("dme",), 12, samples=19)[0]
    assert record.ranks.shape == (12,) and record.parameter == "θ"
    assert 0 <= record.ranks.min() and record.ranks.max() <= 19 and len(set(record.ranks.tolist())) > 3


def test_rows_score_against_the_exact_posterior_and_the_seed_repeats() -> None:
    problem = make_problem("exponential-gamma")
    found, rows = run_problem(problem, 60, 4)
    assert [row["model"] for row in rows] == ["exact", "dme", "kbr", "cme", "abc"]
    dme = next(row for row in rows if row["model"] == "dme")
    exact, answer = found.exact, found.answers["dme"]
    assert dme["scores"]["error"] == pytest.approx(abs(answer.mean[0] - exact.mean[0]))
    assert dme["scores"]["width"] == pytest.approx((np.diff(answer.interval) / np.diff(exact.interval)).item())
    again = run_problem(problem, 60, 4)[1]
    assert [row["scores"] for row in again] == [row["scores"] for row in rows]


def test_the_same_evidence_serves_all_regularisations_and_kernels() -> None:
    problem = make_problem("exponential-gamma")
    first = run_problem(problem, 60, 4)[0]
    for changes in (
        {}, {"regularisation": 0.01}, {"second_regularisation": 0.1}, {"lengthscales": (0.5,)}, {"kernel_scale": 0.3},
    ):  # fmt: skip
        settings = replace(first.settings, **changes)
        kept = infer(problem, first.simulations, seed=4, settings=settings, data=first.data)
        fresh = infer(problem, first.simulations, seed=4, settings=settings)
        assert exactness_gap(kept) == exactness_gap(fresh) and kept.answers.keys() == fresh.answers.keys()
        for method, answer in kept.answers.items():
            assert np.array_equal(answer.samples, fresh.answers[method].samples)


def test_scores_against_the_truth_are_those_of_the_samples() -> None:
    problem = drawn(make_problem("gaussian", dimension=2), 5)
    found, rows = run_problem(problem, 60, 0, methods=("abc",))
    scores, samples = rows[-1]["scores"], found.answers["abc"].samples
    assert scores["distance"] == pytest.approx(np.abs(samples.mean(0) - problem.truth).mean())
    low, high = np.quantile(samples, [0.025, 0.975], axis=0)
    assert scores["holds"] == ((low <= problem.truth) & (problem.truth <= high)).mean()
    assert scores["share"] == pytest.approx(((high - low) / (2 * 1.959964)).mean(), rel=1e-6)
    assert rows[-1]["more"]["used"] == 60
    logs = drawn(make_problem("exponential-gamma"), 5)
    found, rows = run_problem(logs, 60, 0, methods=("abc",))
    apart = np.log(found.answers["abc"].samples).mean() - np.log(logs.truth[0])
    assert rows[-1]["scores"]["distance"] == pytest.approx(abs(apart))


def test_data_drawn_from_the_prior_are_held_as_often_as_the_exact_posterior_says() -> None:
    """2,000 draws: the exact 95 % interval holds θ 95 % of the time, and draws follow the prior."""
    problem = make_problem("gaussian", dimension=1)
    made = [drawn(problem, seed) for seed in range(2000)]
    held = [each.exact(each.observed).interval[0] for each in made]
    inside = np.mean([low <= each.truth[0] <= high for (low, high), each in zip(held, made, strict=True)])
    assert inside == pytest.approx(0.95, abs=0.015)
    assert stats.kstest([each.truth[0] for each in made], stats.norm.cdf).pvalue > 0.01


def test_the_gap_of_the_rule_is_small_without_noise_and_stands_in_the_deconditional_row() -> None:
    rows = {}
    for noise in (0.01, 1.0):
        problem = gaussian(1, noise=noise)
        runs = simulate(problem, 80, 0)
        found = infer(problem, runs, settings=Settings(0.3, (0.3,), 0.3, 1e-4, 1e-2), methods=("dme",))
        rows[noise] = exactness_gap(found)
    assert rows[0.01] < 0.1 and rows[1.0] > 0.3
    found, told = run_problem(make_problem("gaussian", dimension=1), 60, 0, methods=("dme", "abc"))
    assert told[-2]["more"]["gap"] == pytest.approx(exactness_gap(found)) and "gap" not in told[-1]["more"]


def test_more_simulations_bring_abc_nearer() -> None:
    problem, rows, given = make_problem("gaussian", dimension=1), [], Settings(0.5, (0.5,), 0.5, 1e-3, 1e-2)
    for count in (50, 1600):
        for seed in range(6):
            found = infer(problem, simulate(problem, count, seed), seed=seed, settings=given, methods=("abc",))
            rows += [{**row, **row["more"]} for row in rows_of(found, seed)]
    errors = mean_errors(rows, "abc")
    assert errors[1600] < 0.7 * errors[50]


def test_a_method_that_fails_is_a_sentence_beside_the_others() -> None:
    problem = make_problem("exponential-gamma")
    found = infer(problem, simulate(problem, 40, 0))
    far = replace(found.settings, kernel_scale=1e-6)
    again = infer(problem, found.simulations, settings=far)
    assert set(again.refused) >= {"cme"} and "abc" in again.answers
    assert all(sentence.endswith(".") for sentence in again.refused.values())


@pytest.mark.parametrize("arguments", [{"name": "coin"}, {"name": "gaussian", "observed": 1.0}])
def test_unknown_problems_are_a_sentence(arguments) -> None:
    with pytest.raises(InputError):
        make_problem(**arguments)
