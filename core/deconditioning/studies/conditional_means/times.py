"""What the estimators of a conditional mean embedding cost: N×N as written, the same at bag level, shrinkage."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from deconditioning.embeddings.conditional_mean import replicated_weights, shrinkage_weights
from deconditioning.studies.conditional_means.settings import PAPER_BAGS
from deconditioning.studies.conditional_means.study import (
    GRID,
    MOST_DENSE,
    BagLayout,
    dense_estimator,
    diagonals,
    mediator_grams,
    sample_bags,
)

ROUTES = ("standard, N×N", "standard, bag level", "shrinkage")
#: Repeat a measurement until it has taken this long in all; the fastest counts.
_ENOUGH_S = 0.05


@dataclass(frozen=True)
class Cost:
    """CPU seconds of one route for ``points`` N in ``bags`` B: its weights at 60 values of y.

    ``extrapolated`` marks the N×N estimator beyond 5,000 points: the cubic law from the largest one measured.
    """

    route: str
    bags: int
    points: int
    seconds: float
    extrapolated: bool = False


def cheap_costs(layout: BagLayout) -> list[Cost]:
    """The two routes that factorise B×B only, measured."""
    sample = sample_bags(layout)
    queries = torch.linspace(-3, 3, GRID, dtype=torch.float64)[:, None]
    first, second = diagonals(layout)
    work = {
        ROUTES[1]: lambda: replicated_weights(mediator_grams(sample, queries), first),
        ROUTES[2]: lambda: shrinkage_weights(mediator_grams(sample, queries), second),
    }
    return [Cost(route, layout.bags, layout.points, _cpu(run)) for route, run in work.items()]


def dense_cost(layout: BagLayout) -> Cost:
    """The N×N estimator as written; ``InputError`` above 5,000 points."""
    sample = sample_bags(layout)
    queries = torch.linspace(-3, 3, GRID, dtype=torch.float64)[:, None]
    seconds = _cpu(lambda: dense_estimator(layout, sample, queries), warm=layout.points <= 1000)
    return Cost(ROUTES[0], layout.bags, layout.points, seconds)


def extrapolated_cost(measured: Cost, points: int, bags: int) -> Cost:
    """``t(N) = t(n) (N/n)³`` from a measured N×N cost; too high by what grows only as N² (the kernel matrix)."""
    return Cost(measured.route, bags, points, measured.seconds * (points / measured.points) ** 3, extrapolated=True)


def cost_table(bags: int = PAPER_BAGS, sizes: tuple[int, ...] = (3, 10, 20, 40, 70, 100), seed: int = 0) -> list[Cost]:
    """All routes for growing bags, up to 5,000 points as written; then the paper's larger layouts by extrapolation."""
    rows: list[Cost] = []
    for per_bag in sizes:
        layout = BagLayout(bags, per_bag, seed=seed)
        rows += ([dense_cost(layout)] if layout.points <= MOST_DENSE else []) + cheap_costs(layout)
    largest = max((row for row in rows if row.route == ROUTES[0]), key=lambda row: row.points)
    for layout in (BagLayout(50, 500, seed=seed), BagLayout(500, 50, seed=seed)):
        rows += [extrapolated_cost(largest, layout.points, layout.bags), *cheap_costs(layout)]
    return rows


def growth(rows: list[Cost]) -> float:
    """Exponent of the measured N×N times between the largest size and the one nearest its fifth; 3 is Cholesky's."""
    dense = sorted((r for r in rows if r.route == ROUTES[0] and not r.extrapolated), key=lambda row: row.points)
    large = dense[-1]
    small = min(dense[:-1], key=lambda row: abs(row.points - large.points / 5))
    return math.log(large.seconds / small.seconds) / math.log(large.points / small.points)


def _cpu(work: Callable[[], Any], warm: bool = True) -> float:
    if warm:
        work()  # libraries are loaded, memory is there
    best, spent = math.inf, 0.0
    while spent < _ENOUGH_S:
        begin = time.process_time()
        work()
        took = time.process_time() - begin
        best, spent = min(best, took), spent + max(took, 1e-4)
    return best
