"""Likelihood-free inference as experiments: every method on one problem, error against simulations, calibration.

Source: Hsu and Ramos 2019, §8.3; Talts et al. 2018 (simulation-based calibration).
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from deconditioning.device import one_thread
from deconditioning.embeddings.deconditional import bayes_gap
from deconditioning.errors import InputError
from deconditioning.likelihood_free.inference import (
    HERDED,
    METHODS,
    Answer,
    Evidence,
    Settings,
    evidence,
    posterior,
)
from deconditioning.likelihood_free.objective import Guards, Learned, learn
from deconditioning.likelihood_free.other_methods import OTHERS, other_posterior
from deconditioning.likelihood_free.simulators import (
    Design,
    Exact,
    Problem,
    Simulations,
    exponential_gamma,
    gaussian,
    lotka_volterra,
    simulate,
)
from deconditioning.studies.likelihood_free.settings import NUMBERS, PROBLEMS, KernelSettings, NumberSettings

#: Matrices of more simulations than this gain by several threads.
SMALL = 500
_GAMMA, _NORMAL, _ = PROBLEMS
#: Standard errors beyond which ranks are not uniform, at 5 %.
_TWO_SIDED = 1.959964


@lru_cache(maxsize=16)
def make_problem(
    name: str, observed: float | None = None, dimension: int = NumberSettings.dimension.default, seed: int = 0
) -> Problem:
    """A named problem; ``observed`` is the mean of exponential-gamma, ``dimension`` and ``seed`` are of the others."""
    if name not in PROBLEMS:
        raise InputError(f"The problem '{name}' is unknown: choose among {', '.join(PROBLEMS)}.")
    if observed is not None and name != _GAMMA:
        raise InputError(f"An observed mean applies only to {_GAMMA}; the data of {name} are simulated: omit it.")
    if name == _GAMMA:
        return exponential_gamma() if observed is None else exponential_gamma(observed)
    return gaussian(dimension, seed=seed) if name == _NORMAL else lotka_volterra(seed=seed)


def problem_at(name: str, numbers: Sequence[float]) -> Problem:
    """A problem at its numbers, which `numbers_of` gives."""
    if name == _GAMMA:
        return exponential_gamma(numbers[0], shape=numbers[1], rate=numbers[2])
    if name == _NORMAL:
        return gaussian(int(numbers[0]), noise=numbers[1], prior_sd=numbers[2])
    return lotka_volterra(box=(numbers[0], numbers[1]))


def numbers_of(settings: NumberSettings) -> tuple[float, ...]:
    """The settings that are the problem's own."""
    return tuple(float(getattr(settings, name)) for name in NUMBERS[settings.problem])


def kernels_at(settings: KernelSettings, guards: Guards) -> Settings:
    """The hyperparameters, ℓ in units of the parameters near the observation."""
    lengths = tuple(float(value) for value in settings.length * guards.spread)
    return Settings(
        settings.epsilon, lengths, settings.kernel_scale, settings.regularisation, settings.second_regularisation
    )


@dataclass(frozen=True)
class Inference:
    """What one problem's simulations say: ``answers`` by method, ``refused`` methods with their sentences.

    ``learned`` is None if ``settings`` were given.
    """

    problem: Problem
    simulations: Simulations
    settings: Settings
    learned: Learned | None
    data: Evidence
    answers: dict[str, Answer]
    refused: dict[str, str]

    @cached_property
    def exact(self) -> Exact | None:
        """The exact posterior, where it is known."""
        return self.problem.exact(self.problem.observed) if self.problem.exact else None


def infer(
    problem: Problem, simulations: Simulations, *, seed: int = 0, settings: Settings | None = None,
    learned: Learned | None = None, methods: Sequence[str] = METHODS, herded: int = HERDED,
    data: Evidence | None = None,
) -> Inference:  # fmt: skip
    """Every method on the same simulations; hyperparameters come from q̄ in its guards unless ``settings`` are given.

    ``data`` is the `evidence` of these at the settings' ε, where it is there already.
    """
    if settings is None:
        learned = learned or learn(problem.prior, simulations, problem.observed, seed=seed)
        settings = learned.settings
    data = data or evidence(problem.prior, simulations, problem.observed, settings.epsilon, seed=seed)
    answers, refused = {}, {}
    with one_thread() if len(data.u) <= SMALL else nullcontext():
        for method in methods:
            try:
                if method in OTHERS:
                    answers[method] = other_posterior(
                        method, problem, simulations, data, settings, seed=seed, herded=herded
                    )
                else:
                    answers[method] = posterior(method, data, settings, problem.prior, herded=herded)
            except InputError as error:
                refused[method] = str(error)
    return Inference(problem, simulations, settings, learned, data, answers, refused)


def rows_of(inference: Inference, seed: int, wall: float | None = None) -> Iterator[dict[str, Any]]:
    """A row a method, and one of the exact posterior: means and intervals of every parameter, errors where it is known.

    ``scores`` hold those of the first parameter; ``parameters`` all of them. ``error`` is the distance of the mean from
    the exact one, ``width`` the interval's width in exact widths, ``covers`` whether it holds the exact mean (or, where
    no posterior is known, the true parameter), each averaged over the parameters; ``_against_truth`` adds more.
    ``used`` are the runs of the simulator, discarded ones too.
    """
    exact, truth = inference.exact, inference.problem.truth
    centre = exact.mean if exact else truth
    runs = len(inference.simulations.parameters)
    more = {"simulations": runs, "discarded": inference.simulations.discarded}
    if exact:
        parts = {**more, "parameters": _parameters(inference, exact.mean, exact.interval)}
        yield _row("exact", seed, _scores(exact.mean, exact.interval), parts)
    for method, answer in inference.answers.items():
        scores = _scores(answer.mean, answer.interval)
        if exact:
            widths = np.diff(answer.interval, axis=1) / np.diff(exact.interval, axis=1)
            scores |= {"error": float(np.abs(answer.mean - exact.mean).mean()), "width": float(widths.mean())}
        if centre is not None:
            inside = (answer.interval[:, 0] <= centre) & (centre <= answer.interval[:, 1])
            scores["covers"] = float(inside.mean())
        scores |= _against_truth(inference, answer)
        used = answer.used or runs + inference.simulations.discarded
        parts = {**more, "used": used, "parameters": _parameters(inference, answer.mean, answer.interval)}
        yield _row(method, seed, scores, parts, seconds={"cpu": answer.seconds, "wall": wall})
    for method, sentence in inference.refused.items():
        yield _row(method, seed, {}, more, message=sentence)


def _against_truth(inference: Inference, answer: Answer) -> dict[str, float]:
    """Of the samples in u, where the true u* is known, averaged over the parameters: ``distance`` |mean − u*|,
    ``holds`` u* inside the central 95 % interval, ``share`` of the prior's such interval that is as wide."""
    prior, truth = inference.problem.prior, inference.problem.truth
    if truth is None:
        return {}
    u, at = prior.working(answer.samples), prior.working(truth)
    low, high = np.quantile(u, [0.025, 0.975], axis=0)
    ends = prior.at_levels(np.repeat([[0.025], [0.975]], u.shape[1], axis=1))
    return {
        "distance": float(np.abs(u.mean(0) - at).mean()),
        "holds": float(((low <= at) & (at <= high)).mean()),
        "share": float(((high - low) / (ends[1] - ends[0])).mean()),
    }


def drawn(problem: Problem, seed: int) -> Problem:
    """The problem with data made at parameters drawn from its prior: over seeds, 95 % intervals of the exact posterior
    hold 95 % of those."""
    u, y = _repetition(problem, np.random.default_rng([seed, 16]))
    return replace(problem, observed=y, truth=problem.prior.natural(u))


def _row(
    model: str, seed: int, scores: dict[str, float], more: dict[str, Any], *,
    seconds: dict[str, float | None] | None = None, message: str | None = None,
) -> dict[str, Any]:  # fmt: skip
    return {"model": model, "seed": seed, "scores": scores, "message": message, "seconds": seconds, "more": more}


def _scores(mean: np.ndarray, interval: np.ndarray) -> dict[str, float]:
    return {"posterior_mean": float(mean[0]), "interval_low": float(interval[0, 0]),
            "interval_high": float(interval[0, 1])}  # fmt: skip


def _parameters(inference: Inference, mean: np.ndarray, interval: np.ndarray) -> list[dict[str, Any]]:
    return [
        {"name": name, "mean": float(m), "low": float(low), "high": float(high)}
        for name, m, (low, high) in zip(inference.problem.prior.names, mean, interval, strict=True)
    ]


def run_problem(
    problem: Problem, simulations: int, seed: int, *, methods: Sequence[str] = METHODS, design: Design = "spread"
) -> tuple[Inference, list[dict[str, Any]]]:
    """Simulate, learn, infer: one seed of one problem; the DME's row has ``exactness_gap`` in ``more``."""
    begun = time.perf_counter()
    inference = infer(problem, simulate(problem, simulations, seed, design), seed=seed, methods=methods)
    rows = list(rows_of(inference, seed, time.perf_counter() - begun))
    for row in rows:
        if row["model"] == "dme":
            row["more"]["gap"] = exactness_gap(inference)
    return inference, rows


def exactness_gap(inference: Inference) -> float:
    """Theorem 6.1's condition for summaries X and parameters Y on these simulations, with λ both ways: at 0 the DME is
    the posterior operator."""
    matrices, lam = inference.data.matrices(inference.settings), inference.settings.regularisation
    return bayes_gap(matrices.summaries, matrices.parameters, lam, lam)


def mean_errors(rows: Sequence[Mapping[str, Any]], method: str, score: str = "error") -> dict[int, float]:
    """Number of simulations → median over seeds of a score of one method."""
    counts = sorted({row["simulations"] for row in rows})
    result = {n: [r["scores"][score] for r in rows if (r["simulations"], r["model"]) == (n, method) and r["scores"]]
             for n in counts}  # fmt: skip
    return {n: float(np.median(values)) for n, values in result.items() if values}


@dataclass(frozen=True)
class Calibration:
    """Ranks of a parameter among ``samples`` posterior samples over repeated data, (repeats,) in 0 … samples."""

    method: str
    parameter: str
    ranks: np.ndarray
    samples: int

    def counts(self, bins: int = 10) -> np.ndarray:
        """How many ranks fall into each of ``bins`` equal parts of 0 … samples."""
        return np.bincount(self.ranks * bins // (self.samples + 1), minlength=bins)

    def shapes(self) -> tuple[str, ...]:
        """What the ranks show at 5 %: a "hill" or a "bowl" by their variance, a "slope" by their mean; none if uniform.

        Of n uniform ranks the mean of (r − ½)² has the standard error (180 n)^(−½), that of r (12 n)^(−½).
        """
        position = (self.ranks + 0.5) / (self.samples + 1)
        count, result = len(position), []
        spread = (((position - 0.5) ** 2).mean() - 1 / 12) * (180 * count) ** 0.5
        if abs(spread) > _TWO_SIDED:
            result.append("hill" if spread < 0 else "bowl")
        if abs(position.mean() - 0.5) * (12 * count) ** 0.5 > _TWO_SIDED:
            result.append("slope")
        return tuple(result)

    def band(self, bins: int = 10, level: float = 0.95) -> tuple[float, float]:
        """The band that a calibrated posterior's counts stay in with this probability, a bin: binomial quantiles.

        A rank is uniform over 0 … samples where the posterior is exact; ``samples + 1`` must be a multiple of ``bins``.
        """
        from scipy.stats import binom

        if (self.samples + 1) % bins:
            raise InputError(
                f"{self.samples} samples give {self.samples + 1} ranks, which is not a multiple of {bins} bins."
            )
        low, high = binom.ppf([(1 - level) / 2, (1 + level) / 2], len(self.ranks), 1 / bins)
        return float(low), float(high)


#: Data y (q,), a number S and randomness → posterior samples (S, p) in u.
_Sampler = Callable[[np.ndarray, int, np.random.Generator], np.ndarray]


def rank_of(value: np.ndarray, samples: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """How many of the samples (S, p) lie below value (p,); ties count by a fair coin each."""
    below, ties = (samples < value).sum(0), (samples == value).sum(0)
    return below + rng.binomial(ties, 0.5)


def calibrate(
    problem: Problem, sampler: _Sampler, repeats: int, samples: int, seed: int = 0, *,
    check: Callable[[int], None] = lambda done: None,
) -> np.ndarray:  # fmt: skip
    """Ranks (repeats, p): θ from the prior, data from the simulator, rank of θ among ``sampler(data)``.

    Uniform on 0 … S where the sampler draws from the exact posterior. Source: Talts et al. 2018, theorem 1.
    """
    rng = np.random.default_rng([seed, 15])
    ranks = []
    for done in range(repeats):
        check(done)
        u, y = _repetition(problem, rng)
        ranks.append(rank_of(u, sampler(y, samples, rng), rng))
    return np.array(ranks)


def _repetition(problem: Problem, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """u (p,) from the prior and data y (q,) that it makes; runs that are given up are drawn anew."""
    if problem.simulator is None:
        raise InputError("A table has no simulator, and calibration needs one: choose another problem.")
    while True:
        u = problem.prior.draw(1, rng)
        y, good = problem.simulator(u, rng)
        if good[0]:
            return u[0], y[0]


def calibration(
    problem: Problem, simulations: int, methods: Sequence[str], repeats: int = 200, *, samples: int = 99,
    seed: int = 0, check: Callable[[int], None] = lambda done: None,
) -> list[Calibration]:  # fmt: skip
    """Simulation-based calibration of methods that share all data, their kernels learned anew for each: a record a
    method and parameter.

    Where a method has no posterior, the prior is what is left.
    """
    runs, rng = simulate(problem, simulations, seed), np.random.default_rng([seed, 15])
    ranks: dict[str, list[np.ndarray]] = {method: [] for method in methods}
    for done in range(repeats):
        check(done)
        u, y = _repetition(problem, rng)
        inference = infer(replace(problem, observed=y), runs, seed=seed, methods=methods, herded=samples)
        for method in methods:
            known = method in inference.answers
            cloud = (
                problem.prior.working(inference.answers[method].samples) if known else problem.prior.draw(samples, rng)
            )
            ranks[method].append(rank_of(u, cloud, rng))
    return [
        Calibration(method, name, np.array(ranks[method])[:, j], samples)
        for method in methods
        for j, name in enumerate(problem.prior.names)
    ]
