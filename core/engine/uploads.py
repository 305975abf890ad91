"""Uploaded files of a run: kept by content beside the runs, and sent along to workers that do not share the folder."""

import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

UPLOAD = "upload:"
_KEY = re.compile(r"upload:([0-9a-f]{16})")


def upload_folder() -> Path:
    """The folder that keeps uploads, so that a reload, a run or a restarted app finds them again."""
    return Path(os.environ.get("DECONDITIONING_RUNS", "runs")) / "uploads"


def claim(digest: str, mark: str, name: str) -> None:
    """Put an upload, under its file's name, into a visitor's list; there is none where the machine is one person's."""
    if mark:
        folder = _claims(mark)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / digest).write_text(name, encoding="utf-8")


def claims(mark: str) -> dict[str, str]:
    """Digest → file name of everything in a visitor's list."""
    folder = _claims(mark)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} if folder.is_dir() else {}


def _claims(mark: str) -> Path:
    return upload_folder() / "claims" / mark


def digest_of(data: bytes) -> str:
    """What names an upload: the first 16 hexadecimal digits of its SHA-256."""
    return hashlib.sha256(data).hexdigest()[:16]


def write_upload(data: bytes, about: bytes) -> str:
    """Keep a file and what is said about it (JSON bytes); returns its key ``upload:<digest>``."""
    folder, digest = upload_folder(), digest_of(data)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{digest}.json").write_bytes(about)
    partial = folder / f"{digest}.{os.getpid()}.part"
    partial.write_bytes(data)
    partial.replace(folder / f"{digest}.nc")
    return f"{UPLOAD}{digest}"


def packed(settings: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """File and description of every upload that a run's settings name; those no longer here are left out."""
    found = []
    for digest in dict.fromkeys(_digests(settings)):
        file, about = (upload_folder() / f"{digest}{end}" for end in (".nc", ".json"))
        if file.is_file() and about.is_file():
            found.append((file.read_bytes(), about.read_bytes()))
    return found


def unpack(files: list[tuple[bytes, bytes]]) -> None:
    """Keep the uploads that came with a run, where this machine does not have them yet."""
    for data, about in files:
        if not (upload_folder() / f"{digest_of(data)}.nc").is_file():
            write_upload(data, about)


def _digests(value: Any) -> Iterator[str]:
    if isinstance(value, str) and (match := _KEY.fullmatch(value)):
        yield match.group(1)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _digests(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _digests(inner)
