"""What the limits of q̄ are worth: posteriors with them, without, with a narrower k and with more herded samples."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from deconditioning.likelihood_free.inference import HERDED, METHODS
from deconditioning.likelihood_free.objective import NOISE_SHARE, Guards, Learned, find_guards, learn
from deconditioning.likelihood_free.simulators import Problem, Simulations, simulate
from deconditioning.studies.likelihood_free.study import infer, rows_of

#: How wide ε (in sd of the summaries) and ℓ (in spreads) may be where they are free.
_FREE_EPSILON, _FREE_LENGTH = (0.005, 2.0), (0.1, 10.0)
GIVEN, NO_EPSILON, NO_LIMITS, NARROW, MANY = (
    "as given", "ε free", "ε and ℓ free", "k half as wide", "1,000 herded samples",
)  # fmt: skip
WAYS = (GIVEN, NO_EPSILON, NO_LIMITS, NARROW, MANY)


def guard_rows(
    problem: Problem, simulations: int, seed: int, methods: Sequence[str] = METHODS, ways: Sequence[str] = WAYS
) -> Iterator[dict[str, Any]]:
    """Rows of ``rows_of`` for every way on the same simulations, each with its ``way`` in ``more``."""
    runs = simulate(problem, simulations, seed)
    for way in ways:
        learned = _learned_by(way, problem, runs, seed)
        herded = 1000 if way == MANY else HERDED
        inference = infer(problem, runs, seed=seed, settings=learned.settings, methods=methods, herded=herded)
        for row in rows_of(inference, seed):
            yield {**row, "more": {**row["more"], "way": way, "kernel_scale": learned.settings.kernel_scale}}


def _learned_by(way: str, problem: Problem, runs: Simulations, seed: int) -> Learned:
    """Hyperparameters of the largest q̄, with limits widened or k narrowed where the way says so."""
    guards = find_guards(runs, problem.observed)
    learned = learn(problem.prior, runs, problem.observed, seed=seed, guards=_widened(guards, way))
    if way != NARROW:
        return learned
    scale = max(learned.settings.kernel_scale / 2, NOISE_SHARE * guards.noise)
    return replace(learned, settings=replace(learned.settings, kernel_scale=scale))


def _widened(guards: Guards, way: str) -> Guards:
    if way == NO_LIMITS:
        return replace(guards, epsilon=_FREE_EPSILON, length=_FREE_LENGTH)
    return replace(guards, epsilon=_FREE_EPSILON) if way == NO_EPSILON else guards
