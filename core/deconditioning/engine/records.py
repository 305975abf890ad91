"""The engine's two records: the specification of a run (RunSpec) and its state and result (Run)."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from deconditioning.engine.labels import Label
from deconditioning.errors import InputError
from deconditioning.plain_data import check_seed
from deconditioning.versions import UNSTATED

ACTIVE = ("queued", "running")
ENDED = ("done", "cancelled", "failed", "interrupted")


def jsonable(value: Any) -> Any:
    """``value`` as plain JSON data: numbers that are not finite become null, arrays become lists.

    Raises ``TypeError`` for what has no JSON form.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [jsonable(item) for item in value]
    if hasattr(value, "tolist"):  # numpy scalars and arrays, torch tensors
        return jsonable(value.tolist())
    raise TypeError(f"{type(value).__name__} has no JSON form")


@dataclass(frozen=True)
class RunSpec:
    """Specification of a run: a task, its settings and its seed. JSON-able, so that a run can be repeated.

    Parameters
    ----------
    task : a key of ``deconditioning.engine.tasks.TASKS``, or ``"deconditioning.module:function"``.
    settings : the task's settings, plain JSON data.
    seed : seed of every random choice in the run.
    title : title in the list of runs.
    """

    task: str
    settings: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    title: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.task, str) or not self.task:
            raise InputError(f"`task` is {self.task!r}: give the name of a task.")
        if not isinstance(self.settings, Mapping):
            raise InputError(f"`settings` is a {type(self.settings).__name__}: give a dictionary.")
        check_seed(self.seed)
        try:
            plain = json.loads(json.dumps(jsonable(self.settings), allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise InputError(f"`settings` cannot be written as JSON ({error}): use numbers, text and lists.") from None
        object.__setattr__(self, "settings", plain)
        object.__setattr__(self, "title", str(self.title)[:200])

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return asdict(self)

    def arguments(self) -> dict[str, Any]:
        """The arguments of the task: the settings, with the run's seed if they contain none."""
        return {"seed": self.seed, **self.settings}

    @classmethod
    def from_dict(cls, data: Any) -> "RunSpec":
        """The record from JSON data; ``InputError`` if they are not one."""
        if not isinstance(data, Mapping) or "task" not in data:
            raise InputError("This is not a run's settings: a `task` is missing.")
        known = {name: data[name] for name in ("task", "settings", "seed", "title") if name in data}
        return cls(**known)


@dataclass(frozen=True)
class Run:
    """What became of a RunSpec. Times are seconds since 1970 (UTC); ``progress`` lies in 0…1.

    ``status`` is queued, running, done, cancelled, failed or interrupted; ``message`` is the last
    sentence of the task (or the engine); ``heard`` is when the worker was last heard of;
    ``attempt`` counts starts (2 when a lost worker process made the run start again);
    ``owner`` is the mark of the visitor who began it (``engine.visitors.visitor``), empty when that is nobody;
    ``version`` is the version of this software that made it;
    ``result`` is the task's result, or its best so far when the run did not end; ``label`` what a person calls it.
    """

    id: str
    spec: RunSpec
    status: str
    created: float
    started: float | None = None
    ended: float | None = None
    progress: float | None = None
    eta_s: float | None = None
    message: str = ""
    result: dict[str, Any] | None = None
    files: tuple[str, ...] = ()
    heard: float | None = None
    attempt: int = 0
    owner: str = ""
    version: str = UNSTATED
    label: Label = field(default_factory=Label)

    @property
    def active(self) -> bool:
        """Whether the run is still queued or running."""
        return self.status in ACTIVE
