"""Bag sums: routes against every pair of points, kernel values a second against the machine's ceiling and KeOps.

CPU time, one thread, median of 3. The ceiling is what one product of matrices and one exponential of a tile cost, the
least that any Gaussian kernel value costs here; sums over bags come on top.
"""

import importlib.util
from dataclasses import replace

import torch

from deconditioning.bag_sums.blocks import sort_bags
from deconditioning.bag_sums.direct import cross
from deconditioning.bag_sums.pixel_sums import _add_direct, picture_sums
from deconditioning.datasets.entries import find
from deconditioning.downscaling.prediction import picture_of
from deconditioning.downscaling.settings import DownscaleSettings
from deconditioning.downscaling.source import Source, build_problem
from deconditioning.downscaling.starting import starting_spec
from deconditioning.errors import never
from deconditioning.fields.spec import DownscalingSpec
from deconditioning.kernels.spec import Factor, KernelSpec, Term
from deconditioning.observations import Bags
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds

PLACE, OTHER = ("x", "y", "z"), ("a", "b", "c")
GAUSSIAN = KernelSpec((Term((Factor("rbf", OTHER, (1.0, 0.7, 0.9)),)),))
MATERN = KernelSpec((Term((Factor("matern32", PLACE, (0.7,)),)),))
PRODUCT = KernelSpec((Term((*MATERN.terms[0].factors, *GAUSSIAN.terms[0].factors)),))
SIZE, BAGS, PIXELS = 289, 20, 20_000
MATCHED, WHOLE = "ukv-645m", "atmosphere"
#: First and last row, first and last column of the cells that are used; none: all.
REGION: tuple[int, int, int, int] | None = None
SMOKE = {
    "SIZE": 9, "BAGS": 3, "PIXELS": 100, "MATCHED": "atmosphere-small", "WHOLE": "atmosphere-small",
    "REGION": (4, 13, 0, 35),
}  # fmt: skip
#: Learned on the planet at the paper's size (`deconditioning downscale atmosphere`), rounded.
FULL_SIZE = KernelSpec(
    (
        Term((Factor("matern32", ("sphere_x", "sphere_y", "sphere_z"), (0.5,)),)),
        Term((Factor("rbf", ("surface_altitude", "total_cloud_cover", "cloud_albedo"), (9.5, 2.5, 3.2)),)),
    )
)


def picture(key: str):
    """The picture of a data set at its own settings, and its starting model."""
    problem = build_problem(Source(key), DownscalingSpec.from_dict({**find(key).default, "region": REGION}))
    return picture_of(problem), starting_spec(problem, DownscaleSettings(model="bag_gp"))


def bench_kernel_sums() -> None:
    """Structured routes, then values a second."""
    torch.set_num_threads(1)
    keep("kernel_sums", [*_routes(), *_full_size(), *_values(), *_keops()])


def _routes() -> list[Row]:
    """Routes of the worked example against direct sums over the same picture, every number compared."""
    found, spec = picture(MATCHED)
    size = f"{found.bags.count} bags, {len(found.inputs):,} pixels"
    rows = []
    for term in spec.kernel.terms:
        kernel, plain = KernelSpec((term,)), replace(term, scale=1.0)  # the scale is in the kernel as built
        total = torch.zeros(found.bags.count, len(found.inputs), dtype=torch.float64)
        with torch.no_grad():
            built = kernel.build(found.names)
            slow = cpu_seconds(
                lambda built=built, plain=plain, total=total: _add_direct(total.zero_(), plain, built, found, never), 1
            )
        ours, sums = cpu_seconds(lambda kernel=kernel: picture_sums(kernel, found)), picture_sums(kernel, found)
        difference = float((sums.cross.at(slice(None)) - total).abs().max())
        rows.append(Row(f"Bag sums by {sums.routes[0]}", size, ours, yardstick=slow, against="every pair once",
                        accuracy=f"largest difference {difference:.1e}"))  # fmt: skip
    return rows


def _full_size() -> list[Row]:
    """Routes at the paper's size against direct sums of one bag, times the bags."""
    found, _ = picture(WHOLE)
    bags, pixels = found.bags.count, len(found.inputs)
    one = sort_bags(found.bags.subset(torch.tensor([bags // 2])))
    rows = []
    for term in FULL_SIZE.terms:
        kernel = KernelSpec((term,))
        with torch.no_grad():
            built = kernel.build(found.names)
            slow = cpu_seconds(lambda built=built: cross(built, one, found.inputs)) * bags * 3 / 4
            sums = picture_sums(kernel, found).cross.at(slice(None))
            difference = sums[bags // 2] - cross(built, one, found.inputs)[0]
        ours = cpu_seconds(lambda kernel=kernel: picture_sums(kernel, found))
        route = picture_sums(kernel, found).routes[0]
        rows.append(Row(f"Bag sums by {route}", f"{bags} bags × {SIZE}, {pixels:,} pixels", ours, yardstick=slow,
                        against="every pair once", accuracy=f"largest difference {float(difference.abs().max()):.1e}",
                        note=f"every pair: one bag timed, times {bags}, times 3/4 (their own pairs once)"))  # fmt: skip
    return rows


def _bags() -> tuple[Bags, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(SIZE * BAGS, 6, generator=generator, dtype=torch.float64)
    pixels = torch.randn(PIXELS, 6, generator=generator, dtype=torch.float64)
    return Bags(points, torch.arange(SIZE * BAGS) // SIZE, BAGS), pixels


def _ceiling(precision: torch.dtype) -> float:
    """Nanoseconds of one entry of a product with inner dimension 5 and its exponential, tile by tile."""
    left, right = torch.rand(SIZE, 5).to(precision), -torch.rand(5, 1800).to(precision)
    tile = torch.empty(SIZE, 1800, dtype=precision)

    def work() -> None:
        for _ in range(50):
            torch.mm(left, right, out=tile).exp_()

    return 1e9 * cpu_seconds(work, 5) / (50 * tile.numel())


def _values() -> list[Row]:
    """Direct bag sums by value, with their share of the ceiling; float32 with its largest error."""
    bags, pixels = _bags()
    blocks, rows, count = sort_bags(bags), [], SIZE * BAGS * PIXELS
    for name, kernel in (("Gaussian", GAUSSIAN), ("Matérn-3/2", MATERN), ("Matérn-3/2 × Gaussian", PRODUCT)):
        built = kernel.build((*PLACE, *OTHER))
        with torch.no_grad():
            exact = cross(built, blocks, pixels)
            for precision in (torch.float64, torch.float32):

                def work(built=built, precision=precision) -> torch.Tensor:
                    return cross(built, blocks, pixels, precision=precision)

                spent, error = cpu_seconds(work), float((work() - exact).abs().max())
                share = _ceiling(precision) / (1e9 * spent / count)
                told = f"{count / spent / 1e6:.0f} million values a second, {share:.0%} of the ceiling"
                told += f"; largest error of a sum {error:.0e}" if error else ""
                kind = str(precision).removeprefix("torch.")
                rows.append(Row(f"One {name} kernel value, summed over bags, {kind}", "6 columns", 1e9 * spent / count,
                                "CPU ns", accuracy=told,
                                note="ceiling: one product and one exponential of a tile"))  # fmt: skip
    return rows


def _keops() -> list[Row]:
    """The same Gaussian sums by KeOps, bag after bag, where it is installed (it needs a compiler)."""
    if importlib.util.find_spec("pykeops") is None:
        print("pykeops is not installed: no comparison with it")
        return []
    from pykeops.torch import LazyTensor

    bags, pixels = _bags()
    blocks, scale = sort_bags(bags), torch.tensor(GAUSSIAN.terms[0].factors[0].lengthscales, dtype=torch.float64)
    left, right = (pixels[:, 3:] / scale).contiguous(), (bags.inputs[:, 3:] / scale).contiguous()

    def theirs() -> torch.Tensor:
        x = LazyTensor(left[:, None, :])
        sums = []
        for begin in range(0, len(right), SIZE):
            y = LazyTensor(right[None, begin : begin + SIZE, :].contiguous())
            sums.append((-((x - y) ** 2).sum(-1) / 2).exp().sum(1)[:, 0] / SIZE)
        return torch.stack(sums)

    with torch.no_grad():
        built = GAUSSIAN.build((*PLACE, *OTHER))
        difference = float((theirs() - cross(built, blocks, pixels)).abs().max())
        ours, spent = (cpu_seconds(work) for work in (lambda: cross(built, blocks, pixels), theirs))
    count = SIZE * BAGS * PIXELS
    return [Row("One Gaussian kernel value, summed over bags, float64", "6 columns", 1e9 * ours / count, "CPU ns",
                1e9 * spent / count, "KeOps 2.3 on the CPU, one sum a bag",
                f"largest difference {difference:.0e}")]  # fmt: skip
