"""What a reader that has been taken over would try: each deed with what came of it, written to the target as JSON."""

import ctypes
import json
import mmap
import os
import resource
import socket
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deconditioning.sandbox import serve


def read(source: Path, target: Path, name: str, memory: int, settings: str) -> None:
    while settings == "compute without end":
        pass
    told = json.loads(settings)
    secret, folder, ports = Path(told["secret"]), Path(told["folder"]), told["ports"]
    deeds: dict[str, Callable[[], Any]] = {
        "own file": source.read_text,
        "secret": secret.read_text,
        "secret by a link": Path(told["link"]).read_text,
        "passwd": Path("/etc/passwd").read_text,
        "own environment": Path("/proc/self/environ").read_text,
        "parent's environment": Path(f"/proc/{os.getppid()}/environ").read_text,
        "project": Path(told["project"]).read_text,
        "list": lambda: os.listdir(folder),
        "new file": lambda: (folder / "new").write_text("x"),
        "change": lambda: secret.write_text("x"),
        "remove": secret.unlink,
        "new beside": lambda: (target.parent / "new").write_text("x"),
        "link beside": lambda: (target.parent / "link").symlink_to(secret),
        "stream": lambda: socket.create_connection(("127.0.0.1", ports[0]), timeout=5),
        "datagram": lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", ports[1])),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect(told["unix"]),
        "program": lambda: os.posix_spawn("/bin/sh", ["sh", "-c", f"echo x > {folder}/new"], {}),
        "signal": lambda: os.kill(os.getppid(), 0),
        "environment": lambda: dict(os.environ),
    }
    found = {what: _outcome(deed) for what, deed in (deeds | _deeds_beyond_files(secret)).items()}
    found |= {
        what: _outcome(lambda call=call: _call(*call)) for what, call in CALLS.get(os.uname().machine, {}).items()
    }
    target.write_text(json.dumps(found))


#: Calls that Python has no function for: name → number and arguments.
CALLS = {
    "x86_64": {
        "shared memory": (29, 0, 4096, 0o1600), "semaphore": (64, 0, 1, 0o1600), "message queue": (68, 0, 0o1600),
        "key": (250, 0, -3, 0), "unshare by number": (272, 0x10000000), "ptrace": (101, 16, 1, 0, 0),
        "read another's memory": (310, 1, 0, 0, 0, 0, 0), "io_uring": (425, 8, 0), "bpf": (321, 0, 0, 0),
        "vfork": (58,), "fork by clone": (56, 17, 0, 0, 0, 0), "chmod of the other numbering": (0x40000000 + 90, 0, 0),
        "fchmodat2": (452, -100, 0, 0, 0), "mount": (165, 0, 0, 0, 0, 0), "time of the clock": (227, 0, 0),
        "a handle": (304, 0, 0, 0), "priority of disk": (251, 1, 1, 0), "affinity": (203, 1, 8, 0),
        "connect": (42, 0, 0, 0), "bind": (49, 0, 0, 0), "end with the parent no more": (157, 1, 0, 0, 0, 0),
    },
}  # fmt: skip


def _call(number: int, *arguments: int) -> None:
    """A system call by its number; ``OSError`` where it fails."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(ctypes.c_long(number), *(ctypes.c_long(one) for one in arguments)) < 0:
        raise OSError(ctypes.get_errno(), "refused")


def _deeds_beyond_files(secret: Path) -> dict[str, Callable[[], Any]]:
    """What does not need a file to be read or written."""
    return {
        "mode": lambda: os.chmod(secret, 0o777),
        "owner": lambda: os.chown(secret, os.getuid(), os.getgid()),
        "times": lambda: os.utime(secret, (0, 0)),
        "attribute": lambda: os.setxattr(secret, "user.mine", b"x"),
        "attribute away": lambda: os.removexattr(secret, "user.theirs"),
        "fork": lambda: os.fork() or os._exit(0),
        "priority of the parent": lambda: os.setpriority(os.PRIO_PROCESS, os.getppid(), 19),
        "scheduler of the parent": lambda: os.sched_setscheduler(os.getppid(), os.SCHED_BATCH, os.sched_param(0)),
        "limits of the parent": lambda: resource.prlimit(os.getppid(), resource.RLIMIT_CPU, (9, 9)),
        "program in memory": lambda: os.memfd_create("x"),
        "other root": lambda: os.chroot("/"),
        "other user": lambda: os.setuid(0),
        "another session": os.setsid,
        "user": lambda: {"uid": os.getuid(), "gid": os.getgid(), "groups": os.getgroups()},
        "a thread": _started_threads,
        "own memory": lambda: mmap.mmap(-1, 4096).close(),
        "own pair of sockets": lambda: [one.close() for one in socket.socketpair()],
        "half of a pair": lambda: socket.socketpair(type=socket.SOCK_DGRAM)[0].sendto(b"x", "\0elsewhere"),
        "open files": _opened_files,
    }


def _opened_files() -> str:
    """How many files may be open at once."""
    opened = list[int]()
    while len(opened) < 1000:
        try:
            opened.append(os.open(os.devnull, os.O_RDONLY))
        except OSError:
            break
    for one in opened:
        os.close(one)
    return str(len(opened))


def _started_threads() -> str:
    """How many threads there may be at once: enough, and not without end."""
    free, threads = threading.Event(), list[threading.Thread]()
    threading.stack_size(65536)
    try:
        while len(threads) < 400:
            threads.append(threading.Thread(target=free.wait))
            threads[-1].start()
    except RuntimeError:
        threads.pop()
    free.set()
    for thread in threads:
        thread.join()
    return str(len(threads))


def _outcome(deed: Callable[[], Any]) -> list[Any]:
    try:
        value = deed()
    except OSError as error:
        return ["refused", type(error).__name__]
    return ["done", value if isinstance(value, str | dict) else None]


if __name__ == "__main__":
    sys.exit(serve(read, sys.argv[1:]))
