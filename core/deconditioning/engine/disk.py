"""Files of the runs folder: read and written atomically, without following links.

A symbolic link inside a run could otherwise make the app read and send, or overwrite, any file that it has access to. A
name is therefore looked up in the descriptor of its folder and never followed, and only regular files are read.
"""

import contextlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe in place of a file must not be waited for
_FOLDER = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def _opened_folder(folder: Path) -> Iterator[int]:
    """The descriptor of a folder that is no link; ``OSError`` when it is one, or is not there."""
    handle = os.open(folder, _FOLDER)
    try:
        yield handle
    finally:
        os.close(handle)


def read(folder: Path, name: str, most: int | None = None, begin: int = 0) -> bytes:
    """The bytes of a regular file in ``folder`` from ``begin`` on, at most ``most``; ``OSError`` for anything else."""
    with _opened_folder(folder) as where, os.fdopen(os.open(name, _READ, dir_fd=where), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(f"{name} is no regular file")
        file.seek(begin)
        return file.read() if most is None else file.read(most)


def size(folder: Path, name: str) -> int:
    """Bytes of a regular file in ``folder``; ``OSError`` for anything else."""
    with _opened_folder(folder) as where:
        result = os.stat(name, dir_fd=where, follow_symlinks=False)
    if not stat.S_ISREG(result.st_mode):
        raise OSError(f"{name} is no regular file")
    return result.st_size


def names(folder: Path) -> list[str]:
    """Regular files in a folder that is not a link, in order; none if there is no such folder."""
    try:
        with _opened_folder(folder) as where, os.scandir(where) as entries:
            return sorted(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []


def write(folder: Path, name: str, data: bytes) -> None:
    """Replace a file so that a reader sees either the old or the new one; ``OSError`` is passed on."""
    part = f".{name[:60]}.{secrets.token_hex(6)}.part"
    with _opened_folder(folder) as where:
        try:
            with os.fdopen(os.open(part, _NEW, 0o644, dir_fd=where), "wb") as file:
                file.write(data)
            os.replace(part, name, src_dir_fd=where, dst_dir_fd=where)
        except BaseException:
            with contextlib.suppress(OSError):  # the first error is the one to report
                os.unlink(part, dir_fd=where)
            raise


def write_json(folder: Path, name: str, data: dict[str, Any]) -> None:
    """Replace a JSON file atomically."""
    write(folder, name, as_bytes(data))


def as_bytes(data: dict[str, Any]) -> bytes:
    """JSON as it lies on disk."""
    return json.dumps(data, allow_nan=False, indent=1).encode()


def append(folder: Path, name: str, data: bytes) -> None:
    """Add ``data`` to the end of a file, completely or (``OSError``) not at all."""
    with _opened_folder(folder) as where, os.fdopen(os.open(name, _APPEND, 0o644, dir_fd=where), "ab", 0) as file:
        before = os.fstat(file.fileno()).st_size
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[file.write(rest) :]
        except OSError:
            file.truncate(before)
            raise
