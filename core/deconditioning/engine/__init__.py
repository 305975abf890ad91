"""The run engine: what to do (RunSpec) becomes a Run with progress, cancel and a folder on disk."""

from typing import TYPE_CHECKING

from deconditioning.lazy import lazily

if TYPE_CHECKING:
    from deconditioning.engine.context import Context
    from deconditioning.engine.engine import Engine
    from deconditioning.engine.here import run_here
    from deconditioning.engine.records import Run, RunSpec
    from deconditioning.engine.tasks import TASKS
    from deconditioning.engine.visitor import Visitor

_MODULES = {
    "Context": "context",
    "Engine": "engine",
    "run_here": "here",
    "Run": "records",
    "RunSpec": "records",
    "TASKS": "tasks",
    "Visitor": "visitor",
}

__all__ = [
    "TASKS",
    "Context",
    "Engine",
    "Run",
    "RunSpec",
    "Visitor",
    "run_here",
]

__getattr__ = lazily(__name__, _MODULES)
