"""The tasks of the engine: a short name for each, and how a name becomes a function."""

import importlib
import re
from collections.abc import Callable
from typing import Any

from deconditioning.errors import InputError

# Short name → "module:function". A task is `def task(settings: dict, context: Context) -> dict`.
TASKS: dict[str, str] = {
    "downscale": "deconditioning.downscaling.run:learn_task",
    "sweep": "deconditioning.downscaling.sweep:sweep_task",
    "sweep-study": "deconditioning.studies.sweeping:study_task",
    "predict-store": "deconditioning.downscaling.stores.predict_store:predict_store_task",
    "write-period": "deconditioning.period.tasks.write:write_period_task",
    "swiss-roll": "deconditioning.studies.picture_tasks:roll_task",
    "one-dimension": "deconditioning.studies.picture_tasks:line_task",
    "sparse-representation": "deconditioning.studies.picture_tasks:sparse_task",
    "downscaling-benchmark": "deconditioning.studies.downscaling.benchmark:benchmark_task",
    "swiss-roll-benchmark": "deconditioning.studies.swiss_roll.benchmark:benchmark_task",
}

_DIRECT = re.compile(r"(deconditioning|tests)(\.[a-z_][a-z0-9_]*)+:[a-z][a-z0-9_]*")


def task_path(task: str) -> str:
    """The ``module:function`` behind a task's name; only this project's own functions are tasks."""
    path = re.sub(r"^core\.", "deconditioning.", TASKS.get(task, task))  # as version 0.1.0 named the package
    if not _DIRECT.fullmatch(path):
        raise InputError(f"There is no task {task!r}: choose one of {', '.join(sorted(TASKS))}.")
    return path


def find_task(task: str) -> Callable[..., dict[str, Any]]:
    """The function of a task (imports its module)."""
    module, name = task_path(task).split(":")
    try:
        function = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as error:
        if error.name is None or not module.startswith(error.name):
            raise
        function = None
    if not callable(function):
        raise InputError(f"There is no task {task!r}: {module} has no function {name}.")
    return function
