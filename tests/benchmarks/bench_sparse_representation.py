"""Sparse representation of 100,000 data: CPU time of one evaluation with gradients, and memory above the imports."""

import numpy as np
import torch

from deconditioning.datasets.sparse_toy import ToySpec, make_toy
from deconditioning.models.sparse.sparse_representation import sparse_objective
from deconditioning.studies.sparse_representation.study import true_model
from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds
from tests.core.models.test_memory import SPARSE

SIZES, SMALL = (1000, 3000, 100_000), 3000
SMOKE = {"SIZES": (60, 90), "SMALL": 60, "SPARSE": SPARSE.replace("40_000", "400")}


def bench_hundred_thousand_data() -> None:
    """Against the evidence of the same model by its m×m matrix, at sizes where that can be formed."""
    torch.set_num_threads(1)
    rows = []
    peak = float(output_of("-c", SPARSE))
    for count in SIZES:
        toy = make_toy(ToySpec(count, points=12))
        spec = true_model(toy, np.linspace(-5, 5, 30))
        loss, vector, _ = sparse_objective(spec, toy.inputs, toy.targets)

        def ours(loss=loss, vector=vector) -> None:
            vector.clear_gradient()
            loss().backward()

        small = count <= SMALL
        apart = abs(_plain(toy, spec) - float(loss().detach())) if small else 0.0
        rows.append(
            Row(
                "Sparse representation, evidence with gradients",
                f"m = {count:,}, n = 30",
                cpu_seconds(ours, 5),
                yardstick=cpu_seconds(lambda toy=toy, spec=spec: _plain(toy, spec)) if small else None,
                against="m×m matrix" if small else "",
                accuracy=f"evidence a datum to {apart:.0e}" if small else "",
                peak_mb=None if small else peak,
                note="" if small else "memory above the imports, of three evaluations and a posterior",
            )
        )
    keep("sparse_representation", rows)


def _plain(toy, spec) -> float:
    """Minus the log density a datum, ``N(z̃; 0, AᵀKA + σ²I)`` as written, and its gradients."""
    points = torch.tensor(spec.locations, dtype=torch.float64, requires_grad=True)
    noise = torch.tensor(spec.noise, dtype=torch.float64, requires_grad=True)

    def kernel(left, right):
        return torch.exp(-0.5 * (left - right.T) ** 2)

    gram = kernel(points, points)
    spread = torch.linalg.solve(gram + noise * torch.eye(len(points)).double(), kernel(points, toy.inputs))
    covariance = spread.T @ gram @ spread + noise * torch.eye(len(toy.targets)).double()
    zero = torch.zeros_like(toy.targets)
    value = -torch.distributions.MultivariateNormal(zero, covariance).log_prob(toy.targets) / len(zero)
    value.backward()
    return float(value.detach())
