"""Uploaded files, stored by content beside the runs, and sent to workers that do not share the folder."""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from deconditioning.engine import disk
from deconditioning.errors import InputError

UPLOAD = "upload:"
_KEY, _DIGEST = re.compile(r"upload:([0-9a-f]{16})"), re.compile(r"[0-9a-f]{16}")


class NotStored(InputError):
    """Nothing is wrong with an upload but that it could not be written: it may be tried again."""


def upload_folder() -> Path:
    """The folder that keeps uploads, so that a reload, a run or a restarted app finds them again."""
    return Path(os.environ.get("DECONDITIONING_RUNS", "runs")) / "uploads"


def keep(folder: Path, files: Mapping[str, bytes | Path]) -> None:
    """Write files into a folder of uploads, in that order, each at once and whole; a path is moved there.

    Raises `NotStored` with a sentence where the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            if isinstance(data, Path):
                os.replace(data, folder / name)
                os.utime(folder / name)
            else:
                disk.write(folder, name, data)
    except OSError as error:
        raise NotStored(
            f"The upload cannot be stored ({error.strerror}): free space in the runs folder, or set "
            "DECONDITIONING_RUNS to a writable folder."
        ) from None


def uploaded_names(folder: Path, ending: str, mark: str = "", kind: str = "") -> dict[str, str]:
    """Digest → file name of the uploads in a folder that end so and have a description, or of those of one visitor.

    ``kind`` names those that were read as that; "" for all.
    """
    result = {}
    for path in sorted(folder.glob("*.json")):
        name, kinds = _about(path)
        if name is not None and (not kind or kind in kinds) and path.with_suffix(ending).is_file():
            result[path.stem] = name
    names = claims(mark) if mark else result
    return {digest: names[digest] for digest in result if digest in names}


def _about(path: Path) -> tuple[str | None, list[str]]:
    """An upload's file name, None if its description is missing or damaged, and what it was read as."""
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        return str(about["name"]), [str(kind) for kind in about.get("kinds", ["fields"])]
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None, []


def keep_kind(data: bytes | Path, name: str, kind: str, mark: str) -> str:
    """Keep a file that was read as a ``kind`` of data, beside what it was read as before, in a visitor's list; its
    key."""
    _, before = _about(upload_folder() / f"{digest_of(data)}.json")
    about = {"name": name[:120], "kinds": [*dict.fromkeys([*before, kind])]}
    key = write_upload(data, json.dumps(about).encode())
    claim(key.removeprefix(UPLOAD), mark, name[:120])
    return key


def stored_of_kind(kind: str, mark: str = "") -> dict[str, str]:
    """Key → file name of every upload that was read as a ``kind`` of data, or of those of one visitor."""
    return {f"{UPLOAD}{digest}": name for digest, name in uploaded_names(upload_folder(), ".nc", mark, kind).items()}


def path_of(key: str) -> tuple[Path, str]:
    """Where an upload lies and its file's name; ``InputError`` if it is gone."""
    digest = key.removeprefix(UPLOAD)
    path = upload_folder() / f"{digest}.nc"
    if not digest.isalnum() or not path.is_file():
        raise InputError("This uploaded file is no longer on the server: upload it again.")
    _used_now(path)
    return path, _about(path.with_suffix(".json"))[0] or "the upload"


def claim(digest: str, mark: str, name: str) -> None:
    """Put an upload, under its file's name, into a visitor's list; there is none if the machine is one person's."""
    if mark:
        keep(_claims(mark), {digest: name.encode("utf-8", "replace")})


def claims(mark: str) -> dict[str, str]:
    """Digest → file name of everything in a visitor's list."""
    folder = _claims(mark)
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()} if folder.is_dir() else {}


def delete(digest: str, mark: str) -> None:
    """Delete an upload from a visitor's list, and for good once it is in nobody's; raises ``InputError`` for others'.

    On one person's machine, where the mark is empty, it is theirs.
    """
    if _DIGEST.fullmatch(digest) is None or (mark and digest not in claims(mark)):
        raise InputError("This upload is not yours, or was deleted already.")
    if mark:
        (_claims(mark) / digest).unlink(missing_ok=True)
    if not any(claims_folder().glob(f"*/{digest}")):
        forget(digest)


def forget(digest: str) -> None:
    """Delete an upload's files for good."""
    for folder in (upload_folder(), upload_folder() / "tables"):
        for ending in (".json", ".nc", ".csv"):  # first what lists it
            with contextlib.suppress(OSError):  # an upload has only some of these files
                (folder / f"{digest}{ending}").unlink()


def _used_now(path: Path) -> None:
    """Note that an upload was opened: it stays for longer."""
    with contextlib.suppress(OSError):  # it can be read all the same
        os.utime(path)


def claims_folder() -> Path:
    """The visitors' lists, a folder each."""
    return upload_folder() / "claims"


def _claims(mark: str) -> Path:
    return claims_folder() / mark


def digest_of(data: bytes | Path) -> str:
    """What names an upload: the first 16 hexadecimal digits of its SHA-256."""
    if isinstance(data, Path):
        with data.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    return hashlib.sha256(data).hexdigest()[:16]


def write_upload(data: bytes | Path, about: bytes) -> str:
    """Keep a file, which is moved where it is a path, and its description (JSON bytes); its key."""
    digest = digest_of(data)
    keep(upload_folder(), {f"{digest}.nc": data, f"{digest}.json": about})
    return f"{UPLOAD}{digest}"


def packed(settings: Mapping[str, Any]) -> list[tuple[bytes, bytes]]:
    """File and description of every upload that a run's settings name; those no longer here are left out."""
    result = []
    for digest in dict.fromkeys(_digests(settings)):
        file, about = (upload_folder() / f"{digest}{end}" for end in (".nc", ".json"))
        if file.is_file() and about.is_file():
            result.append((file.read_bytes(), about.read_bytes()))
    return result


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
