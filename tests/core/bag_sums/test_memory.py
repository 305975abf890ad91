"""Bag-mean sums of 20,000 points stay far below a gigabyte above what importing takes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
MEASURE = """
import torch
from deconditioning.engine.reporting import peak_mb
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags

torch.set_num_threads(1)
points, count = 20_000, 200
inputs = torch.randn(points, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
bags = sort_bags(Bags(inputs, torch.arange(points) % count, count))
kernel = KernelSpec((Term((Factor("rbf", ("a", "b", "c"), (1.0,)),)),)).build(("a", "b", "c"))
before = peak_mb(torch.device("cpu"))
with torch.no_grad():
    gram(kernel, bags)
print(peak_mb(torch.device("cpu")) - before)
"""


def test_twenty_thousand_points_take_little_memory():
    done = subprocess.run([sys.executable, "-c", MEASURE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert float(done.stdout) < 500  # megabytes; all pairs at once would take 3,200
