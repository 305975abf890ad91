"""Small tasks for the engine's tests; they run on workers by their names.

A ``gate`` is a file that the test makes: a task waits for it where the test has to be sure how far the task is.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deconditioning.engine.context import Context
from deconditioning.errors import Cancelled, InputError

#: As many steps as a run that is to be cancelled needs on any machine.
ENDLESS = 10**9


def wait_at(gate: Path, check: Callable[[], None]) -> None:
    """Wait until the test opens the gate; ``check`` ends the wait of a run that is cancelled."""
    while not gate.exists():
        check()
        time.sleep(0.01)


def count(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Count to ``steps``, reporting each one, with a ``gate`` half-way; keeps the best so far when cancelled."""
    steps, pause = settings.get("steps", 5), settings.get("pause", 0.01)
    best = {"reached": 0}
    try:
        for step in range(1, steps + 1):
            context.check()
            if "gate" in settings and step == steps // 2 + 1:
                wait_at(Path(settings["gate"]), context.check)
            time.sleep(pause)
            best = {"reached": step, "seed": settings["seed"]}
            context.best(best)
            context.report(step=step, total=steps, message=f"step {step}", evidence=-1.0 / step, scales=[step, 2.0])
    except Cancelled:
        return best | {"cancelled": True}
    context.save("numbers.txt", b"1 2 3")
    return best | {"nice": os.nice(0), "pid": os.getpid(), "threads": os.environ.get("OMP_NUM_THREADS")}


def stubborn(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Never catches Cancelled."""
    while True:
        context.check()
        time.sleep(0.01)


def complain(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Fail with a sentence."""
    raise InputError("The target is constant: choose another variable.")


def stumble(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Fail without one."""
    context.report(step=1, total=2)
    raise ZeroDivisionError("division by zero")


def rubbish(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Report and return what JSON cannot say as it is."""
    import numpy as np

    context.report(loss=float("nan"), vector=np.arange(3), norm=np.float64(2))
    return {"nan": float("nan"), "inf": np.inf, "array": np.eye(2), "count": np.int64(3)}


def netcdf(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Write a NetCDF to memory and sum a dask array, both inside the task."""
    from io import BytesIO

    import dask.array
    import xarray as xr

    buffer = BytesIO()
    xr.Dataset({"t": ("x", [1.0, 2.0])}).to_netcdf(buffer, engine="h5netcdf")
    context.save("field.nc", buffer.getvalue())
    return {"sum": int(dask.array.arange(10, chunks=2).sum().compute())}


def die(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Kill the worker process at the first ``times`` attempts, each time when the test has heard its report."""
    folder = Path(settings["folder"])
    attempt = 1 + len(list(folder.glob("begun-*")))
    (folder / f"begun-{attempt}").touch()
    context.best({"reached": attempt})
    context.report(step=1, total=2)
    if attempt > settings["times"]:
        return {"reached": attempt, "alive": True}
    wait_at(folder / f"heard-{attempt}", context.check)
    os.kill(os.getpid(), 9)
    return {}


def upload_there(settings: dict[str, Any], context: Any) -> dict[str, Any]:
    """What this worker finds of the upload that the settings name, and where."""
    from deconditioning.engine.visitors.uploads import upload_folder

    digest = settings["source"]["fields"].removeprefix("upload:")
    file = (upload_folder() / f"{digest}.nc").resolve()
    return {"data": file.read_bytes().decode(), "folder": str(file.parent)}


def deaf(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Computes on, a fifth of the time for others' sake, and never looks up."""
    while True:
        sum(range(10**5))
        time.sleep(0.008)


def absorbed(settings: dict[str, Any], context: Context) -> dict[str, Any]:
    """Look up for the first time when the gate is open, as after imports; then leave a mark for each step."""
    folder = Path(settings["folder"])
    (folder / "begun").touch()
    wait_at(folder / "gate", lambda: None)
    for step in range(3):
        context.check()
        (folder / f"step-{step}").touch()
        context.report(step=step + 1, total=3)
    return {}
