"""Bag sums of the worked example: structured routes against direct summation, CPU time, one thread, median of 3."""

import torch

from core.datasets import find
from core.experiments.prediction import picture_of
from core.experiments.settings import DownscaleSettings, starting_spec
from core.experiments.source import Source, build_problem
from core.fields import DownscalingSpec
from core.kernels.pixel_sums import _direct, term_sums
from core.kernels.spec import KernelSpec
from tests.benchmarks.table import Row, keep
from tests.benchmarks.timing import cpu_seconds


def bench_pixel_sums() -> None:
    """One row a term of the kernel."""
    torch.set_num_threads(1)
    problem = build_problem(Source("ukv-645m"), DownscalingSpec.from_dict(find("ukv-645m").default))
    picture = picture_of(problem)
    pairs = len(picture.bags.inputs) * len(picture.inputs)
    size = f"{problem.data.bags.count} bags, {len(picture.inputs):,} pixels, {pairs:.2g} pairs"
    rows = []
    for index, term in enumerate(starting_spec(problem, DownscaleSettings(model="bag_gp")).kernel.terms):
        kernel = KernelSpec((term,)).unit(0).build(picture.names)
        ours = cpu_seconds(lambda term=term: term_sums(term, picture))
        with torch.no_grad():
            direct = cpu_seconds(lambda kernel=kernel: _direct(kernel, picture, lambda: None), 1)
            found, yardstick = term_sums(term, picture), _direct(kernel, picture, lambda: None)
        difference = float((found.cross - yardstick).abs().max())
        what = f"Bag sums at every pixel, {found.route}"
        note = f"UKV example, term {index + 1} of k; yardstick once"
        rows.append(Row(what, size, ours, "CPU s", direct, "every pair", f"sums to {difference:.0e}", note=note))
    keep("pixel_sums", rows)
