"""Filters that use the system's equations: extended and unscented Kalman (filterpy), bootstrap particle filter."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.filtering.systems import RotationSystem

#: Of the unscented transform; spread widely, as METHODS measured (Wan and van der Merwe 2000).
_ALPHA, _BETA, _KAPPA = 1.0, 2.0, 1.0


@dataclass(frozen=True)
class Baseline:
    """Estimates of the state (n, 2) after each observation, and the parameters of the filter in words."""

    means: np.ndarray
    parameters: str


def _start(kalman: Any, system: RotationSystem, first: np.ndarray) -> None:
    """The filter with both noises, and mean and covariance after the first observation, from a flat prior."""
    kalman.Q = system.state_noise**2 * np.eye(2)
    kalman.R = max(system.observation_noise, 1e-6) ** 2 * np.eye(2)
    kalman.x, kalman.P = first.copy(), kalman.R.copy()


def extended_kalman(system: RotationSystem, observations: np.ndarray) -> Baseline:
    """The extended Kalman filter with the system's transition, its Jacobian and both noises."""
    from filterpy.kalman import ExtendedKalmanFilter

    kalman = ExtendedKalmanFilter(dim_x=2, dim_z=2)
    _start(kalman, system, observations[0])
    means = [kalman.x]
    for y in observations[1:]:
        jacobian = system.jacobian(kalman.x)
        kalman.x = system.transition(kalman.x)
        kalman.P = jacobian @ kalman.P @ jacobian.T + kalman.Q
        kalman.update(y, HJacobian=lambda _: np.eye(2), Hx=lambda state: state)
        means.append(kalman.x)
    return Baseline(np.array(means), "exact Jacobian of the transition")


def unscented_kalman(system: RotationSystem, observations: np.ndarray) -> Baseline:
    """The unscented Kalman filter, with sigma points from α = 1, κ = 1, β = 2."""
    from filterpy.kalman import MerweScaledSigmaPoints, UnscentedKalmanFilter

    points = MerweScaledSigmaPoints(2, _ALPHA, _BETA, _KAPPA)
    kalman = UnscentedKalmanFilter(
        dim_x=2, dim_z=2, dt=1.0, hx=lambda x: x, fx=lambda x, dt: system.transition(x), points=points
    )
    _start(kalman, system, observations[0])
    means = [kalman.x.copy()]
    for y in observations[1:]:
        kalman.predict()
        kalman.update(y)
        means.append(kalman.x.copy())
    return Baseline(np.array(means), f"α = {_ALPHA:g}, κ = {_KAPPA:g}, β = {_BETA:g}")


def particle_filter(system: RotationSystem, observations: np.ndarray, count: int = 2000, seed: int = 0) -> Baseline:
    """The bootstrap filter with systematic resampling at every step.

    ``observations`` (n, 2) of the known ``system``; ``count`` particles. Returns the posterior means (n, 2). Raises
    ``InputError`` for fewer than one particle. Source: Gordon, Salmond and Smith 1993.
    """
    if count < 1:
        raise InputError(f"{count} particles were requested: give at least one.")
    rng = np.random.default_rng(seed)
    wide = max(system.observation_noise, 1e-6)
    particles = observations[0] + wide * rng.standard_normal((count, 2))
    means = [particles.mean(0)]
    for y in observations[1:]:
        particles = system.transition(particles) + system.state_noise * rng.standard_normal((count, 2))
        misfit = -0.5 * ((particles - y) ** 2).sum(1) / wide**2
        weights = np.exp(misfit - misfit.max())
        weights /= weights.sum()
        means.append(weights @ particles)
        places = (rng.uniform() + np.arange(count)) / count
        particles = particles[np.minimum(np.searchsorted(np.cumsum(weights), places), count - 1)]
    return Baseline(np.array(means), f"{count} particles, systematic resampling")
