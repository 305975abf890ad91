"""The run engine: what to do (RunSpec) becomes a Run with progress, cancel and a folder on disk."""

from typing import TYPE_CHECKING

from core.lazy import lazily

if TYPE_CHECKING:
    from core.engine.context import Context
    from core.engine.engine import Engine
    from core.engine.here import run_here
    from core.engine.records import Run, RunSpec
    from core.engine.tasks import TASKS
    from core.engine.visitor import Visitor

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
