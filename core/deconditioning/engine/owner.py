"""The process that writes a run: one engine. Others read it, and take over only when that engine is gone."""

import os
import socket
import time
import uuid
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: An engine of another process counts as gone after so many seconds without a beat: on another machine, on this one
#: (where its process is seen: it may be alive and have lost the run, or its disk be full).
_SILENCE_S, _STUCK_S = 60.0, 120.0
_engines: set[str] = set()


@dataclass(frozen=True)
class Owner:
    """One engine: its token, process id, when that process began (seconds, see `_born`), and the machine's name."""

    token: str
    pid: int
    born: float
    host: str

    @classmethod
    def here(cls) -> "Owner":
        """A new owner in this process; it lives until ``leave``."""
        owner = cls(uuid.uuid4().hex, os.getpid(), _born(os.getpid()) or 0.0, socket.gethostname())
        _engines.add(owner.token)
        return owner

    def leave(self) -> None:
        """The engine was closed."""
        _engines.discard(self.token)

    def to_dict(self) -> dict[str, Any]:
        """The record as plain JSON data."""
        return asdict(self)


def is_alive(owner: Any, beat: float | None) -> bool:
    """Whether the engine that wrote ``owner`` into a status, and last ``beat``, still runs and has the run."""
    try:
        token, pid, born, host = owner["token"], int(owner["pid"]), float(owner["born"]), owner["host"]
    except (KeyError, TypeError, ValueError):
        return False
    if host != socket.gethostname():
        return beat is not None and time.time() - beat < _SILENCE_S
    if pid == os.getpid():
        return token in _engines
    result = _born(pid)
    stuck = beat is not None and time.time() - beat > _STUCK_S
    return result is not None and abs(result - born) < 2.0 and not stuck


def _born(pid: int) -> float | None:
    """When a process began, by a clock that nobody sets where there is one; None if it is gone."""
    import psutil

    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        stat = Path(f"/proc/{pid}/stat")
        if stat.is_file():  # seconds since the machine was started; since 1970 it would move with the machine's clock
            return int(stat.read_text().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
        return process.create_time()
    except (psutil.Error, OSError, ValueError, OverflowError):
        return None
