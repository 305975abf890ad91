"""The step of packed values is found; that of others is not; rounding costs what a uniform error costs."""

import numpy as np
import pytest

from deconditioning.metrics.stored_step import stored_step


@pytest.mark.parametrize("step", [0.125, 0.01, 3.0])
def test_packed_values_give_their_step_back(step: float) -> None:
    field = 280 + 10 * step * np.random.default_rng(0).standard_normal((90, 80))
    packed = step * np.round(field / step) + 0.3
    packed[0, 0] = np.nan
    assert stored_step(packed) == pytest.approx(step, rel=1e-6)
    assert np.sqrt(np.mean((step * np.round(field / step) - field) ** 2)) == pytest.approx(step / 12**0.5, rel=0.02)


def test_other_values_have_none() -> None:
    rng = np.random.default_rng(1)
    assert stored_step(rng.standard_normal(5000)) is None
    assert stored_step(rng.choice(rng.standard_normal(40), 5000)) is None
    assert stored_step(np.zeros(5000)) is None and stored_step(np.array([0.0, 1.0, 2.0, 3.0])) is None
