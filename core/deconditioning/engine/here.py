"""A run without an engine: the same task in this process, for the command line."""

from typing import Any

from deconditioning.engine.context import Context
from deconditioning.engine.records import RunSpec, jsonable
from deconditioning.engine.tasks import find_task


def run_here(spec: RunSpec, context: Context | None = None) -> dict[str, Any]:
    """Do ``spec`` now, in this process, and return the task's result as plain JSON data.

    Files and trace stay in ``context``; errors come through as they are.
    """
    context = Context() if context is None else context
    return jsonable(find_task(spec.task)(spec.arguments(), context))
