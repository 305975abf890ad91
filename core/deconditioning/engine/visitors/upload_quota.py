"""Disk quotas of uploads, per visitor and in total, with a reserve of the disk; and their expiry.

They are stored in ``uploads/`` beside the runs; incomplete ones in ``uploads/incoming/<mark>/``.
"""

import contextlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

from deconditioning.engine.visitors.uploads import claims, claims_folder, forget, upload_folder
from deconditioning.errors import InputError

_MB = 1_000_000
#: MB of one visitor's uploads and of all, by default; MB of the disk that stay free.
_VISITOR_MB, _ALL_MB, RESERVE_MB = 2_000, 20_000, 1_000
#: Uploads of a shared server that nobody opened for so long are deleted; those under way after a day.
EXPIRY_S, INCOMING_S = 30 * 24 * 3600.0, 24 * 3600.0


def incoming_folder(mark: str) -> Path:
    """Where a visitor's uploads lie until a page has looked at them."""
    return upload_folder() / "incoming" / (mark or "here")


def limits() -> tuple[int, int]:
    """Bytes for one visitor's uploads and for all: ``DECONDITIONING_VISITOR_MB`` and ``DECONDITIONING_UPLOADS_MB``."""
    return _limit("DECONDITIONING_VISITOR_MB", _VISITOR_MB), _limit("DECONDITIONING_UPLOADS_MB", _ALL_MB)


def used(mark: str = "") -> int:
    """Bytes of one visitor's uploads, with those under way; of all where the mark is empty."""
    folder = upload_folder()
    if not mark:
        return sum(_size(path) for path in folder.rglob("*"))
    uploads = [path for digest in claims(mark) for path in _files(digest)]
    return sum(map(_size, [*uploads, *incoming_folder(mark).glob("*")]))


def check_room(size: int, mark: str) -> None:
    """Raise ``InputError`` if an upload of so many bytes has no room; ``mark`` is empty on one person's machine."""
    folder = upload_folder()
    with contextlib.suppress(OSError):  # a folder that cannot be made is refused when the file is written
        folder.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(folder if folder.is_dir() else Path.cwd()).free
    if free - size < RESERVE_MB * _MB:
        raise InputError(
            f"The disk has {free / _MB:,.0f} MB free, and {RESERVE_MB:,} MB are reserved: an upload of "
            f"{size / _MB:,.0f} MB does not fit. Delete runs or uploads first."
        )
    if not mark:
        return
    limit, everybody = limits()
    if (mine := used(mark)) + size > limit:
        raise InputError(
            f"Your uploads take {mine / _MB:,.0f} of {limit / _MB:,.0f} MB, and this one has {size / _MB:,.0f} MB: "
            "delete one of them first."
        )
    if (all_of_them := used()) + size > everybody:
        raise InputError(
            f"All uploads on this server take {all_of_them / _MB:,.0f} of {everybody / _MB:,.0f} MB, and this "
            f"one has {size / _MB:,.0f} MB: delete one of yours, or ask the administrator of the server."
        )


def expire(*, shared: bool) -> int:
    """Delete uploads left half-way and, on a shared server, those that nobody opened for long; how many those were."""
    now, deleted = time.time(), 0
    for path in (upload_folder() / "incoming").glob("*/*"):
        deleted += _delete_older(path, now - INCOMING_S)
    if not shared:
        return deleted
    old = {path.stem for path in _stored_files() if _opened(path) < now - EXPIRY_S}
    for visitor in claims_folder().glob("*"):
        for digest in old & {path.name for path in visitor.glob("*")}:
            (visitor / digest).unlink(missing_ok=True)
    for digest in old:
        forget(digest)
    return deleted + len(old)


def _limit(name: str, usual: int) -> int:
    text = os.environ.get(name, "")
    if text and not text.isdigit():
        raise InputError(f"{name} is {text!r}: give a whole number of MB.")
    return int(text or usual) * _MB


def _files(digest: str) -> list[Path]:
    folder = upload_folder()
    return [where / f"{digest}{end}" for where in (folder, folder / "tables") for end in (".nc", ".csv", ".json")]


def _stored_files() -> Iterator[Path]:
    folder = upload_folder()
    yield from folder.glob("*.nc")
    yield from (folder / "tables").glob("*.csv")


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size if path.is_file() else 0
    except OSError:
        return 0


def _opened(path: Path) -> float:
    try:
        return path.lstat().st_mtime
    except OSError:
        return time.time()


def _delete_older(path: Path, limit: float) -> bool:
    if _opened(path) >= limit:
        return False
    with contextlib.suppress(OSError):  # tried again at the next sweep
        path.unlink()
    return True
