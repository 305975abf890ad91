"""How long learning is said to take: against stored measurements, and how that grows."""

import json

import pytest

from core.models.learning_time import expected_seconds
from core.wording import about
from tests.conftest import ROOT

RESULTS = ROOT / "tests" / "benchmarks" / "results"


def measured(name: str, what: str) -> float:
    rows = json.loads((RESULTS / f"{name}.json").read_text())["rows"]
    return next(row["ours"] for row in rows if what in row["what"])


def test_it_agrees_with_what_was_measured_within_a_factor_of_two() -> None:
    full = measured("full_size", "cmp, data of seed 0")  # two starts of 100 steps at 441 bags of 10 points
    assert 0.5 < expected_seconds(4410, 2, 100) / full < 2
    four = measured("models", "CMP, four steps of L-BFGS")  # 5,000 points
    assert 0.5 < expected_seconds(5000, 1, 4) / four < 2


def test_it_grows_with_pairs_starts_and_steps() -> None:
    small, large = expected_seconds(1000, 2, 50), expected_seconds(4000, 2, 50)
    assert 8 < large / small < 16 and expected_seconds(1000, 4, 50) == expected_seconds(1000, 2, 100) == 2 * small
    assert expected_seconds(4000, 2, 50, inducing=100) < small < expected_seconds(1000, 2, 50, inducing=9999) + 1e-9


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.1, "a few seconds"), (8.4, "a few seconds"), (11.0, "about 10 s"), (47.0, "about 50 s"), (89.0, "about 90 s"),
     (95.0, "about 2 min"), (1500.0, "about 20 min"), (5399.0, "about 90 min"), (7200.0, "about 2 h")],
)  # fmt: skip
def test_a_guess_has_one_digit(seconds: float, said: str) -> None:
    assert about(seconds) == said
