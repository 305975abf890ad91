"""Reports of long computations without a context, and their cost in time and memory."""

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


class NoReport:
    """A context for callers that give none."""

    def report(self, **event: Any) -> None:
        """Drop the event."""

    def check(self) -> None:
        """Never cancelled."""

    def best(self, result: dict[str, Any]) -> None:
        """Drop the best so far."""


class Part:
    """A context for one part of a task: its steps count as the ``share`` of the whole from ``begin`` to ``end``."""

    def __init__(self, context: Any, begin: float, end: float) -> None:
        self._context, self._begin, self._end = context, begin, end
        self.check, self.best = context.check, context.best

    def report(self, **event: Any) -> None:
        """The event; with the share of the whole that is done where it has a step."""
        if event.get("total"):
            event["share"] = self._begin + (self._end - self._begin) * event["step"] / event["total"]
        self._context.report(**event)


class Stopwatch:
    """CPU and wall seconds of this process since it was made."""

    def __init__(self) -> None:
        self._begun = (time.process_time(), time.perf_counter())

    def seconds(self) -> dict[str, float]:
        """``{"cpu": …, "wall": …}`` so far."""
        return {"cpu": time.process_time() - self._begun[0], "wall": time.perf_counter() - self._begun[1]}


def peak_mb(device: "torch.device") -> float:
    """Largest memory so far in MB: of this process, or allocated on the GPU."""
    if device.type == "cuda":
        import torch

        return torch.cuda.max_memory_allocated(device) / 1e6
    status = Path("/proc/self/status")
    if status.is_file():  # the peak of this program alone: getrusage also remembers that of the process it began as
        return float(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1e3  # type: ignore[index]
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
