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

from core.engine.context import check_file_name
from core.engine.records import ACTIVE, ENDED, Run, RunSpec, jsonable
from core.errors import InputError

_ID = re.compile(r"\d{8}-\d{6}-[0-9a-f]{8}")
_MOST_BYTES = 64 * 2**20  # no JSON of ours is larger; larger ones are somebody else's


class Store:
    """The folder of all runs. Only a run's owner writes; everyone may read at any time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._seen: dict[str, tuple[Any, Run, dict[str, Any]]] = {}
        self._traces: OrderedDict[str, tuple[int, list[dict[str, Any]]]] = OrderedDict()

    def folder(self, run_id: str) -> Path:
        """The folder of a run; ``InputError`` when the id is none of ours or the run is gone."""
        folder = self.root / run_id if _ID.fullmatch(str(run_id)) else None
        if folder is None or not folder.is_dir() or folder.is_symlink():
            raise InputError(
                f"There is no run {str(run_id)[:60]!r}: it may have been deleted; choose one on page Runs."
            )
        return folder

    def create(self, spec: RunSpec) -> str:
        """Make the folder of a new run and write its spec."""
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            run_id = time.strftime("%Y%m%d-%H%M%S-", time.gmtime()) + secrets.token_hex(4)
            folder = self.root / run_id
            folder.mkdir()
            write_json(folder / "spec.json", spec.to_dict())
        except OSError as error:
            raise InputError(
                f"The runs folder {self.root} cannot be written ({error.strerror}): "
                "make room or set DECONDITIONING_RUNS to another folder."
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
        """A run as it stands on disk, and its raw status (with the owner)."""
        folder = self.folder(run_id)
        stamp = _stamp(folder)
        seen = self._seen.get(run_id)
        if seen is None or seen[0] != stamp:
            seen = self._seen[run_id] = (stamp, *_read_run(folder))
        return seen[1], seen[2]

    def write_status(self, run_id: str, status: dict[str, Any]) -> None:
        """Replace a run's status, at once and whole."""
        write_json(self.folder(run_id) / "status.json", status)

    def write_result(self, run_id: str, result: dict[str, Any]) -> None:
        """Replace a run's result, at once and whole."""
        write_json(self.folder(run_id) / "result.json", result)

    def write_file(self, run_id: str, name: str, data: bytes) -> None:
        """Write one named file of a run, at once and whole."""
        folder = self.folder(run_id) / "files"
        folder.mkdir(exist_ok=True)
        _write(folder / check_file_name(name), data)

    def read_file(self, run_id: str, name: str) -> bytes:
        """The bytes of one named file of a run."""
        try:
            return (self.folder(run_id) / "files" / check_file_name(name)).read_bytes()
        except OSError:
            raise InputError(f"Run {run_id} has no file {name!r}: it may have been removed by hand.") from None

    def add_trace(self, run_id: str, rows: list[dict[str, Any]]) -> None:
        """Append rows to a run's trace."""
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        with open(self.folder(run_id) / "trace.jsonl", "a", encoding="utf-8") as file:
            file.write(text)

    def trace(self, run_id: str) -> list[dict[str, Any]]:
        """All rows of a run's trace so far; only what was added since the last call is read."""
        path = self.folder(run_id) / "trace.jsonl"
        offset, rows = self._traces.pop(run_id, (0, []))
        try:
            size = path.stat().st_size
            if size < offset:
                offset, rows = 0, []
            if size > offset:
                with open(path, "rb") as file:
                    file.seek(offset)
                    text = file.read(_MOST_BYTES)
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
        (self.folder(run_id) / "cancel").touch()

    def asked_to_cancel(self, run_id: str) -> bool:
        """Whether another process left that note."""
        return (self.root / run_id / "cancel").exists()

    def remove(self, run_id: str) -> None:
        """Delete a run's folder; it disappears from the list at once."""
        folder = self.folder(run_id)
        away = self.root / f".deleted-{run_id}-{secrets.token_hex(4)}"
        try:
            folder.rename(away)
        except OSError as error:
            raise InputError(f"Run {run_id} cannot be deleted ({error.strerror}): check the runs folder.") from None
        shutil.rmtree(away, ignore_errors=True)
        self._seen.pop(run_id, None)
        self._traces.pop(run_id, None)


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Write JSON so that a reader sees the old file or the new one, never half of one."""
    _write(path, json.dumps(data, allow_nan=False, indent=1).encode())


def _write(path: Path, data: bytes) -> None:
    part = path.parent / f".{path.name[:60]}.{secrets.token_hex(6)}.part"
    try:
        part.write_bytes(data)
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _stamp(folder: Path) -> tuple[Any, ...]:
    stamps: list[Any] = []
    for name in ("spec.json", "status.json", "result.json", "files"):
        try:
            stat = (folder / name).stat()
            stamps.append((stat.st_mtime_ns, stat.st_size, stat.st_ino))
        except OSError:
            stamps.append(None)
    return tuple(stamps)


def _read_json(path: Path) -> dict[str, Any] | None:
    """The JSON object in a file, or None when there is none that can be read."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        data = jsonable(json.loads(path.read_bytes()))  # NaN, Infinity and 1e400 become null
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _rows(text: bytes) -> list[dict[str, Any]]:
    rows = []
    for line in text.splitlines():
        try:
            row = jsonable(json.loads(line))
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            rows.append(row)
    return rows


def _number(value: Any, low: float = 0.0, high: float = 1e11) -> float | None:
    good = isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high
    return float(value) if good else None


def _files(folder: Path) -> tuple[str, ...]:
    try:
        names = [entry.name for entry in os.scandir(folder / "files") if entry.is_file(follow_symlinks=False)]
    except OSError:
        return ()
    return tuple(sorted(name for name in names if not name.startswith(".")))


def _read_run(folder: Path) -> tuple[Run, dict[str, Any]]:
    """A run from its folder; whatever cannot be read is replaced by a sentence in ``message``."""
    status = _read_json(folder / "status.json") or {}
    state, message = status.get("status"), str(status.get("message") or "")[:2000]
    if state not in ACTIVE + ENDED:
        state, message, status = "interrupted", "The status of this run cannot be read: it was damaged.", {}
    try:
        spec = RunSpec.from_dict(_read_json(folder / "spec.json"))
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
        result=_read_json(folder / "result.json"),
        files=_files(folder),
        heard=_number(status.get("heard")),
        attempt=int(_number(status.get("attempt"), 0, 1e6) or 0),
    )
    return run, status
