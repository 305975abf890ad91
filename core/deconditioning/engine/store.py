"""The runs folder: one folder a run, plain JSON, atomic writes, nothing in it trusted when read."""

import json
import os
import re
import secrets
import shutil
import time
from collections import OrderedDict
from pathlib import Path
from typing import Any

from deconditioning.engine import disk
from deconditioning.engine.context import check_file_name, is_file_name
from deconditioning.engine.labels import Label
from deconditioning.engine.records import ACTIVE, ENDED, Run, RunSpec, jsonable
from deconditioning.engine.visitors.visitor_id import is_mark
from deconditioning.errors import InputError

_ID = re.compile(r"\d{8}-\d{6}-(?:[0-9a-f]{8}){1,2}")
_MOST_BYTES = 64 * 2**20  # no JSON of ours is larger; larger ones are somebody else's
_LARGEST = 2**63 - 1  # larger whole numbers are none of ours; tables and floats cannot hold them
#: Deleted runs that can be brought back: their folders' names begin so, so many are kept, so many seconds.
_ASIDE, _KEPT_ASIDE, _KEPT_S = ".deleted-", 20, 24 * 3600.0
_PARTS = ("spec.json", "status.json", "trace.jsonl", "result.json", "label.json")


class Store:
    """The folder of all runs. Only a run's owner writes; everyone may read at any time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._cached_runs: dict[str, tuple[Any, Run, dict[str, Any]]] = {}
        self._traces: OrderedDict[str, tuple[int, list[dict[str, Any]]]] = OrderedDict()

    def folder(self, run_id: str) -> Path:
        """The folder of a run; ``InputError`` when the id is none of ours or the run is gone."""
        folder = self.root / run_id if _ID.fullmatch(str(run_id)) else None
        if folder is None or not folder.is_dir() or folder.is_symlink():
            raise InputError(
                f"There is no run {str(run_id)[:60]!r}: it may have been deleted; choose one on page Runs."
            )
        return folder

    def create(self, spec: RunSpec, owner: str = "", status: dict[str, Any] | None = None) -> str:
        """Make the folder of a new run and return its identifier.

        ``owner`` is a `Visitor`'s mark, empty for nobody's; ``status`` the run's first one. Raises ``InputError`` where
        the folder cannot be written; nothing is left of it then.
        """
        run_id = time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(8)
        folder = self.root / run_id
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
            try:
                if owner:
                    disk.write(folder, "owner", owner.encode())
                disk.write_json(folder, "spec.json", spec.to_dict())
                if status is not None:
                    disk.write_json(folder, "status.json", status)
            except OSError:
                shutil.rmtree(folder, ignore_errors=True)
                raise
        except OSError as error:
            raise InputError(
                f"The runs folder {self.root} cannot be written ({error.strerror}): free space or set "
                "DECONDITIONING_RUNS to another folder."
            ) from None
        return run_id

    def ids(self) -> list[str]:
        """The ids of all run folders, newest first."""
        try:
            names = [entry.name for entry in os.scandir(self.root) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            return []
        return sorted((name for name in names if _ID.fullmatch(name)), reverse=True)

    def read(self, run_id: str) -> tuple[Run, dict[str, Any]]:
        """A run as it stands on disk, and its raw status (with the engine that writes it)."""
        folder = self.folder(run_id)
        stamp = _stamp(folder)
        cached = self._cached_runs.get(run_id)
        if cached is None or cached[0] != stamp:
            cached = self._cached_runs[run_id] = (stamp, *_read_run(folder))
        return cached[1], cached[2]

    def write_status(self, run_id: str, status: dict[str, Any]) -> None:
        """Replace a run's status, at once and whole."""
        disk.write_json(self.folder(run_id), "status.json", status)

    def write_result(self, run_id: str, result: dict[str, Any]) -> None:
        """Replace a run's result, at once and whole."""
        disk.write_json(self.folder(run_id), "result.json", result)

    def write_file(self, run_id: str, name: str, data: bytes) -> None:
        """Write one named file of a run, at once and whole."""
        folder = self.folder(run_id) / "files"
        folder.mkdir(exist_ok=True)
        disk.write(folder, check_file_name(name), data)

    def read_file(self, run_id: str, name: str) -> bytes:
        """The bytes of one named file of a run."""
        try:
            return disk.read(self.folder(run_id) / "files", check_file_name(name))
        except OSError:
            raise InputError(f"Run {run_id} has no file {name!r}: it may have been removed by hand.") from None

    def parts(self, run_id: str) -> dict[str, bytes]:
        """Settings, status, trace, result and files of a run as they lie on disk, by their path in its folder."""
        folder, result = self.folder(run_id), {}
        for path in (*_PARTS, *(f"files/{name}" for name in _files(folder))):
            where, _, name = f"./{path}".rpartition("/")
            try:
                result[path] = disk.read(folder / where, name)
            except OSError:
                continue  # not there, or no regular file
        return result

    def add_trace(self, run_id: str, rows: list[dict[str, Any]]) -> None:
        """Append rows to a run's trace: all of them or, with an ``OSError``, none."""
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        disk.append(self.folder(run_id), "trace.jsonl", text.encode())

    def trace(self, run_id: str) -> list[dict[str, Any]]:
        """All rows of a run's trace so far; only what was added since the last call is read."""
        folder = self.folder(run_id)
        offset, rows = self._traces.pop(run_id, (0, []))
        try:
            size = disk.size(folder, "trace.jsonl")
            if size < offset:
                offset, rows = 0, []
            if size > offset:
                text = disk.read(folder, "trace.jsonl", _MOST_BYTES, offset)
                whole = text[: text.rfind(b"\n") + 1]
                offset, rows = offset + len(whole), rows + _rows(whole)
        except OSError:
            return list(rows)
        self._traces[run_id] = (offset, rows)
        while len(self._traces) > 8:
            self._traces.popitem(last=False)
        return list(rows)

    def ask_to_cancel(self, run_id: str) -> None:
        """Leave a note that asks the run's owner, another process, to stop it."""
        try:
            disk.write(self.folder(run_id), "cancel", b"")
        except OSError as error:
            raise InputError(
                f"Run {run_id} cannot be stopped ({error.strerror}): free space in the runs folder."
            ) from None

    def cancel_requested(self, run_id: str) -> bool:
        """Whether another process left that note."""
        return os.path.lexists(self.root / run_id / "cancel")

    def label(self, run_id: str) -> Label:
        """What a person calls the run."""
        return Label.read(_read_json(self.folder(run_id), "label.json"))

    def write_label(self, run_id: str, label: Label) -> None:
        """Replace a run's label, at once and whole."""
        try:
            disk.write_json(self.folder(run_id), "label.json", label.to_dict())
        except OSError as error:
            raise InputError(
                f"The name of run {run_id} cannot be saved ({error.strerror}): free space in the runs folder."
            ) from None

    def remove(self, run_id: str) -> None:
        """Put a run's folder aside; it disappears from the list at once, and for good after a day or 20 others."""
        folder = self.folder(run_id)
        shutil.rmtree(self._aside(run_id), ignore_errors=True)  # an older one of the same id
        try:
            folder.rename(self._aside(run_id))
            os.utime(self._aside(run_id))
        except OSError as error:
            raise InputError(f"Run {run_id} cannot be deleted ({error.strerror}): check the runs folder.") from None
        self._cached_runs.pop(run_id, None)
        self._traces.pop(run_id, None)
        self._empty()

    def restore(self, run_id: str) -> None:
        """Bring back a run that was put aside."""
        if _ID.fullmatch(str(run_id)) is None or not self._aside(run_id).is_dir():
            raise InputError(f"Run {str(run_id)[:60]!r} cannot be restored: it has been permanently deleted since.")
        try:
            self._aside(run_id).rename(self.root / run_id)
        except OSError as error:
            raise InputError(f"Run {run_id} cannot be restored ({error.strerror}): check the folder.") from None

    def _aside(self, run_id: str) -> Path:
        return self.root / f"{_ASIDE}{run_id}"

    def _empty(self) -> None:
        """Delete for good what was put aside long ago, or before many others."""
        aside = sorted(self.root.glob(f"{_ASIDE}*"), key=lambda folder: folder.lstat().st_mtime, reverse=True)
        oldest = time.time() - _KEPT_S
        for index, folder in enumerate(aside):
            if index >= _KEPT_ASIDE or folder.lstat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)


def _stamp(folder: Path) -> tuple[Any, ...]:
    stamps: list[Any] = []
    for name in ("spec.json", "status.json", "result.json", "label.json", "files"):
        try:
            stat = (folder / name).lstat()
            stamps.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
        except OSError:
            stamps.append(None)
    return tuple(stamps)


def _read_json(folder: Path, name: str) -> dict[str, Any] | None:
    """The JSON object in a file, or None when there is none that can be read."""
    try:
        if disk.size(folder, name) > _MOST_BYTES:
            return None
        data = _tidy(json.loads(disk.read(folder, name)))
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _rows(text: bytes) -> list[dict[str, Any]]:
    rows = []
    for line in text.splitlines():
        try:
            row = _tidy(json.loads(line))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _tidy(value: Any) -> Any:
    """JSON data without what no page can show: NaN, Infinity and 1e400 become null, and so do endless whole numbers;
    halves of characters become question marks."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= _LARGEST else None
    if isinstance(value, dict):
        return {_tidy(key): _tidy(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    return jsonable(value)


def _number(value: Any, low: float = 0.0, high: float = 1e11) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    return float(value) if good else None


def _files(folder: Path) -> tuple[str, ...]:
    return tuple(name for name in disk.names(folder / "files") if is_file_name(name))


def _owner(folder: Path) -> str:
    """Whose run it is; nobody's where that cannot be read."""
    try:
        mark = disk.read(folder, "owner", 65).decode("ascii")
    except (OSError, ValueError):
        return ""
    return mark if is_mark(mark) else ""


def _read_run(folder: Path) -> tuple[Run, dict[str, Any]]:
    """A run from its folder; whatever cannot be read is replaced by a sentence in ``message``."""
    status = _read_json(folder, "status.json") or {}
    state, message = status.get("status"), str(status.get("message") or "")[:2000]
    if state not in ACTIVE + ENDED:
        state, message, status = "interrupted", "The status of this run cannot be read: it was damaged.", {}
    try:
        spec = RunSpec.from_dict(_read_json(folder, "spec.json"))
    except InputError:
        spec = RunSpec(task="unknown", title="Settings damaged")
        state = state if state in ENDED else "interrupted"
        message = "The settings of this run cannot be read: spec.json is missing or damaged."
    made = _number(status.get("created"))
    run = Run(
        id=folder.name,
        spec=spec,
        status=state,
        created=made if made is not None else folder.stat().st_mtime,
        started=_number(status.get("started")),
        ended=_number(status.get("ended")),
        progress=_number(status.get("progress"), 0.0, 1.0),
        eta_s=_number(status.get("eta_s")),
        message=message,
        result=_read_json(folder, "result.json"),
        files=_files(folder),
        heard=_number(status.get("heard")),
        owner=_owner(folder),
        version=str(status.get("version", Run.version))[:20],
        attempt=int(_number(status.get("attempt"), 0, 1e6) or 0),
        label=Label.read(_read_json(folder, "label.json")),
    )
    return run, status
