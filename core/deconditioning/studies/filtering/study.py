"""Following a hidden state: the kernel Bayes filter, trained on samples, beside filters that know more or less."""

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch

from deconditioning.device import choose, one_thread
from deconditioning.embeddings.bayes_rule import median_kernel
from deconditioning.errors import Check, InputError, never
from deconditioning.filtering.baselines import Baseline, extended_kalman, particle_filter, unscented_kalman
from deconditioning.filtering.kernel_bayes_filter import FilterState, KernelBayesFilter
from deconditioning.filtering.linear_gaussian import fit_linear_gaussian
from deconditioning.filtering.series import Scaling, Series, nearest_observation
from deconditioning.filtering.systems import RotationSystem
from deconditioning.filtering.validation import best_candidate, half_of
from deconditioning.studies.filtering.settings import EPSILONS, OWN, SCALES, KernelSettings, RotationSettings
from deconditioning.wording import number

#: Seeds of test series are this far from those of training.
TEST_SEED = 100_000


@dataclass(frozen=True)
class FilterSettings:
    """How the kernel Bayes filter is trained: ``scale`` β and ``regularisation`` ε (None: by split-half validation),
    ``δ = 2ε``, ``tolerance`` of the low-rank factors (0: dense); ``around``: also the prediction one step ahead and the
    smoother, which sees what comes after; ``iterative``: the observations' Gram matrix whole, by
    Lanczos steps of this accuracy."""

    scale: float | None = None
    regularisation: float | None = None
    tolerance: float = KernelSettings.tolerance.default
    device: str = "auto"
    around: bool = False
    iterative: float = 0.0

    def scales(self, tried: tuple[float, ...]) -> tuple[float, ...]:
        """β as given, or those that validation tries."""
        return tried if self.scale is None else (self.scale,)

    def regularisations(self, tried: tuple[float, ...]) -> tuple[float, ...]:
        """ε as given, or those that validation tries."""
        return tried if self.regularisation is None else (self.regularisation,)


@dataclass(frozen=True)
class Trained:
    """A trained filter with what validation chose."""

    filter: KernelBayesFilter
    scale: float
    regularisation: float


def build_filter(
    states: torch.Tensor, observations: torch.Tensor, scale: float, epsilon: float, tolerance: float,
    iterative: float = 0.0,
) -> KernelBayesFilter:  # fmt: skip
    """Gaussian kernels of lengthscale β × median distance on both sides, ``δ = 2ε``; steps with a gap (NaN) in either
    state or in the observation are left out."""
    states, observations, begins = _whole_steps(states, observations)
    kernels = median_kernel(states, scale), median_kernel(observations, scale)
    return KernelBayesFilter(states, observations, *kernels, epsilon, 2 * epsilon, tolerance, None, iterative, begins)


def _whole_steps(
    states: torch.Tensor, observations: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]:
    """States without gaps, observations of the steps that can be learned from, and the states' rows where these begin
    (None if all can)."""
    known, observed = torch.isfinite(states).all(1), torch.isfinite(observations).all(1)
    if bool(known.all()) and bool(observed.all()):
        return states, observations, None
    usable = known[:-1] & known[1:] & observed
    row = known.cumsum(0) - 1
    return states[known], observations[usable], row[:-1][usable]


def train(states: np.ndarray, observations: np.ndarray, settings: FilterSettings, check: Check = never) -> Trained:
    """Train on X_1 … X_{T+1} and Y_1 … Y_T; β and ε by split-half validation where they are not given.

    The first half builds candidate filters, the second half's mean square error of the pre-image ranks them (Fukumizu
    et al. 2013, §5.3).
    """
    device = choose(settings.device)
    x, y = (torch.as_tensor(values, dtype=torch.float64, device=device) for values in (states, observations))
    scale, epsilon = settings.scale, settings.regularisation
    if scale is None or epsilon is None:
        scale, epsilon = _validated(x, y, settings, check)
    return Trained(build_filter(x, y, scale, epsilon, settings.tolerance, settings.iterative), scale, epsilon)


def _validated(x: torch.Tensor, y: torch.Tensor, settings: FilterSettings, check: Check) -> tuple[float, float]:
    half = half_of(len(y))  # too few steps are refused here, not candidate by candidate

    def error(scale: float, epsilon: float) -> float:
        """Error on the second half at a scale and ε."""
        return _half_error(x, y, half, replace(settings, scale=scale, regularisation=epsilon))

    return best_candidate(settings.scales(SCALES), settings.regularisations(EPSILONS), error, check)


def _half_error(x: torch.Tensor, y: torch.Tensor, half: int, settings: FilterSettings) -> float:
    assert settings.scale is not None and settings.regularisation is not None
    candidate = build_filter(
        x[: half + 1], y[:half], settings.scale, settings.regularisation, settings.tolerance, settings.iterative
    )
    result = estimates(candidate, candidate.run(y[None, half:]))[0]
    return mse(result.cpu().numpy(), x[half:-1].cpu().numpy())


@one_thread()
def validation_error(problem: "FilterProblem", settings: FilterSettings) -> float:
    """Mean square error on the second half of the training steps of a filter built from the first, β and ε as given.

    It is what split-half validation ranks by (`train`). Raises ``InputError`` for too few steps.
    """
    x, y = (torch.from_numpy(values) for values in (problem.states, problem.observations))
    return _half_error(x, y, half_of(len(y)), settings)


def estimates(trained: KernelBayesFilter, states: list[FilterState]) -> torch.Tensor:
    """Point estimates (S, n, d) of all steps."""
    weights = torch.stack([state.weights for state in states], dim=1)
    return trained.estimate(weights.flatten(0, 1)).unflatten(0, weights.shape[:2])


def mse(result: np.ndarray, truth: np.ndarray) -> float:
    """Mean over steps, of which the truth is known, of the squared distance, summed over coordinates."""
    known = np.isfinite(truth).all(-1)
    if not known.any():
        raise InputError("The truth is missing at every step, so nothing can be scored: choose a longer series.")
    return float(((result - truth)[known] ** 2).sum(-1).mean())


@dataclass(frozen=True)
class FilterProblem:
    """``states`` X_1 … X_{T+1} (T + 1, d) and ``observations`` Y_1 … Y_T (T, q) to learn from.

    ``truth`` (n, d) and ``observed`` (n, q) are those of the series to follow; ``others`` the filters beside the
    kernel's, by name, each a function of ``observed``.
    """

    states: np.ndarray
    observations: np.ndarray
    truth: np.ndarray
    observed: np.ndarray
    others: Mapping[str, Callable[[np.ndarray], Baseline]]

    @property
    def methods(self) -> tuple[str, ...]:
        """All there is to compare."""
        return ("kbr", *self.others)


#: Name of a filter → what it followed, and its seconds per step.
Others = Mapping[str, tuple[Baseline, float]]


def system_of(settings: RotationSettings) -> RotationSystem:
    """System (a), (b), or one's own."""
    if settings.system not in OWN["system"]:
        return RotationSystem.named(settings.system, settings.generator)
    return RotationSystem(
        settings.eta, settings.b, settings.waves, settings.state_noise, settings.look_noise, settings.generator
    )


def rotation_problem(system: RotationSystem, train_steps: int, test_steps: int, seed: int) -> FilterProblem:
    """One series of the system to learn from, another to follow; EKF, UKF and particles are told its equations."""
    states, observations = system.simulate(train_steps + 1, seed)
    truth, observed = system.simulate(test_steps, TEST_SEED + seed)
    others = {
        "ekf": partial(extended_kalman, system),
        "ukf": partial(unscented_kalman, system),
        "particle": partial(particle_filter, system, seed=seed),
    }
    return FilterProblem(states, observations[:-1], truth, observed, others)


def series_problem(series: Series, train_steps: int) -> tuple[FilterProblem, Scaling]:
    """A recorded series: its first part teaches, the rest is followed, all columns scaled by the training part.

    Steps with a gap teach nothing, and are predicted through where they are followed.

    Nobody knows equations here; beside stand a Kalman filter that learns a linear model from the same part, where that
    can be done, and the state of the nearest training observation. The state's columns are
    scaled so that errors are in variances of the training part, averaged over columns.
    """
    teach, rest = series.split(train_steps)
    states = Scaling.of(teach.states, teach.state_names).shared()
    observations = Scaling.of(teach.observations, teach.observation_names)
    x, y = states.scaled(teach.states), observations.scaled(teach.observations)[:-1]
    others: dict[str, Callable[[np.ndarray], Baseline]] = {}
    with contextlib.suppress(InputError):  # columns that are copies of one another have no single linear model
        linear = fit_linear_gaussian(x, y)
        others["kalman"] = lambda observed: Baseline(linear.follow(observed), "linear model by least squares")
    others["nearest"] = partial(nearest_observation, x[:-1], y)
    return FilterProblem(x, y, states.scaled(rest.states), observations.scaled(rest.observations), others), states


@dataclass(frozen=True)
class Followed:
    """One test series followed by every filter.

    ``truth`` (n, d) and ``observed`` (n, q); ``means`` (n, d) by method; the kernel Bayes filter's ``weights`` (n, T)
    on its ``points`` (T, d), ``mass``, ``lost`` and ``far`` (n,), ``ranks``; ``words`` on each method's parameters and
    CPU ``seconds`` a step, by method; ``spread`` (d,) of the state's columns, by which errors are divided.
    """

    truth: np.ndarray
    observed: np.ndarray
    means: dict[str, np.ndarray]
    points: np.ndarray
    weights: np.ndarray
    mass: np.ndarray
    lost: np.ndarray
    far: np.ndarray
    ranks: tuple[int, int]
    words: dict[str, str]
    seconds: dict[str, float]
    spread: np.ndarray | float = 1.0

    @property
    def errors(self) -> dict[str, float]:
        """Mean square error by method, in squares of ``spread``."""
        return {name: mse(means / self.spread, self.truth / self.spread) for name, means in self.means.items()}

    def in_units(self, scaling: Scaling) -> "Followed":
        """The same with states in their own units; errors stay as they are."""
        means = {name: scaling.original(values) for name, values in self.means.items()}
        return replace(
            self, truth=scaling.original(self.truth), means=means, points=scaling.original(self.points),
            spread=scaling.spread,
        )  # fmt: skip


@one_thread()
def follow_with_others(problem: FilterProblem) -> Others:
    """Follow with the filters beside the kernel's."""
    return {name: _other(problem, name) for name in problem.others}


@one_thread()
def follow(
    problem: FilterProblem, settings: FilterSettings, check: Check = never, others: Others | None = None
) -> Followed:
    """Train, and follow with every filter; all there is to draw.

    ``others`` is what `follow_with_others` found on the same problem: those filters do not depend on the settings.
    """
    trained = train(problem.states, problem.observations, settings, check)
    kbr = trained.filter
    series = torch.as_tensor(problem.observed[None], dtype=torch.float64, device=kbr.states.device)
    kbr.run(series[:, :2])  # factors are made once, before the clock
    begun = time.process_time()
    steps = kbr.run(series)
    means = {"kbr": estimates(kbr, steps)[0].cpu().numpy()}
    seconds = {"kbr": (time.process_time() - begun) / len(problem.observed)}
    words = {"kbr": f"β = {number(trained.scale)}, ε = {number(trained.regularisation)}, δ = 2ε"}
    if settings.around:
        for name, parameters, weighed in _around(kbr, steps):
            begun = time.process_time()
            means[name], words[name] = weighed().cpu().numpy(), parameters
            seconds[name] = (time.process_time() - begun) / len(problem.observed)
    for name, (result, spent) in (follow_with_others(problem) if others is None else others).items():
        seconds[name], means[name], words[name] = spent, result.means, result.parameters

    def rows(name: str) -> np.ndarray:
        """A field of every step, stacked."""
        return torch.stack([getattr(step, name)[0] for step in steps]).cpu().numpy()

    return Followed(
        problem.truth, problem.observed, means, kbr.now.cpu().numpy(), rows("weights"), rows("mass"),
        rows("lost"), rows("far"), kbr.ranks, words, seconds,
    )  # fmt: skip


def _around(kbr: KernelBayesFilter, steps: list[FilterState]) -> list[tuple[str, str, Callable[[], torch.Tensor]]]:
    """The prediction before each look (none before the first: the first estimate stands there) and the smoother."""

    def ahead() -> torch.Tensor:
        """Estimates of each step before its own observation."""
        weights = torch.cat([kbr.transition_weights(state.weights) for state in steps[:-1]])
        return torch.cat([kbr.estimate(steps[0].weights), kbr.estimate(weights, ahead=True)])

    def smoothed() -> torch.Tensor:
        """Estimates of each step given the whole series."""
        return kbr.estimate(torch.cat(kbr.smooth(steps)))

    return [
        ("kbr_ahead", "before the step's own observation", ahead),
        ("kbr_smoothed", "given the whole series", smoothed),
    ]


def _other(problem: FilterProblem, name: str) -> tuple[Baseline, float]:
    begun = time.process_time()
    result = problem.others[name](problem.observed)
    return result, (time.process_time() - begun) / len(problem.observed)


@one_thread()
def compare(
    problem: FilterProblem, seed: int, settings: FilterSettings | None = None, methods: tuple[str, ...] | None = None
) -> list[dict[str, Any]]:
    """One run of every method: model, scores (mse, ms_per_step, rank), parameters in words."""
    methods = problem.methods if methods is None else methods
    unknown = [name for name in methods if name not in problem.methods]
    if unknown:
        raise InputError(f"The filter '{unknown[0]}' is unknown here: choose among {', '.join(problem.methods)}.")
    rows = []
    for name in methods:
        if name == "kbr":
            alone = FilterProblem(problem.states, problem.observations, problem.truth, problem.observed, {})
            result = follow(alone, settings or FilterSettings())
            scores = {"mse": result.errors["kbr"], "ms_per_step": 1000 * result.seconds["kbr"]}
            scores["rank"] = float(max(result.ranks))
            words = f"{result.words['kbr']}; restarted {int(result.lost.sum())} times"
        else:
            other, spent = _other(problem, name)
            scores, words = {"mse": mse(other.means, problem.truth), "ms_per_step": 1000 * spent}, other.parameters
        rows.append({"model": name, "seed": seed, "scores": scores, "message": words})
    return rows
