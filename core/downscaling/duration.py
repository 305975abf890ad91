"""About how long a downscaling takes, to be said before it begins."""

from core.fields import DownscalingProblem

#: Seconds on one core: whatever the size, for each pixel, for each cell and for each pair of cells, with learning and
#: without; from the stored benchmarks and runs of 90 to 2,000 cells, within a factor of three.
_LEARNED, _AS_GIVEN = (10.0, 1.5e-4, 0.05, 5e-5), (3.0, 5e-5, 5e-3, 2e-6)


def about_seconds(problem: DownscalingProblem, learn: bool) -> float:
    """Seconds of computing on one core, a guess within a factor of three, from the numbers of pixels and cells."""
    cells = problem.data.bags.count + len(problem.data.targets) * (not problem.matched)
    always, pixel, cell, pair = _LEARNED if learn else _AS_GIVEN
    return always + pixel * problem.grid.area.size + cell * cells + pair * cells**2
