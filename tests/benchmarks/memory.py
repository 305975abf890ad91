"""What the processes of a running app hold in memory, by their role."""

from collections import defaultdict
from dataclasses import dataclass

import psutil


@dataclass(frozen=True)
class Held:
    """Megabytes of one process: ``resident`` (RSS), ``unique`` to it (USS) and its proportional ``share`` (PSS).

    RSS counts pages that several processes share in each of them, PSS divides them, USS is what the process's end
    would free.
    """

    role: str
    resident: float
    unique: float
    share: float


def held(app: int) -> list[Held]:
    """The processes of the app with this process id, itself first; those that only help others are left out."""
    found = []
    for process in [psutil.Process(app), *psutil.Process(app).children(recursive=True)]:
        try:
            if role := _role(process):
                full = process.memory_full_info()
                found.append(Held(role, full.rss / 1e6, full.uss / 1e6, full.pss / 1e6))
        except psutil.NoSuchProcess:  # it ended meanwhile
            continue
    return found


def shares(app: int) -> dict[str, float]:
    """Megabytes by role (PSS, so that their sum is what the app holds)."""
    found: dict[str, float] = defaultdict(float)
    for each in held(app):
        found[each.role] += each.share
    return dict(found)


def _role(process: psutil.Process) -> str:
    """What a process of the app is for; empty for those that only help others."""
    words = " ".join(process.cmdline())
    marks = {
        "scripts.serve": "page process",
        "Scheduler": "scheduler",
        "Nanny": "a worker's nanny",
        "spawn_main": "worker",
    }
    return next((role for mark, role in marks.items() if mark in words), "")
