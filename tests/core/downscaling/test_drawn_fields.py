"""Intervals of fields drawn from a known covariance: they hold with the hyperparameters that made the field."""

import pytest

from tests.drawn_fields import drawn_problem, generating, judged, learned


@pytest.mark.parametrize("alpha", [0.6, 1.2])
def test_intervals_hold_with_the_hyperparameters_that_made_the_field(alpha: float) -> None:
    """Cells hardly tell the learned ones from these: their evidence is nearly the same, but for some other width."""
    problem = drawn_problem(80, alpha, 2)
    found = learned(problem)
    held, widen, evidence = judged(problem, generating(problem, found, alpha))
    assert held == pytest.approx(0.95, abs=0.02) and widen == pytest.approx(1.0, abs=0.1)
    assert judged(problem, found)[2] == pytest.approx(evidence, abs=4)
