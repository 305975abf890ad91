"""How many cores this process may use, and with them the threads of torch, BLAS and OpenMP."""

import os
from pathlib import Path

#: Where a container's share of the processors stands: microseconds of computing in each period (Linux, cgroup 2).
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def set_threads(spare: int = 0) -> None:
    """Let torch, BLAS and OpenMP use the usable cores but ``spare``, unless ``OMP_NUM_THREADS`` says otherwise.

    By themselves they take all cores of the machine, which is slow in a container that may use only some of them. Call
    it before torch is imported.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, usable_cores() - spare)))


def usable_cores(quota: Path = _QUOTA) -> int:
    """The number of cores that this process may run on, at most its container's share of them; at least 1."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        most, period = quota.read_text().split()[:2]
        share = int(most) // int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no container, or "max": no limit
        return cores
    return max(1, min(cores, share))
