"""What experiments say while they run: progress for a run's context, time, memory, silence for callers without one."""

import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from core.models.catalogue import NamedModel
from core.models.learning import LearningOptions
from core.wording import signed


class Quiet:
    """A context for callers that give none."""

    def report(self, **event: Any) -> None:
        """Drop the event."""

    def check(self) -> None:
        """Never cancelled."""

    def best(self, result: dict[str, Any]) -> None:
        """Drop the best so far."""


class Stopwatch:
    """CPU and wall seconds of this process since it was made."""

    def __init__(self) -> None:
        self._begun = (time.process_time(), time.perf_counter())

    def seconds(self) -> dict[str, float]:
        """``{"cpu": …, "wall": …}`` so far."""
        return {"cpu": time.process_time() - self._begun[0], "wall": time.perf_counter() - self._begun[1]}


def learning_reporter(
    context: Any, model: NamedModel, options: LearningOptions, approximation: str = ""
) -> Callable[[dict[str, Any]], None]:
    """Passes every evaluation of a learning on to a run's context, with its step of all and the best so far.

    ``approximation`` says how the data that are learned from differ from those that are predicted from.
    """
    two_staged = model.mediated and not model.correlated and options.stage_one != "joint"
    stages = 2 if two_staged else 1
    seen: list[str] = []

    def report(event: dict[str, Any]) -> None:
        if approximation:
            event = {**event, "quantity": f"{event['quantity']} ({approximation})"}
        if event["stage"] not in seen:
            seen.append(event["stage"])
        context.check()
        per_stage = event["total"]
        done = (len(seen) - 1) * per_stage + min(event["evaluation"], per_stage)
        values = {
            "stage": event["stage"],
            "restart": event["restart"],
            "quantity": event["quantity"],
            "value": event["value"],
            "best": event["best"],
            "hyperparameters": event["hyperparameters"],
        }
        context.report(step=done, total=stages * per_stage, message=_sentence(event), **values)
        if event["loss"] <= event["best_loss"]:
            context.best({"stage": event["stage"], "best_hyperparameters": event["hyperparameters"]})

    return report


def _sentence(event: dict[str, Any]) -> str:
    return f"{event['stage']}, start {event['restart'] + 1}: {evaluation_sentence(event)}"


def evaluation_sentence(event: dict[str, Any]) -> str:
    """An evaluation's quantity and value beside the best so far, such as "log evidence −170.12 (best −169.87)"."""
    value, best = (signed(event[name], 4 if abs(event[name]) < 1 else 2) for name in ("value", "best"))
    return f"{event['quantity']} {value} (best {best})"


def peak_mb(device: torch.device) -> float:
    """Largest memory so far in MB: of this process, or allocated on the GPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device) / 1e6
    status = Path("/proc/self/status")
    if status.is_file():  # the peak of this program alone: getrusage also remembers that of the process it began as
        return float(re.search(r"VmHWM:\s+(\d+)", status.read_text())[1]) / 1e3  # type: ignore[index]
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
