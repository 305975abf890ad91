"""How many threads a command computes on, where nobody has said so."""

import os
from pathlib import Path

#: Where a container's share of the processors stands: microseconds of computing in each period (Linux, cgroup 2).
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def set_threads() -> None:
    """Let torch, BLAS and OpenMP use the cores there are, unless ``OMP_NUM_THREADS`` says otherwise.

    They take all cores of the machine by themselves, which in a container that may use some of them is slow. To be
    called before torch is imported.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(usable_cores()))


def usable_cores(quota: Path = _QUOTA) -> int:
    """The cores that this process may run on, and no more than its container has a share of; at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        most, period = quota.read_text().split()[:2]
        share = int(most) // int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no container, or "max": no limit
        return cores
    return max(1, min(cores, share))
