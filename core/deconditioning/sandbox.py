"""A file from anywhere is opened in a process of its own, locked in and under limits, so that it can do no harm.

The parent calls ``read_apart``; the child is a module whose ``main`` calls ``serve``. The child sees the file, Python
and this package, writes the target file, and reaches nothing else (``jail``); its environment holds nothing of
the parent's. It says one line of JSON: ``{"ok": true}`` when the result lies in the target, else ``{"error":
sentence}``, with what the kernel could not close under ``"open"``.
"""

import contextlib
import json
import logging
import math
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, TypeVar

from deconditioning.errors import InputError, one_line, short
from deconditioning.jail import lock_in, python_paths, threads_of_user

logger = logging.getLogger(__name__)

#: The folder that holds this package.
ROOT = Path(__file__).resolve().parents[1]
#: How many files are read at once in one process of the application, of one visitor and of one network address, so that
#: neither keeps the others from reading; how long another file waits for its turn, and how many times its computing
#: time a reader may take by the clock.
READERS, _OF_VISITOR, OF_ADDRESS, TURN_S = 4, 1, 3, 60.0
PATIENCE = 3
#: Names the parent's process id in the child's environment, and so many threads may a child have.
PARENT, THREADS = "DECONDITIONING_PARENT", 64
#: Files that a child may have open: what the kernel holds for pipes and sockets is not of the child's memory.
_OPEN_FILES = 256
_turns = threading.BoundedSemaphore(READERS)
#: Where the application serves several people: whose file is read in this thread, and from which network address.
WHOSE: ContextVar[str] = ContextVar("whose", default="")
ADDRESS: ContextVar[str] = ContextVar("address", default="")
_Turns = defaultdict[str, threading.BoundedSemaphore]
_turns_of_visitor: _Turns = defaultdict(lambda: threading.BoundedSemaphore(_OF_VISITOR))
_turns_of_address: _Turns = defaultdict(lambda: threading.BoundedSemaphore(OF_ADDRESS))
#: Bytes of the child's last words that are looked at, and characters of a sentence that are passed on.
_LAST_WORDS, _LONGEST = 65536, 600
_Result = TypeVar("_Result")


def read_apart(
    module: str, data: bytes | Path, name: str, load: Callable[[Path], _Result], *,
    memory_mb: int = 1500, seconds: float = 20, settings: str = "",
) -> _Result:  # fmt: skip
    """What ``load`` makes of the file that ``python -m module SOURCE TARGET NAME BYTES SECONDS SETTINGS`` writes.

    ``seconds`` of computing are allowed, and ``PATIENCE`` times that by the clock, for the machine may be busy.
    ``data`` are the file's bytes, or the path where the application keeps it. ``settings`` go to the child where given.
    Raises ``InputError`` (one sentence) when the child refuses, is stopped by a limit, or dies, and when other files
    are being read for longer than ``TURN_S``.
    """
    name = Path(name.replace("\\", "/")).name[:80] or "the file"
    with tempfile.TemporaryDirectory(prefix="upload-") as path:
        folder = Path(path)
        source, target = folder / f"upload{Path(name).suffix.lower()[:8]}", folder / "read.npz"
        if isinstance(data, Path):
            source = data.resolve()
        else:
            source.write_bytes(data)
        target.touch()  # the child may write it, but make no file
        words = [str(source), str(target), name, str(memory_mb * 1_000_000), str(seconds), settings]
        with _turn(name):
            _check(*_run([sys.executable, "-m", module, *words], folder / "said", name, seconds), name)
        return load(target)


@contextlib.contextmanager
def _turn(name: str) -> Iterator[None]:
    """A place among the readers, of this visitor, their address, and all; ``InputError`` if none comes free in time."""
    end = time.monotonic() + TURN_S
    held: list[threading.BoundedSemaphore] = []
    limited = [of[name] for of, name in ((_turns_of_visitor, WHOSE.get()), (_turns_of_address, ADDRESS.get())) if name]
    try:
        for turns in (*limited, _turns):
            if not turns.acquire(timeout=max(0.0, end - time.monotonic())):
                raise InputError(
                    f"{name} was not read because other files have been reading for more than {TURN_S:g} s: try "
                    "again in a minute."
                )
            held.append(turns)
        yield
    finally:
        for turns in held:
            turns.release()


def _run(command: list[str], messages: Path, name: str, seconds: float) -> tuple[int, bytes]:
    """The child's exit code and the end of what it said, kept in a file so that the limits hold for that, too."""
    with open(messages, "wb") as output:
        child = subprocess.Popen(
            command, cwd=ROOT, env=_environment(), stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        try:
            code = child.wait(timeout=PATIENCE * seconds)
        except subprocess.TimeoutExpired:
            raise InputError(_too_slow(name, seconds)) from None
        finally:
            _end_group(child)
    if code == -signal.SIGXCPU:
        raise InputError(_too_slow(name, seconds))
    with open(messages, "rb") as file:
        file.seek(max(0, messages.stat().st_size - _LAST_WORDS))
        return code, file.read()


def _end_group(child: subprocess.Popen[bytes]) -> None:
    """End the child, and whatever it started where the kernel could not keep it from starting anything."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # it has ended by itself
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _too_slow(name: str, seconds: float) -> str:
    return (
        f"{name} took longer than {seconds:g} s of computing to open, so it is damaged or too large: copy it again, or "
        "give a smaller or less compressed file."
    )


def _environment() -> dict[str, str]:
    """Nothing of the parent's but where its shared libraries and packages lie.

    One thread per library: each thread's stack would count against the address space. HDF5 loads no plugins
    from the machine's folder for them.
    """
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    places = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    settings = {
        PARENT: str(os.getpid()),
        "MALLOC_ARENA_MAX": "2",
        "PYTHONPATH": places,
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    plugins = {
        "HDF5_PLUGIN_PATH": os.devnull
    }  # deconditioning.fields.reading.hdf5_filters adds those of the installed netCDF4
    libraries = {name: os.environ[name] for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH") if name in os.environ}
    return {**libraries, **threads, **settings, **plugins}


def _check(code: int, words: bytes, name: str) -> None:
    lines = words.decode("utf-8", "replace").strip().splitlines()
    try:
        answer = json.loads(lines[-1]) if lines else {}
    except ValueError:
        answer = {}
    if not isinstance(answer, dict):
        answer = {}
    if answer.get("open"):
        _say_open(", ".join(map(str, answer["open"]))[:100])
    if answer.get("error"):
        raise InputError(str(answer["error"])[:_LONGEST])
    if code or not answer.get("ok"):
        raise InputError(
            f"{name} could not be read: the reader stopped (code {code}), probably because the file is damaged "
            "or too large; copy it again or extract the region you need."
        )


@lru_cache
def _say_open(what: str) -> None:
    """Once a process: what this machine cannot keep the reader of an uploaded file from."""
    logger.warning(
        "Uploaded files are read in a separate process, which this machine cannot fully isolate (not protected: %s): "
        "admit only people whom you trust, or run on Linux 5.13 or newer with Landlock and seccomp, and not as "
        "root.", what
    )  # fmt: skip


def serve(read: Callable[..., None], arguments: list[str], messages: IO[str] | None = None) -> int:
    """The child: ``read(source, target, name, memory, …)`` locked in, under limits; 0 when stored, 2 with a sentence.

    ``arguments`` as after ``python -m module``; ``settings``, where not empty, are passed on as a last argument.
    """
    source, target, name, memory, seconds, *settings = arguments
    answer: dict[str, Any] = {}
    code = 0
    try:
        _limit(int(memory), max(1, math.ceil(float(seconds))))
        _limit_threads()
        parent = int(os.environ.get(PARENT, os.getppid()))
        answer["open"] = lock_in([*python_paths(), ROOT / "deconditioning", Path(source)], [Path(target)], parent)
        read(Path(source), Path(target), name, int(memory), *filter(None, settings))
        answer["ok"] = True
    except Exception as error:  # the border of the process: everything becomes one sentence
        answer["error"], code = _sentence(name, error), 2
    print(json.dumps(answer), file=messages or sys.stdout, flush=True)
    return code


def _limit(memory: int, seconds: int) -> None:
    for what, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_FSIZE, memory),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        hard = resource.getrlimit(what)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        last = value + 1 if what == resource.RLIMIT_CPU and value != hard else value  # first a signal that has a name
        resource.setrlimit(what, (value, last))


def _limit_threads() -> None:
    """At most ``THREADS`` threads more than the user has now, where those can be counted.

    In a container the kernel counts the user's threads outside it, too: where it then refuses the first, there is no
    limit.
    """
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    most = threads_of_user() + THREADS
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (most, hard))
    try:
        (first := threading.Thread(target=int)).start()
        first.join()
    except RuntimeError:
        resource.setrlimit(resource.RLIMIT_NPROC, (hard, hard))
    else:
        resource.setrlimit(resource.RLIMIT_NPROC, (most, most))


#: What libraries say where memory ends while they are loaded, and Python where one of them dies of it without a word.
_NO_MEMORY = (
    "failed to map segment", "cannot allocate memory", "cannot be imported", "error return without exception set",
)  # fmt: skip


#: What HDF5 says of a file that ends before its end: the bytes there, and the bytes that it should have.
_CUT = re.compile(r"truncated file: eof = (\d+), .*stored_eof = (\d+)")


def _sentence(name: str, error: BaseException) -> str:
    if isinstance(error, InputError):
        return one_line(str(error))
    if isinstance(error, MemoryError) or any(words in str(error).lower() for words in _NO_MEMORY):
        return f"{name} needs more memory than a file may use here: cut out the region and variables you need first."
    if cut := _CUT.search(str(error)):
        present, whole = (max(1, round(int(cut[at]) / 1000)) for at in (1, 2))
        return f"{name} is incomplete ({present:,} of {whole:,} kB): download or copy it again."
    why = short(error).rstrip(" .")
    return f"{name} could not be read: it looks damaged or truncated ({why}). Copy or download it again."
