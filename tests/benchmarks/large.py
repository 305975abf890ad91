"""A made-up problem of any size, and what the variational path costs on it; run in a process of its own.

``python -m tests.benchmarks.large PIXELS BAGS TARGETS INDUCING DEVICE [far]`` prints one JSON line. ``far`` replaces
the mediators' matrix by its low-rank substitute whatever the number of bags.
"""

import importlib
import json
import math
import sys
import time
from collections.abc import Callable

import torch

from deconditioning.engine.reporting import peak_mb
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.indirect_gp import Columns
from deconditioning.models.learning.objectives import collapsed_objective
from deconditioning.models.learning.trainable import Trainable
from deconditioning.models.sparse import target_summary
from deconditioning.models.sparse.sparse_gp import bound_and_error, sparse_posterior
from deconditioning.models.sparse.target_summary import summarise
from deconditioning.models.spec import Inducing, ModelSpec
from deconditioning.observations import Bags, IndirectData

COLUMNS = Columns(("row", "column", "cover"), ("row", "column"))


def field(place: torch.Tensor, cover: torch.Tensor) -> torch.Tensor:
    """What is to be recovered."""
    return torch.sin(3 * place[:, 0]) * torch.cos(2 * place[:, 1]) + 0.5 * cover


def cover_at(place: torch.Tensor) -> torch.Tensor:
    """A covariate with detail at every scale."""
    waves = [torch.cos(2.0**k * (place[:, 0] * math.cos(k) + place[:, 1] * math.sin(k)) + k) / k for k in range(1, 9)]
    return torch.stack(waves).sum(0)


def make(pixels: int, bags: int, targets: int) -> tuple[IndirectData, torch.Tensor]:
    """Bags as blocks of a square of side 4, mediators their centres; targets as means over such a block elsewhere."""
    generator = torch.Generator().manual_seed(0)
    rows = math.isqrt(bags)
    while bags % rows:
        rows -= 1
    cell = torch.stack(torch.meshgrid(torch.arange(rows), torch.arange(bags // rows), indexing="ij"), -1).reshape(-1, 2)
    size = 4.0 / torch.tensor([rows, bags // rows], dtype=torch.float64)
    inside = torch.rand(pixels, 2, generator=generator, dtype=torch.float64)
    bag = torch.arange(pixels) % bags
    place = (cell[bag] + inside) * size
    inputs = torch.cat([place, cover_at(place)[:, None]], dim=1)
    query = 4 * torch.rand(targets, 2, generator=generator, dtype=torch.float64)
    seen = torch.zeros(targets, dtype=torch.float64)
    for _ in range(16):
        near = query + (torch.rand(targets, 2, generator=generator, dtype=torch.float64) - 0.5) * size
        seen += field(near, cover_at(near)) / 16
    noise = 0.1 * torch.randn(targets, generator=generator, dtype=torch.float64)
    return IndirectData(Bags(inputs, bag, bags), (cell + 0.5) * size, query, seen + noise), field(place, inputs[:, 2])


def model(bags: int, inducing: int) -> ModelSpec:
    """Matérn-3/2 on the place plus a Gaussian on the covariate; ℓ Matérn-3/2 on the place."""
    place = Term((Factor("matern32", ("row", "column"), (1.0,)),), 0.5)
    k = KernelSpec((place, Term((Factor("rbf", ("cover",), (1.0,)),), 0.5)))
    ell = KernelSpec((Term((Factor("matern32", ("row", "column"), (1.0,)),)),))
    return ModelSpec("variational_cmp", k, ell, 1e-3 / bags, 0.01, 0.01, inducing=Inducing(inducing, "grid"))


def clocked(work: Callable, device: torch.device):
    """CPU seconds (on a GPU: wall), and the result."""
    clock = time.perf_counter if device.type == "cuda" else time.process_time
    begin = clock()
    found = work()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return clock() - begin, found


def measure(pixels: int, bags: int, targets: int, inducing: int, device: torch.device) -> dict:
    """Every part of one job: seconds, megabytes above what importing takes, and accuracy."""
    data, truth = make(pixels, bags, targets)
    data, truth, spec = data.to(device), truth.to(device), model(bags, inducing)
    seconds: dict[str, float] = {}
    seconds["once"], _ = clocked(lambda: summarise(spec, data, COLUMNS), device)
    trainable = Trainable(spec, data, COLUMNS)
    thinning, loss = clocked(lambda: collapsed_objective(trainable, data, lambda: None), device)
    seconds["once"] += thinning
    seconds["bound and gradient"], _ = clocked(lambda: loss().backward(), device)
    seconds["conditioning"], posterior = clocked(lambda: sparse_posterior(spec, data, COLUMNS), device)
    inputs = data.bags.inputs
    seconds["prediction"], mean = clocked(lambda: (posterior.mean(inputs), posterior.variance(inputs))[0], device)
    peak = peak_mb(device)
    value, error = bound_and_error(spec, data, COLUMNS)
    return {
        "seconds": seconds, "peak_mb": peak, "bound": value, "error": error, "left_out": posterior.left_out,
        "rmse": float((mean - truth).square().mean().sqrt()), "sd": float(truth.std()),
    }  # fmt: skip


if __name__ == "__main__":
    torch.set_num_threads(1)
    where = torch.device(sys.argv[5])
    before = 0.0 if where.type == "cuda" else peak_mb(where)
    importlib.import_module("sklearn.cluster")  # thinning needs it; the time of its import is not what is measured
    if "far" in sys.argv[6:]:
        target_summary.MOST_BAGS = 1
    found = measure(*(int(value) for value in sys.argv[1:5]), where)
    print(json.dumps({**found, "peak_mb": found["peak_mb"] - before}))
