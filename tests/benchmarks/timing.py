"""Timing shared by the benchmarks."""

import statistics
import time


def cpu_seconds(work, repeats: int = 3) -> float:
    """Median CPU seconds of some runs."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return statistics.median(times)
