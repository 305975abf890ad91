"""Predators and prey by exact event simulation, with many runs advanced together, one event each at a time.

Events and hazards for predators x and prey y: a predator is born (θ₁xy) or dies (θ₂x), a prey is born (θ₃y) or eaten
(θ₄xy). Source: Gillespie 1977; Papamakarios and Murray 2016, App. F; Hsu and Ramos 2019, §8.3.
"""

import numpy as np

from deconditioning.errors import InputError

START, STEP, _TIME, MOST_EVENTS = (50, 100), 0.2, 30.0, 10_000
TRUE_RATES = (0.01, 0.5, 1.0, 0.01)
SUMMARY_NAMES = (
    "mean predators", "mean prey", "log variance predators", "log variance prey", "autocorrelation predators 1",
    "autocorrelation predators 2", "autocorrelation prey 1", "autocorrelation prey 2", "cross-correlation",
)  # fmt: skip


def simulate_counts(
    rates: np.ndarray, rng: np.random.Generator, *, start: tuple[int, int] = START, step: float = STEP,
    time: float = _TIME, most_events: int = MOST_EVENTS,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Predators and prey (N, times, 2) at 0, step, …, time for ``rates`` θ (N, 4), and which runs ended (N,).

    Waiting times are exponential with the total hazard, the event is drawn by its share of it; counts are those just
    before the first event after each time. A run that reaches ``most_events`` before the end is marked False.
    """
    rates = np.asarray(rates, dtype=float)
    if rates.ndim != 2 or rates.shape[1] != 4 or not (np.isfinite(rates).all() and (rates >= 0).all()):
        raise InputError(f"`rates` has shape {rates.shape}: give rows of four rates, none of them negative.")
    count, times = len(rates), round(time / step) + 1
    path, ended = np.zeros((count, times, 2)), np.ones(count, dtype=bool)
    run, now, filled = np.arange(count), np.zeros(count), np.zeros(count, dtype=int)
    state = np.repeat(np.array([start], dtype=float), count, axis=0)
    for _ in range(most_events):
        born, died, prey_born, total = _rising_hazards(rates, state)
        with np.errstate(divide="ignore"):
            now += rng.standard_exponential(len(run)) / total
        passing = now >= filled * step
        if passing.any():
            _record(path, run, filled, np.where(passing, _times_before(now, step, times), filled), state)
        chosen = rng.random(len(run)) * total
        state += _JUMPS[(chosen >= born).astype(int) + (chosen >= died) + (chosen >= prey_born)]
        if passing.any() and (filled >= times).any():
            alive = filled < times
            run, now, filled, state, rates = run[alive], now[alive], filled[alive], state[alive], rates[alive]
            if not len(run):
                break
    ended[run] = False
    return path, ended


_JUMPS = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])


def _rising_hazards(rates: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, ...]:
    """Running sums of the four hazards, each (N,); the last is the total."""
    x, y = state[:, 0], state[:, 1]
    both = x * y
    born = rates[:, 0] * both
    died = born + rates[:, 1] * x
    prey_born = died + rates[:, 2] * y
    return born, died, prey_born, prey_born + rates[:, 3] * both


def _times_before(now: np.ndarray, step: float, times: int) -> np.ndarray:
    """How many of the times 0, step, … are not after ``now`` (which may be infinite)."""
    return np.minimum(np.minimum(now, times * step) / step, times - 1).astype(int) + 1


def _record(path: np.ndarray, run: np.ndarray, filled: np.ndarray, reached: np.ndarray, state: np.ndarray) -> None:
    """Write the state of each run at the times that have passed since its last event; ``filled`` moves along."""
    passed = reached - filled
    which = np.repeat(np.arange(len(run)), passed)
    first = np.repeat(filled - (np.cumsum(passed) - passed), passed)
    path[run[which], np.arange(len(which)) + first] = state[which]
    filled[:] = reached


def summaries(path: np.ndarray) -> np.ndarray:
    """Nine statistics (N, 9) of paths (N, times, 2): means, ``log(var + 1)``, autocorrelations at lags 1 and 2, and the
    correlation of predators and prey. Correlations of a path that never changes are 0.
    """
    mean, variance = path.mean(1), path.var(1, ddof=1)
    flat = variance <= 0
    standard = (path - mean[:, None]) / np.sqrt(np.where(flat, 1.0, variance))[:, None]
    last = path.shape[1] - 1
    lags = [np.sum(standard[:, k:] * standard[:, : path.shape[1] - k], axis=1) / last for k in (1, 2)]
    cross = np.sum(standard[..., 0] * standard[..., 1], axis=1) / last
    each = [np.stack([lag[:, j] for lag in lags], axis=1) for j in (0, 1)]
    return np.concatenate([mean, np.log(variance + 1), *each, cross[:, None]], axis=1)
