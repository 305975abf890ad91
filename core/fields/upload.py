"""Uploads: opened in a separate process under limits, so that no file can harm the application."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from core.errors import InputError
from core.fields.gridded import Fields
from core.fields.store import load_fields

ROOT = Path(__file__).resolve().parents[2]


def open_upload(data: bytes, name: str, *, memory_mb: int = 1500, seconds: int = 60) -> Fields:
    """The fields of an uploaded NetCDF file, read in a fresh process.

    Parameters
    ----------
    data, name : content and name of the file, from anywhere.
    memory_mb : address space the reader may use; about a third of it may be data.
    seconds : time it may take.

    Raises ``InputError`` (one sentence) on anything wrong: not NetCDF, damaged, too large, too slow, no
    gridded field in it.
    """
    name = Path(name.replace("\\", "/")).name[:80] or "the file"
    with tempfile.TemporaryDirectory(prefix="upload-") as folder:
        source, target = Path(folder) / "upload.nc", Path(folder) / "fields.npz"
        source.write_bytes(data)
        command = [sys.executable, "-m", "core.fields.reader", str(source), str(target), name]
        command += [str(memory_mb * 1_000_000), str(seconds)]
        try:
            done = subprocess.run(
                command,
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
        return load_fields(target)


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
