"""The context of a task, through which it reports progress, checks for cancellation and saves results."""

import re
import time
from collections.abc import Callable
from typing import Any

from deconditioning.engine.records import jsonable
from deconditioning.errors import Cancelled, InputError

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]{0,120}")


def is_file_name(name: Any) -> bool:
    """Whether ``name`` is a plain file name: no path, no odd characters."""
    return isinstance(name, str) and _FILE_NAME.fullmatch(name) is not None


def check_file_name(name: str) -> str:
    """``name`` when it is a plain file name; ``InputError`` for paths and odd characters."""
    if not is_file_name(name):
        raise InputError(f"{name!r} is not a plain file name: use letters, digits, dot, dash and underscore.")
    return name


class Context:
    """The context of a task that runs in this process; the worker's context sends the same things.

    Parameters
    ----------
    on_report : called with every trace row, as ``{"time": …, "step": …, **values}``.
    stop : asked by ``cancelled``; says whether the task should stop.
    """

    def __init__(
        self,
        on_report: Callable[[dict[str, Any]], None] | None = None,
        stop: Callable[[], bool] | None = None,
    ) -> None:
        self.files: dict[str, bytes] = {}
        self.trace: list[dict[str, Any]] = []
        self.best_result: dict[str, Any] | None = None
        self._on_report = on_report
        self._stop = stop
        self._begin = time.monotonic()

    def report(
        self,
        *,
        step: int | None = None,
        total: int | None = None,
        message: str | None = None,
        **values: Any,
    ) -> None:
        """Add one row to the trace: the step out of ``total``, a message, and any named numbers.

        ``step`` and ``total``, or a ``share`` of the whole (`engine.reporting.Part`), determine progress and remaining
        time.
        """
        known = {"step": step, "total": total, "message": message}
        row: dict[str, Any] = {"time": round(time.monotonic() - self._begin, 4)}
        row |= {name: value for name, value in known.items() if value is not None}
        self._emit(row | jsonable(values))

    def best(self, result: dict[str, Any]) -> None:
        """Store ``result`` as the best so far, which remains if the run is interrupted."""
        self.best_result = jsonable(result)

    def save(self, name: str, data: bytes) -> None:
        """Store ``data`` as a named file of the run, delivered with the result."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError(f"The file {name!r} was given as {type(data).__name__}: give bytes.")
        self.files[check_file_name(name)] = bytes(data)

    def cancelled(self) -> bool:
        """Whether the task was asked to stop."""
        return bool(self._stop and self._stop())

    def check(self) -> None:
        """Raise ``Cancelled`` if the task was asked to stop; cheap, to be called in every iteration."""
        if self.cancelled():
            raise Cancelled("The run was cancelled.")

    def _emit(self, row: dict[str, Any]) -> None:
        self.trace.append(row)
        if self._on_report:
            self._on_report(row)
