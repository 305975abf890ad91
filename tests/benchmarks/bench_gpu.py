"""The variational path on a GPU beside one thread of the same machine's CPU; left out where there is no GPU."""

import pytest
import torch

from tests.benchmarks.bench_scale import INDUCING, PARTS, found_on, in_words
from tests.benchmarks.table import Row, keep

SIZES = ((100_000, 500, 5000), (1_000_000, 500, 5000), (1_000_000, 1000, 100_000))
SMOKE = {"SIZES": ((400, 9, 20),)}


def rows_of(size: tuple[int, int, int]) -> list[Row]:
    """A row for every part of one size: seconds on the GPU, CPU seconds of one thread as the yardstick."""
    gpu, cpu = found_on("cuda", size), found_on("cpu", size)
    apart = abs(gpu["bound"] - cpu["bound"]) / abs(cpu["bound"])
    return [
        Row(f"Variational CMP, {INDUCING} inducing points: {what}",
            in_words(size), gpu["seconds"][part], unit="s", yardstick=cpu["seconds"][part],
            against="one CPU thread", device="cuda", peak_mb=gpu["peak_mb"],
            accuracy=f"bounds differ by {apart:.0e}, RMSE {gpu['rmse']:.6f} and {cpu['rmse']:.6f}",
            note="peak of the GPU's memory")
        for part, what in PARTS.items()
    ]  # fmt: skip


def bench_gpu() -> None:
    """Every size, kept as soon as it is measured."""
    if not torch.cuda.is_available():
        pytest.skip("torch finds no CUDA device here")
    rows: list[Row] = []
    for size in SIZES:
        rows += rows_of(size)
        keep("gpu", rows)
