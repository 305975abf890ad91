"""A file from anywhere is opened in a process of its own, under limits, so that it cannot harm the application.

The parent calls ``read_apart``; the child is a module whose ``main`` calls ``serve``. They speak one line of JSON on
standard output: ``{"ok": true}`` when the result lies in the target file, else ``{"error": sentence}``.
"""

import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from core.errors import InputError

ROOT = Path(__file__).resolve().parents[1]
Found = TypeVar("Found")


def read_apart(
    module: str, data: bytes, name: str, load: Callable[[Path], Found], *, memory_mb: int = 1500, seconds: int = 60
) -> Found:
    """What ``load`` makes of the file that ``python -m module SOURCE TARGET NAME BYTES SECONDS`` writes.

    Raises ``InputError`` (one sentence) when the child refuses, is stopped by a limit, or dies.
    """
    name = Path(name.replace("\\", "/")).name[:80] or "the file"
    with tempfile.TemporaryDirectory(prefix="upload-") as folder:
        source, target = Path(folder) / f"upload{Path(name).suffix.lower()[:8]}", Path(folder) / "read.npz"
        source.write_bytes(data)
        command = [sys.executable, "-m", module, str(source), str(target), name, str(memory_mb * 1_000_000)]
        try:
            done = subprocess.run(
                [*command, str(seconds)],
                cwd=ROOT,
                env=_environment(),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise InputError(
                f"{name} took longer than {seconds} s to open: give a smaller or less compressed file."
            ) from None
        _check(done, name)
        return load(target)


def _environment() -> dict[str, str]:
    """One thread per library: each thread's stack would count against the address space."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**os.environ, **threads, "MALLOC_ARENA_MAX": "2", "PYTHONPATH": str(ROOT)}


def _check(done: "subprocess.CompletedProcess[bytes]", name: str) -> None:
    lines = done.stdout.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else {}
    except ValueError:
        answer = {}
    if answer.get("error"):
        raise InputError(answer["error"])
    if done.returncode or not answer.get("ok"):
        raise InputError(
            f"{name} could not be read: it stopped the reader (code {done.returncode}), so it is damaged or too "
            "large; copy it again or cut out the region you need."
        )


def serve(read: Callable[[Path, Path, str, int], None], arguments: list[str]) -> int:
    """The child: ``read(source, target, name, memory)`` under the limits; 0 when stored, 2 with a sentence."""
    source, target, name, memory, seconds = arguments
    _limit(int(memory), max(1, math.ceil(float(seconds))))
    try:
        read(Path(source), Path(target), name, int(memory))
    except Exception as error:  # the border of the process: everything becomes one sentence
        print(json.dumps({"error": _sentence(name, error)}))
        return 2
    print(json.dumps({"ok": True}))
    return 0


def _limit(memory: int, seconds: int) -> None:
    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, memory),
        (resource.RLIMIT_CORE, 0),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(what, (value, hard))


#: What libraries say where memory ends while they are loaded.
_NO_MEMORY = ("failed to map segment", "cannot allocate memory")


def _sentence(name: str, error: BaseException) -> str:
    if isinstance(error, InputError):
        return str(error)
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, MemoryError) or any(words in text.lower() for words in _NO_MEMORY):
        return f"{name} needs more memory than a file may use here: cut out the region and variables you need first."
    text = text.replace("\x00", "")[:120].rstrip(" .")
    return f"{name} could not be read, it looks damaged or cut short ({text}): copy or download it again."
