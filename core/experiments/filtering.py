"""Following a hidden point: the kernel Bayes filter, trained on samples, beside filters that know the equations."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from core.device import choose
from core.embeddings.bayes_rule import median_distance
from core.errors import InputError
from core.filtering.baselines import extended_kalman, particle_filter, unscented_kalman
from core.filtering.kernel_bayes_filter import FilterState, KernelBayesFilter
from core.filtering.systems import RotationSystem
from core.kernels.spec import Factor, KernelSpec, Term

METHODS = ("kbr", "ekf", "ukf", "particle")
#: What split-half validation tries: β times the median distance as lengthscale, and ε.
SCALES, EPSILONS = (0.35, 0.5, 0.7, 1.0), (1e-5, 1e-4, 1e-3)
#: Seeds of test series are this far from those of training.
TEST_SEED = 100_000


@dataclass(frozen=True)
class FilterSettings:
    """How the kernel Bayes filter is trained: ``scale`` β and ``regularisation`` ε (None: by split-half validation),
    ``δ = 2ε``, ``tolerance`` of the low-rank factors (0: dense)."""

    scale: float | None = None
    regularisation: float | None = None
    tolerance: float = 1e-4
    device: str = "auto"


@dataclass(frozen=True)
class Trained:
    """A trained filter with what validation chose."""

    filter: KernelBayesFilter
    scale: float
    regularisation: float


def build_filter(
    states: torch.Tensor, observations: torch.Tensor, scale: float, epsilon: float, tolerance: float
) -> KernelBayesFilter:
    """Gaussian kernels of lengthscale β × median distance on both sides, ``δ = 2ε``."""
    kernels = []
    for values in (states, observations):
        names = tuple(f"c{index}" for index in range(values.shape[1]))
        width = scale * median_distance(values.cpu())
        spec = KernelSpec((Term((Factor("rbf", names, (width,)),)),))
        kernels.append(spec.build(names).to(values.device))
    return KernelBayesFilter(states, observations, kernels[0], kernels[1], epsilon, 2 * epsilon, tolerance)


def train(states: np.ndarray, observations: np.ndarray, settings: FilterSettings, check: Any = None) -> Trained:
    """Train on X_1 … X_{T+1} and Y_1 … Y_T; β and ε by split-half validation where they are not given.

    The first half builds candidate filters, the second half's mean square error of the pre-image ranks them (Fukumizu
    et al. 2013, §5.3).
    """
    device = choose(settings.device)
    x, y = (torch.as_tensor(values, dtype=torch.float64, device=device) for values in (states, observations))
    scale, epsilon = settings.scale, settings.regularisation
    if scale is None or epsilon is None:
        scale, epsilon = _validated(x, y, settings, check)
    return Trained(build_filter(x, y, scale, epsilon, settings.tolerance), scale, epsilon)


def _validated(x: torch.Tensor, y: torch.Tensor, settings: FilterSettings, check: Any) -> tuple[float, float]:
    half = len(y) // 2
    best, chosen = np.inf, (SCALES[1], EPSILONS[1])
    for scale in SCALES if settings.scale is None else (settings.scale,):
        for epsilon in EPSILONS if settings.regularisation is None else (settings.regularisation,):
            if check is not None:
                check()
            try:
                candidate = build_filter(x[: half + 1], y[:half], scale, epsilon, settings.tolerance)
                states = candidate.run(y[None, half:])
                found = estimates(candidate, states)[0]
            except InputError:
                continue
            error = float(((found - x[half:-1]) ** 2).sum(1).mean())
            if error < best:
                best, chosen = error, (scale, epsilon)
    return chosen


def estimates(trained: KernelBayesFilter, states: list[FilterState]) -> torch.Tensor:
    """Point estimates (S, n, d) of all steps."""
    return torch.stack([trained.estimate(state.weights) for state in states], dim=1)


def mse(found: np.ndarray, truth: np.ndarray) -> float:
    """Mean over steps of the squared distance, summed over coordinates."""
    return float(((found - truth) ** 2).sum(-1).mean())


def compare(
    system: RotationSystem, train_steps: int, test_steps: int, seed: int, settings: FilterSettings | None = None,
    methods: tuple[str, ...] = METHODS,
) -> list[dict[str, Any]]:  # fmt: skip
    """One run of every method on one test series: model, scores (mse, ms_per_step, rank), parameters in words."""
    unknown = [name for name in methods if name not in METHODS]
    if unknown:
        raise InputError(f"The filter '{unknown[0]}' is unknown: choose among {', '.join(METHODS)}.")
    settings = settings or FilterSettings()
    truth, seen = system.simulate(test_steps, TEST_SEED + seed)
    rows = []
    for name in methods:
        if name == "kbr":
            rows.append(_kernel_bayes(system, train_steps, truth, seen, seed, settings))
            continue
        begun = time.process_time()
        if name == "particle":
            found = particle_filter(system, seen, seed=seed)
        else:
            found = (extended_kalman if name == "ekf" else unscented_kalman)(system, seen)
        spent = 1000 * (time.process_time() - begun) / test_steps
        scores = {"mse": mse(found.means, truth), "ms_per_step": spent}
        rows.append({"model": name, "seed": seed, "scores": scores, "message": found.parameters})
    return rows


def _kernel_bayes(
    system: RotationSystem, steps: int, truth: np.ndarray, seen: np.ndarray, seed: int, settings: FilterSettings
) -> dict[str, Any]:
    states, observations = system.simulate(steps + 1, seed)
    trained = train(states, observations[:-1], settings)
    kept = trained.filter
    series = torch.as_tensor(seen[None], dtype=torch.float64, device=kept.states.device)
    kept.run(series[:, :2])  # factors are made once, before the clock
    begun = time.process_time()
    followed = kept.run(series)
    spent = 1000 * (time.process_time() - begun) / len(seen)
    found = estimates(kept, followed)[0].cpu().numpy()
    lost = sum(int(state.lost.sum()) for state in followed)
    words = f"β = {trained.scale:g}, ε = {trained.regularisation:g}, δ = 2ε; found anew {lost} times"
    scores = {"mse": mse(found, truth), "ms_per_step": spent, "rank": float(max(kept.ranks))}
    return {"model": "kbr", "seed": seed, "scores": scores, "message": words}


@dataclass(frozen=True)
class Followed:
    """One test series followed by every filter.

    ``truth`` and ``seen`` (n, d); ``means`` (n, d) by method; the kernel Bayes filter's ``weights`` (n, T) on its
    ``points`` (T, d), ``mass``, ``lost`` and ``far`` (n,); ``words`` on each method's parameters; ``seconds`` a step.
    """

    truth: np.ndarray
    seen: np.ndarray
    means: dict[str, np.ndarray]
    points: np.ndarray
    weights: np.ndarray
    mass: np.ndarray
    lost: np.ndarray
    far: np.ndarray
    ranks: tuple[int, int]
    words: dict[str, str]
    seconds: float


def follow(
    system: RotationSystem, train_steps: int, test_steps: int, seed: int, settings: FilterSettings
) -> Followed:  # fmt: skip
    """Train on one series, follow another with every filter; all there is to draw."""
    states, observations = system.simulate(train_steps + 1, seed)
    truth, seen = system.simulate(test_steps, TEST_SEED + seed)
    trained = train(states, observations[:-1], settings)
    kept = trained.filter
    series = torch.as_tensor(seen[None], dtype=torch.float64, device=kept.states.device)
    kept.run(series[:, :2])
    begun = time.process_time()
    steps = kept.run(series)
    spent = (time.process_time() - begun) / len(seen)
    told = {
        "ekf": extended_kalman(system, seen),
        "ukf": unscented_kalman(system, seen),
        "particle": particle_filter(system, seen, seed=seed),
    }
    means = {"kbr": estimates(kept, steps)[0].cpu().numpy()} | {name: found.means for name, found in told.items()}
    words = {"kbr": f"β = {trained.scale:g}, ε = {trained.regularisation:.3g}, δ = 2ε"}
    words |= {name: found.parameters for name, found in told.items()}

    def rows(name: str) -> np.ndarray:
        return torch.stack([getattr(step, name)[0] for step in steps]).cpu().numpy()

    return Followed(
        truth, seen, means, kept.states[:-1].cpu().numpy(), rows("weights"), rows("mass"), rows("lost"), rows("far"),
        kept.ranks, words, spent,
    )  # fmt: skip
