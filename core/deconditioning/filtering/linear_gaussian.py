"""A Kalman filter that learns a linear-Gaussian state-space model from a training series of states and observations.

``x_{t+1} = A x_t + a + w_t``, ``y_t = H x_t + h + v_t``: the baseline for a hidden state with an unknown system.
"""

from dataclasses import dataclass

import numpy as np
import torch

from deconditioning import linalg
from deconditioning.errors import InputError


@dataclass(frozen=True)
class LinearGaussian:
    """Estimated parameters. Of an observation with more numbers than the state only ``z = (HᵀR⁻¹H)⁻¹HᵀR⁻¹(y − h)`` (d,)
    enters, which is all that it says of the state: ``z = x + N(0, V)`` with ``V = (HᵀR⁻¹H)⁻¹``.

    Parameters
    ----------
    transition, offset, transition_noise : A (d, d), a (d,), Q (d, d).
    observe, reduce, level, noise : I (d, d), ``(HᵀR⁻¹H)⁻¹HᵀR⁻¹`` (d, q), h (q,), V (d, d) where q > d; else H (q, d),
        I (q, q), h, R (q, q).
    mean, covariance : of the training states, the prior of the first step.
    shrinkage : share of the scaled identity in R (Ledoit and Wolf 2004).
    """

    transition: np.ndarray
    offset: np.ndarray
    transition_noise: np.ndarray
    observe: np.ndarray
    reduce: np.ndarray
    level: np.ndarray
    noise: np.ndarray
    mean: np.ndarray
    covariance: np.ndarray
    shrinkage: float

    def follow(self, observations: np.ndarray) -> np.ndarray:
        """Filtered means (n, d) of a series of observations (n, q); steps with a missing observation (NaN) are
        predicted.
        """
        from filterpy.kalman import KalmanFilter

        size = len(self.mean)
        if observations.ndim != 2 or observations.shape[1] != len(self.level):
            raise InputError(
                f"Observations of shape {observations.shape} were given, but training observations have "
                f"{len(self.level)} numbers: give equally many."
            )
        kalman = KalmanFilter(dim_x=size, dim_z=len(self.observe))
        kalman.x, kalman.P = self.mean.copy(), self.covariance.copy()
        kalman.F, kalman.Q, kalman.R, kalman.H = self.transition, self.transition_noise, self.noise, self.observe
        means = []
        for step, observed in enumerate((observations - self.level) @ self.reduce.T):
            if step:
                kalman.predict(u=self.offset, B=np.eye(size))
            kalman.update(observed if np.isfinite(observed).all() else None)
            means.append(kalman.x.copy())
        return np.array(means)


def fit_linear_gaussian(states: np.ndarray, observations: np.ndarray) -> LinearGaussian:
    """Least squares for A, a, H, h from X_1 … X_{T+1} (T + 1, d) and Y_1 … Y_T (T, q), which is maximum likelihood; Q
    is the residual covariance, R that of the observations shrunk to a scaled identity (Ledoit and Wolf 2004), because q
    may exceed T.

    Steps with a gap (NaN) in a state or in the observation are omitted. Raises ``InputError`` if lengths do not match
    or the series is too short for d states.
    """
    from sklearn.covariance import ledoit_wolf

    if len(states) != len(observations) + 1:
        raise InputError(
            f"There are {len(states)} states and {len(observations)} observations: give one state more than "
            "observations."
        )
    known = np.isfinite(states).all(1)
    usable = known[:-1] & known[1:] & np.isfinite(observations).all(1)
    before, after, observations = states[:-1][usable], states[1:][usable], observations[usable]
    states = states[known]
    steps, size = len(observations), states.shape[1]
    if steps < 2 * (size + 1):
        raise InputError(f"A series of {steps} steps was given: {size} states need at least {2 * (size + 1)}.")
    now = np.column_stack([before, np.ones(steps)])
    onward, left = _least_squares(now, after)
    observed, unseen = _least_squares(now, observations)
    spread, shrinkage = ledoit_wolf(unseen, assume_centered=True)
    observe, reduce, noise = observed[:-1].T, np.eye(observations.shape[1]), spread
    if observations.shape[1] > size:
        reduce, noise = _reduced(observe, spread)
        observe = np.eye(size)
    return LinearGaussian(
        onward[:-1].T, onward[-1], left.T @ left / steps, observe, reduce, observed[-1], noise,
        states.mean(0), np.cov(states.T, bias=True).reshape(size, size), float(shrinkage),
    )  # fmt: skip


def _least_squares(inputs: np.ndarray, outputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients and residuals."""
    result = np.linalg.lstsq(inputs, outputs, rcond=None)[0]
    return result, outputs - inputs @ result


def _reduced(observe: np.ndarray, spread: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``(HᵀR⁻¹H)⁻¹HᵀR⁻¹`` and ``(HᵀR⁻¹H)⁻¹`` from H (q, d) and R (q, q)."""
    factor = linalg.cholesky_exact(torch.from_numpy(spread), "covariance of the observations' noise")
    weighed = factor.solve(torch.from_numpy(np.ascontiguousarray(observe)))  # R⁻¹H
    inner = linalg.cholesky_exact(weighed.T @ torch.from_numpy(observe), "information of one observation on the state")
    return inner.solve(weighed.T).numpy(), inner.solve(torch.eye(observe.shape[1], dtype=torch.float64)).numpy()
