"""K̄ with all its derivatives: one pass against evaluating every tile twice, CPU time, one thread, median of 3."""

from unittest import mock

import torch

from core.bag_sums import direct
from core.bag_sums.blocks import sort_bags
from core.bag_sums.direct import gram
from core.kernels.spec import Factor, KernelSpec, Term
from core.observations import Bags
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds

KERNEL = KernelSpec((Term((Factor("matern32", ("a", "b"), (0.5, 0.7)),)), Term((Factor("rbf", ("c",), (0.8,)),), 0.5)))


def bench_gram_gradients() -> None:
    """One row: points, bags, ours, yardstick, ratio, largest relative difference of the gradients."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    rows = []
    for bags in (100, 440):
        inputs = torch.randn(10 * bags, 3, dtype=torch.float64, generator=generator)
        blocks = sort_bags(Bags(inputs, torch.arange(10 * bags) // 10, bags))
        weight = torch.randn(bags, bags, dtype=torch.float64, generator=generator)
        kernel = KERNEL.build(("a", "b", "c"))

        def ours(kernel=kernel, blocks=blocks, weight=weight):
            kernel.zero_grad()
            (gram(kernel, blocks) * weight).sum().backward()
            return [p.grad.clone() for p in kernel.parameters()]

        def yardstick(kernel=kernel, blocks=blocks, weight=weight):
            kernel.zero_grad()
            with mock.patch.object(direct, "fits", lambda *_: False):
                (gram(kernel, blocks) * weight).sum().backward()
            return [p.grad.clone() for p in kernel.parameters()]

        fast, slow = cpu_seconds(ours), cpu_seconds(yardstick)
        worst = max(float(((a - b) / b).abs().max()) for a, b in zip(ours(), yardstick(), strict=True))
        size, what = f"{10 * bags:,} points, {bags} bags", "Bag-mean kernel with all derivatives"
        rows.append(Row(what, size, fast, "CPU s", slow, "every tile twice", f"gradients to {worst:.0e}"))
    keep("gram_gradients", rows)
