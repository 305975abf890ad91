"""How long learning is said to take: against stored measurements, and how that grows."""

import json

import pytest

from deconditioning.models.learning.learning_time import EVALUATIONS, expected_seconds
from deconditioning.wording import about
from tests.conftest import ROOT

RESULTS = ROOT / "tests" / "benchmarks" / "results"


def measured(name: str, what: str) -> float:
    rows = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return next(row["ours"] for row in rows if what in row["what"])


def test_it_agrees_with_stored_benchmarks_within_a_factor_of_two() -> None:
    four = measured("models", "CMP, four steps of L-BFGS")  # 5,000 points, 50 bags
    assert 0.5 < expected_seconds(5000, 50, 1, 4) / four < 2
    sparse = measured("models", "VBAgg, ELBO with gradients, 200 inducing")
    assert 0.5 < expected_seconds(5000, 50, 1, 1, inducing=200) / sparse < 2


#: CPU seconds on one core of 2 GHz, with the default settings of the pages: points, targets, starts, steps, seconds.
RUNS = {
    "line, 200 + 200 pairs": (400, 400, 3, 60, 2.15),
    "line, 400 + 400 pairs": (800, 800, 3, 100, 9.53),
    "swiss roll, 50 slices": (1000, 50, 6, 60, 4.53),
}


@pytest.mark.parametrize("run", RUNS)
def test_it_agrees_with_runs_that_were_timed_within_a_factor_of_three(run: str) -> None:
    points, targets, starts, steps, took = RUNS[run]
    assert 1 / 3 < expected_seconds(points, targets, starts, steps) / took < 3


def test_it_grows_with_pairs_targets_starts_and_steps_until_they_converge() -> None:
    small, large = expected_seconds(1000, 50, 2, 20), expected_seconds(4000, 50, 2, 20)
    assert 8 < large / small < 16
    assert expected_seconds(1000, 50, 4, 20) == pytest.approx(2 * small)
    assert expected_seconds(1000, 50, 2, 10) == pytest.approx(small / 2)
    assert expected_seconds(800, 800, 1, 20) > 3 * expected_seconds(800, 50, 1, 20)
    assert expected_seconds(1000, 50, 2, 500) == expected_seconds(1000, 50, 2, EVALUATIONS)
    assert expected_seconds(1000, 50, 2, 500, converges=False) == pytest.approx(25 * small)
    exact = expected_seconds(4000, 50, 2, 20)
    assert expected_seconds(4000, 50, 2, 20, inducing=100) < exact == expected_seconds(4000, 50, 2, 20, inducing=9999)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "a few seconds"), (8.4, "a few seconds"), (11.0, "about 10 s"), (47.0, "about 50 s"), (89.0, "about 90 s"),
     (95.0, "about 2 min"), (1500.0, "about 20 min"), (5399.0, "about 90 min"), (7200.0, "about 2 h")],
)  # fmt: skip
def test_a_guess_has_one_digit(seconds: float, said: str) -> None:
    assert about(seconds) == said
