"""The kernel Bayes filter at T = 800: a step by low-rank factors against the paper's T×T matrices, and its error."""

import torch

from deconditioning.filtering.systems import RotationSystem
from deconditioning.kernels.tiles import evaluate
from deconditioning.studies.filtering.study import build_filter, estimates, rotation_problem
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds

TRAIN, TEST, DENSE_STEPS = 800, 200, 5
SMOKE = {"TRAIN": 60, "TEST": 5}


def bench_a_step() -> None:
    """Both systems, β = 0.7, ε = 1e-4; the dense side solves with (T, T) matrices as §4.3 writes them."""
    torch.set_num_threads(1)
    rows = []
    for name in ("a", "b"):
        problem = rotation_problem(RotationSystem.named(name), TRAIN, TEST, 0)
        x, y, seen = (torch.from_numpy(v) for v in (problem.states, problem.observations, problem.observed))
        low, full = (build_filter(x, y, 0.7, 1e-4, tolerance) for tolerance in (1e-4, 0.0))
        fast = cpu_seconds(lambda low=low, seen=seen: low.run(seen[None])) / TEST
        dense = Dense(full)
        start = low.start(seen[:1]).weights[0]
        slow = cpu_seconds(lambda dense=dense, seen=seen, start=start: dense.run(start, seen[1 : 1 + DENSE_STEPS]))
        slow /= DENSE_STEPS
        truth = torch.from_numpy(problem.truth)
        errors = [float(((estimates(f, f.run(seen[None]))[0] - truth) ** 2).sum(1).mean()) for f in (low, full)]
        rows.append(
            Row(
                f"Kernel Bayes filter, one step, system ({name})",
                f"T = {TRAIN}, rank {max(low.ranks)}",
                1000 * fast,
                "CPU ms",
                1000 * slow,
                "T×T matrices",
                f"MSE {errors[0]:.5f}, full rank {errors[1]:.5f}",
                note=f"mean of {TEST} steps, yardstick of {DENSE_STEPS}; factors made beforehand on both sides",
            )
        )
    keep("filtering", rows)


class Dense:
    """§4.3 with dense matrices: the prediction by one (T, T) factor, each update by one (T, T) solve."""

    def __init__(self, of) -> None:
        self.of, x = of, of.states
        gram = evaluate(of.kernel, x, x).detach()
        ridge = gram[:-1, :-1] + of.length * of.regularisation * torch.eye(of.length).double()
        factor = torch.linalg.cholesky(ridge)
        self.predict = torch.cholesky_solve(gram[:-1, 1:], factor) @ torch.cholesky_solve(gram[:-1, :-1], factor)
        self.seen = evaluate(of.observation_kernel, of.observations, of.observations).detach()

    def run(self, weights, observations) -> None:
        for y in observations:
            near = self.of.near(y[None])[0]
            prior = self.predict @ weights
            joint = prior[:, None] * self.seen
            system = joint @ joint + self.of.second_regularisation * torch.eye(len(prior)).double()
            weights = joint @ torch.linalg.solve(system, prior * near)
