"""A process locks itself in: it reads and writes named files only, opens no socket, starts no process (Linux).

Files are Landlock's matter (kernel 5.13 and newer, https://docs.kernel.org/userspace-api/landlock.html); sockets, other
processes, and what files and the machine are, seccomp's (``seccomp``). Both are asked for by system calls, for
there is no well-kept package. Neither can be undone. Root's process goes on as nobody.
"""

import ctypes
import errno
import os
import platform
import signal
import struct
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from deconditioning.seccomp import seccomp_filter

#: Landlock's rights to the file system. A rule for a file may grant only those of a file.
_WRITE_FILE, _READ_FILE, _READ_DIR, _TRUNCATE = 1 << 1, 1 << 2, 1 << 3, 1 << 14
#: How many rights each version of Landlock's interface knows; those that it knows are denied where no rule grants them.
_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
_MOST_RIGHTS = 16
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION, _PATH_BENEATH = 1, 1
_SET_SECCOMP, _SECCOMP_FILTER, _SET_NO_NEW_PRIVILEGES, _SET_PARENT_DEATH_SIGNAL = 22, 2, 38, 1
#: Nobody's user and group; the capability to read files whatever their rights say, under Landlock's lock only.
NOBODY, _KEEP_CAPABILITIES, _READ_ANY, _CAPABILITY_VERSION = 65534, 8, 1 << 2, 0x20080522


def lock_in(readable: Iterable[Path], writable: Iterable[Path], parent: int) -> list[str]:
    """Lock this process in for good; returns in words what the kernel leaves open, nothing if all is closed.

    Folders among ``readable`` are read with all that lies in them; ``writable`` are files that exist. Paths that do not
    exist are passed over. To be called while the process has one thread. A process of root's goes on as nobody, who
    then owns the ``writable`` files. The process ends with its ``parent`` (`end_with_parent`) and cannot change that.
    Raises ``OSError`` where the kernel offers a lock and then refuses it.
    """
    if not sys.platform.startswith("linux"):
        return ["files", "sockets", "processes"]
    files = [*writable]
    _call(_prctl(_SET_NO_NEW_PRIVILEGES, 1, None))
    closed = _close_files(readable, files)
    left = [] if closed else ["files"]
    if not _leave_root(files, closed):
        left.append("root's rights")
    end_with_parent(parent)
    return left if _filter_calls() else [*left, "sockets", "processes"]


def end_with_parent(parent: int) -> None:
    """End this process by force as soon as its parent ends, where the kernel can (Linux); at once if it has ended.

    ``parent`` is the process id that the parent itself handed down: what the kernel says now may be the process that
    took its place.
    """
    if sys.platform.startswith("linux"):
        _call(_prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, None))
    if os.getppid() != parent:
        os._exit(0)


def threads_of_user() -> int:
    """Threads of all processes of the user as whom this one will go on (`lock_in`); 0 where that is not known."""
    user, count = os.getuid() or NOBODY, 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            count += len(os.listdir(process / "task")) if process.stat().st_uid == user else 0
        except OSError:
            continue  # it has ended
    return count


def python_paths() -> list[Path]:
    """What Python and its packages are loaded from: standard library, packages, the system's shared libraries."""
    named = sysconfig.get_paths()
    standard = [named[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    packages = [path for path in sys.path if "site-packages" in path or "dist-packages" in path]
    shared = [f"{prefix}/share/proj" for prefix in (sys.prefix, sys.base_prefix)]
    libraries = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    stores = ["/nix/store", "/gnu/store"]
    system = ["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/etc/ld.so.cache", "/dev/null"]
    bundled = [f"{prefix}/lib" for prefix in (sys.prefix, sys.base_prefix)]
    return [Path(path) for path in (*standard, *packages, *bundled, *shared, *libraries, *stores, *system) if path]


def landlock_version() -> int:
    """The version of Landlock's interface, 0 where the kernel has none or does not use it."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _libc().syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), _VERSION))


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    return libc


def _prctl(what: int, value: int, pointer: Any) -> int:
    nothing = ctypes.c_ulong(0)
    return _libc().prctl(what, ctypes.c_ulong(value), pointer or nothing, nothing, nothing)


def _call(answer: int) -> int:
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer


def _close_files(readable: Iterable[Path], writable: Iterable[Path]) -> bool:
    """Whether Landlock has closed all other files, TCP, other processes' signals and abstract sockets."""
    version = landlock_version()
    if not version:
        return False
    rights = (1 << _RIGHTS.get(version, _MOST_RIGHTS)) - 1
    network, scopes = 3 * (version >= 4), 3 * (version >= 6)
    handled = ctypes.create_string_buffer(struct.pack("=QQQ", rights, network, scopes), 24)
    ruleset = _call(_libc().syscall(_CREATE_RULESET, handled, ctypes.c_size_t(24), 0))
    try:
        for path in readable:
            _grant(ruleset, path, (_READ_FILE | _READ_DIR) if path.is_dir() else _READ_FILE)
        for path in writable:
            _grant(ruleset, path, (_WRITE_FILE | _TRUNCATE) & rights)
        _call(_libc().syscall(_RESTRICT_SELF, ruleset, 0))
    finally:
        os.close(ruleset)
    return True


def _grant(ruleset: int, path: Path, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        _call(_libc().syscall(_ADD_RULE, ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_void_p))


def _leave_root(owned: Iterable[Path], files_are_closed: bool) -> bool:
    """Whether this process is not root's, or goes on as nobody. It keeps reading what root may read under Landlock."""
    if os.geteuid() != 0 and os.getuid() != 0:
        return True
    try:
        for path in owned:
            os.chown(path, NOBODY, NOBODY)
        _call(_prctl(_KEEP_CAPABILITIES, int(files_are_closed), None))
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    except OSError:
        return False  # a container's root, without the right to be somebody else
    capability = _READ_ANY if files_are_closed else 0
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    capabilities = ctypes.create_string_buffer(struct.pack("=6I", capability, capability, 0, 0, 0, 0), 24)
    _call(_libc().capset(header, capabilities))
    return True


def _filter_calls() -> bool:
    """Whether seccomp refuses the calls of ``deconditioning.seccomp``."""
    steps = seccomp_filter(platform.machine())
    if steps is None or sys.maxsize < 1 << 32:
        return False
    buffer = ctypes.create_string_buffer(steps, len(steps))
    program = _Program(len(steps) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    done = _prctl(_SET_SECCOMP, _SECCOMP_FILTER, ctypes.byref(program))
    if done < 0 and ctypes.get_errno() == errno.EINVAL:
        return False  # a kernel without filters
    return _call(done) == 0
