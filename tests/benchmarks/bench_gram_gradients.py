"""K̄ with all its derivatives: one pass against evaluating every tile twice, the place by radii against few points.

CPU time, one thread, median of 3.
"""

from collections.abc import Callable
from unittest import mock

import torch

from deconditioning.bag_sums import direct
from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import gram
from deconditioning.bag_sums.moving import BagGram, moving_gram, over_pairs
from deconditioning.bag_sums.radii import RadialTable, tabulate
from deconditioning.downscaling.prediction import picture_of
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.fields.problem.coarsened import make_problem
from deconditioning.fields.problem.problem import DownscalingProblem
from deconditioning.fields.reading.opening import open_fields
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.models.sparse.coreset import coreset
from deconditioning.observations import Bags
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds
from tests.conftest import REAL_DATA

SIZES, FEW = (100, 440), 10
#: First and last row, first and last column of the plane's cells that are used; none: all.
REGION: tuple[int, int, int, int] | None = None
SMOKE = {"SIZES": (6,), "FEW": 2, "REGION": (0, 9, 0, 19)}
SELECT = {"time": 2, "level_height": 4}
KERNEL = KernelSpec((Term((Factor("matern32", ("a", "b"), (0.5, 0.7)),)), Term((Factor("rbf", ("c",), (0.8,)),), 0.5)))


def bench_gram_gradients() -> None:
    """One row: points, bags, ours, yardstick, ratio, largest relative difference of the gradients."""
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    rows = []
    for bags in SIZES:
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
    keep("gram_gradients", [*rows, *map(_by_radii, _problems())])


def _problems() -> list[DownscalingProblem]:
    """Half the cells of a plane and of a sphere, of the place alone."""
    plane = DownscalingSpec("air_potential_temperature", (), (), (9, 9), 0.5, 0, select=SELECT, region=REGION)
    sphere = DownscalingSpec("ttop", (), (), (6, 6), 0.5, 0)
    return [
        build_problem(Source("ukv-645m"), plane),
        make_problem(open_fields(REAL_DATA / "ncep_gdas_flux_20060401_t62.nc"), sphere),
    ]


def _by_radii(problem: DownscalingProblem) -> Row:
    """K̄ of Matérn-1/2 and its derivatives from a table of distances, against ten points a cell."""
    picture, few = picture_of(problem), coreset(problem.data.bags, FEW)
    spec = KernelSpec((Term((Factor("matern12", problem.columns, (0.5,)),)),))
    kernel = spec.build(problem.columns)
    made = []

    def make() -> None:
        def table() -> RadialTable | None:
            return tabulate(picture.bags, picture.layout, picture.points)

        made[:] = [moving_gram(spec, few, table, picture.layout, picture.names)]

    once = cpu_seconds(make)
    with torch.no_grad():
        exact = over_pairs(problem.data.bags)(kernel)
        worst = [float((take(kernel) - exact).abs().max()) for take in (made[0], over_pairs(few))]

    def gradients(take: BagGram) -> Callable[[], None]:
        return lambda: [take(kernel).sum().backward() for _ in range(5)][-1]

    fast, slow = (cpu_seconds(gradients(take)) / 5 for take in (made[0], over_pairs(few)))
    return Row(
        "Bag-mean kernel of the place with all derivatives, by radii",
        f"{len(problem.data.bags.inputs):,} pixels, {problem.data.bags.count} cells",
        fast,
        "CPU s",
        slow,
        "10 points a cell",
        f"off all pairs by {worst[0]:.0e} of the variance, 10 points a cell by {worst[1]:.0e}",
        note=f"the table of distances, made once for all hyperparameters, takes {once:.2g} CPU s more",
    )
