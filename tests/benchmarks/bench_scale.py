"""Cost and memory of the variational path against the number of pixels: time and peak of a process for each size.

Three sizes with the same 500 bags and 5,000 targets, then a million pixels in 1,000 bags with 100,000 targets. Hardest
case: ℓ Matérn-3/2, whose matrix has full rank, and ς² > 0. ``bench_most_bags`` is the largest, 5,000 bags with 100,000
targets, where summing up the targets once (``M B²``) takes about ten minutes on one core; it is a row of its own.
"""

import json

from tests.benchmarks.apart import output_of
from tests.benchmarks.table import Row, keep

SIZES = ((10_000, 500, 5000), (100_000, 500, 5000), (1_000_000, 500, 5000), (1_000_000, 1000, 100_000))
LARGEST = (1_000_000, 5000, 100_000)
INDUCING = 200
SMOKE = {"SIZES": ((400, 9, 20),), "LARGEST": (400, 16, 20), "INDUCING": 9}
PARTS = {
    "once": "preparing the data, once",
    "bound and gradient": "one step of learning",
    "conditioning": "conditioning",
    "prediction": "mean and sd of every pixel",
}


def in_words(size: tuple[int, int, int]) -> str:
    """A size for the table."""
    pixels, bags, targets = size
    return f"{pixels:,} pixels, {bags:,} bags, {targets:,} targets"


def rows_of(size: tuple[int, int, int], found: dict) -> list[Row]:
    """A row for every part of one size."""
    pixels, bags, targets = size
    shown = in_words(size)
    scored = f"RMSE {found['rmse']:.3f} of sd {found['sd']:.2f}; bound {found['bound']:.1f} ± {found['error']:.1f}"
    more = {"pixels": pixels, "bags": bags, "targets": targets}
    return [
        Row(f"Variational CMP, {INDUCING} inducing points: {said}", shown, found["seconds"][part], accuracy=scored,
            peak_mb=found["peak_mb"], more={**more, "part": part},
            note="± of the bound: estimated from sampled pairs of bags; peak of the whole job above imports")
        for part, said in PARTS.items()
    ]  # fmt: skip


def found_on(device: str, size: tuple[int, int, int]) -> dict:
    """Seconds, memory and scores of one size, from a process of its own."""
    return json.loads(output_of("-m", "tests.benchmarks.large", *map(str, size), str(INDUCING), device))


def measured(size: tuple[int, int, int]) -> list[Row]:
    """The rows of one size on the CPU."""
    return rows_of(size, found_on("cpu", size))


def bench_scale() -> None:
    """Every size, kept as soon as it is measured."""
    rows: list[Row] = []
    for size in SIZES:
        rows += measured(size)
        keep("scale", rows)


def bench_most_bags() -> None:
    """The largest problem of the exact weights."""
    keep("scale_most_bags", measured(LARGEST))
