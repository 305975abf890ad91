"""One place that chooses the device and says how much memory it has."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch

from deconditioning.errors import InputError
from deconditioning.threads import usable_cores

AUTO = "auto"


@dataclass(frozen=True)
class Device:
    """A compute device: ``name`` ("cpu" or "cuda:0"), a label for people, total and free bytes."""

    name: str
    label: str
    total_bytes: int
    free_bytes: int


def choose(name: str | None = None) -> torch.device:
    """The device to compute on: ``name`` where it is no "auto", else ``$DECONDITIONING_DEVICE``, else CUDA where there
    is one, else the CPU.

    Raises ``InputError`` when CUDA is asked for and absent.
    """
    requested = (name or AUTO).lower()
    if requested == AUTO:
        requested = (os.environ.get("DECONDITIONING_DEVICE") or AUTO).lower()
    if requested == AUTO:
        requested = "cuda" if torch.cuda.is_available() else "cpu"
    if requested.startswith("cuda") and not torch.cuda.is_available():
        raise InputError("The device 'cuda' was requested, but this machine has no GPU: choose 'cpu' or 'auto'.")
    if requested != "cpu" and not requested.startswith("cuda"):
        raise InputError(f"The device '{requested}' is unknown: choose 'auto', 'cpu' or 'cuda'.")
    return torch.device(requested)


def describe(device: torch.device) -> Device:
    """What a page shows of the device: its name and memory."""
    if device.type == "cuda":
        free, total = torch.cuda.mem_get_info(device)
        return Device(str(device), torch.cuda.get_device_name(device), total, free)
    import psutil

    memory = psutil.virtual_memory()
    return Device("cpu", f"CPU, {usable_cores()} cores", memory.total, memory.available)


@contextmanager
def one_thread() -> Iterator[None]:
    """Torch computes on one thread inside; also a decorator. Matrices of some hundred rows are slower on several, and
    far slower where other work wants the same cores."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
