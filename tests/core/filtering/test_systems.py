"""The systems: their derivative, their noise, their circle; the told filters against closed forms."""

import numpy as np
import pytest

from deconditioning.errors import InputError
from deconditioning.filtering.baselines import extended_kalman, particle_filter, unscented_kalman
from deconditioning.filtering.systems import RotationSystem


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_jacobian_is_the_derivative_of_the_transition(name):
    system = RotationSystem.named(name)
    for state in np.random.default_rng(0).standard_normal((5, 2)):
        numeric = np.column_stack(
            [(system.transition(state + step) - system.transition(state - step)) / 2e-6 for step in 1e-6 * np.eye(2)]
        )
        assert np.allclose(system.jacobian(state), numeric, atol=1e-6)


def test_states_follow_the_equation_and_observations_their_noise():
    system = RotationSystem.named("b")
    states, seen = system.simulate(4000, 1)
    misfit = states[1:] - system.transition(states[:-1])
    assert np.std(misfit) == pytest.approx(0.2, rel=0.05) and np.std(seen - states) == pytest.approx(0.2, rel=0.05)
    assert abs(np.corrcoef(misfit[1:, 0], misfit[:-1, 0])[0, 1]) < 0.06
    assert np.array_equal(system.simulate(50, 1)[0], system.simulate(50, 1)[0])


def test_generator_d_turns_by_itself():
    system = RotationSystem(0.3, 0.0, 8, 0.0, 0.1, "D")
    states, _ = system.simulate(40, 2)
    turns = np.diff(np.unwrap(np.arctan2(states[:, 1], states[:, 0])))
    assert np.allclose(turns, 0.3)


def linear(noise: float = 0.2) -> RotationSystem:
    """A system whose transition is made linear below: a plain rotation by eta."""

    class Linear(RotationSystem):
        def transition(self, state):
            c, s = np.cos(self.eta), np.sin(self.eta)
            return state @ np.array([[c, s], [-s, c]])

        def jacobian(self, state):
            c, s = np.cos(self.eta), np.sin(self.eta)
            return np.array([[c, -s], [s, c]])

    return Linear(0.3, 0.0, 8, noise, noise)


def test_on_a_linear_system_all_three_are_the_kalman_filter():
    system = linear()
    rng = np.random.default_rng(3)
    truth = [np.array([1.0, 0.0])]
    for _ in range(30):
        truth.append(system.transition(truth[-1]) + 0.2 * rng.standard_normal(2))
    seen = np.array(truth) + 0.2 * rng.standard_normal((31, 2))
    mean, spread, expected = seen[0], 0.04, [seen[0]]
    for y in seen[1:]:  # covariances stay multiples of the identity
        ahead, wide = system.transition(mean), spread + 0.04
        gain = wide / (wide + 0.04)
        mean, spread = ahead + gain * (y - ahead), (1 - gain) * wide
        expected.append(mean)
    assert np.allclose(extended_kalman(system, seen).means, expected, atol=1e-9)
    assert np.allclose(unscented_kalman(system, seen).means, expected, atol=1e-9)
    assert np.abs(particle_filter(system, seen, 20_000).means[1:] - expected[1:]).max() < 0.03


def test_wrong_systems_are_said():
    for wrong in ({"generator": "X"}, {"state_noise": -1.0}):
        with pytest.raises(InputError):
            RotationSystem(**wrong)
    with pytest.raises(InputError, match="unknown"):
        RotationSystem.named("c")
    with pytest.raises(InputError, match="at least one"):
        RotationSystem().simulate(0, 0)
    with pytest.raises(InputError, match="particles"):
        particle_filter(RotationSystem(), np.zeros((3, 2)), 0)
