"""A reader that has been taken over reaches nothing: files, sockets, other processes, the parent's environment."""

import contextlib
import json
import logging
import os
import re
import socket
import struct
import threading
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

import psutil
import pytest

from deconditioning import jail, sandbox, seccomp
from deconditioning.errors import InputError
from deconditioning.sandbox import ROOT, read_apart
from tests.core.jail_probe import CALLS
from tests.waiting import wait_for

SECRET = "a secret of the server"
LOCKED = jail.landlock_version() > 0 and seccomp.seccomp_filter(os.uname().machine) is not None
needs_lock = pytest.mark.skipif(not LOCKED, reason="this kernel has no Landlock, or this machine's calls are unknown")


def identity(path: Path) -> tuple:
    """What a file is, apart from what it holds."""
    of = path.stat()
    return of.st_mode, of.st_uid, of.st_gid, of.st_mtime_ns, sorted(os.listxattr(path))


@pytest.fixture(scope="module")
def outcome(tmp_path_factory):
    """What the probe could do, beside a secret, a folder and three listening sockets."""
    folder = tmp_path_factory.mktemp("outside")
    secret, link = folder / "secret", folder / "link"
    secret.write_text(SECRET)
    before = identity(secret), os.getpriority(os.PRIO_PROCESS, 0)
    link.symlink_to(secret)
    with (
        socket.socket() as stream,
        socket.socket(type=socket.SOCK_DGRAM) as datagram,
        socket.socket(socket.AF_UNIX) as local,
    ):
        stream.bind(("127.0.0.1", 0))
        stream.listen()
        datagram.bind(("127.0.0.1", 0))
        os.chdir(folder)
        local.bind("socket")
        os.chdir(ROOT)
        local.listen()
        ports = [stream.getsockname()[1], datagram.getsockname()[1]]
        told = {"secret": str(secret), "link": str(link), "folder": str(folder), "ports": ports,
                "unix": str(folder / "socket"), "project": str(ROOT.parent / "README.md")}  # fmt: skip
        os.environ["A_PASSWORD"] = SECRET
        try:
            found = read_apart(
                "tests.core.jail_probe", b"mine", "mine.txt", lambda path: json.loads(path.read_text()),
                settings=json.dumps(told),
            )  # fmt: skip
        finally:
            del os.environ["A_PASSWORD"]
        datagram.setblocking(False)
        try:
            found["arrived"] = datagram.recv(10).decode()
        except BlockingIOError:
            found["arrived"] = ""
    found["left"] = sorted(path.name for path in folder.iterdir())
    found["kept"] = secret.read_text()
    found["of the secret before"], found["priority before"] = before
    found["of the secret"], found["priority"] = identity(secret), os.getpriority(os.PRIO_PROCESS, 0)
    return found


@needs_lock
def test_only_the_own_file_can_be_read(outcome):
    assert outcome["own file"] == ["done", "mine"]
    for what in ("secret", "secret by a link", "passwd", "own environment", "parent's environment", "project", "list"):
        assert outcome[what] == ["refused", "PermissionError"], what


@needs_lock
def test_nothing_but_the_result_can_be_written(outcome):
    for what in ("new file", "change", "remove", "new beside", "link beside"):
        assert outcome[what] == ["refused", "PermissionError"], what
    assert outcome["left"] == ["link", "secret", "socket"] and outcome["kept"] == SECRET


@needs_lock
def test_no_socket_no_program_no_signal(outcome):
    for what in ("stream", "datagram", "unix", "half of a pair", "program", "signal"):
        assert outcome[what] == ["refused", "PermissionError"], what
    assert outcome["arrived"] == ""


def test_the_environment_is_the_readers_own(outcome):
    done, environment = outcome["environment"]
    assert done == "done" and SECRET not in environment.values()
    assert not {"A_PASSWORD", "HOME", "PATH", "DECONDITIONING_RUNS"} & set(environment)
    assert environment["HDF5_PLUGIN_PATH"] == os.devnull


@needs_lock
def test_what_other_files_are_cannot_be_changed(outcome):
    for what in ("mode", "owner", "times", "attribute", "attribute away"):
        assert outcome[what] == ["refused", "PermissionError"], what
    assert outcome["of the secret"] == outcome["of the secret before"]


@needs_lock
def test_no_process_and_no_touch_of_another(outcome):
    for what in ("fork", "priority of the parent", "scheduler of the parent", "limits of the parent", "another session",
                 "program in memory", "other root", "other user"):  # fmt: skip
        assert outcome[what] == ["refused", "PermissionError"], what
    assert outcome["priority"] == outcome["priority before"]


@needs_lock
@pytest.mark.parametrize("what", CALLS.get(os.uname().machine, {}))
def test_no_call_by_its_number(what, outcome):
    assert outcome[what] == ["refused", "PermissionError"]


@needs_lock
def test_a_reader_may_still_compute(outcome):
    assert outcome["own memory"][0] == outcome["own pair of sockets"][0] == "done"
    # threads of this user that end elsewhere meanwhile leave room for a few more than counted at the start
    assert 8 <= int(outcome["a thread"][1]) < 2 * sandbox.THREADS
    assert 32 <= int(outcome["open files"][1]) <= 256


@needs_lock
def test_a_reader_is_never_root(outcome):
    own = os.getuid() or jail.NOBODY
    assert outcome["user"][1]["uid"] == own and outcome["user"][1]["gid"] == (os.getgid() if os.getuid() else own)
    assert os.getuid() or outcome["user"][1]["groups"] == []


def answer(machine: str, call: int, flags: int = 0, mark: int | None = None, kind: int = 1) -> int:
    """What the filter says to a call: the kernel's small machine, run here."""
    words = {0: call, 4: seccomp.MACHINES[machine][0] if mark is None else mark, 16: flags, 24: kind}
    steps = [*struct.iter_unpack("=HBBI", seccomp.seccomp_filter(machine))]
    at, loaded = 0, 0
    while True:
        code, yes, no, value = steps[at]
        if code == 0x06:
            return value
        if code == 0x20:
            loaded, at = words[value], at + 1
        else:
            holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
            at += 1 + (yes if holds else no)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_its_calls_and_no_others(machine):
    place = seccomp.MACHINES[machine][1]
    clone, clone3 = (56, 220)[place], 435
    refused = {pair[place] for pair in seccomp.REFUSED.values()} - {None}
    assert {call for call in range(1000) if answer(machine, call) == seccomp.REFUSE} == refused | {clone}
    assert {call for call in range(1000) if answer(machine, call) == seccomp.UNKNOWN} == {clone3}
    assert answer(machine, clone, 0x3D0F00) == seccomp.ALLOW  # the C library's flags of a thread
    pair, no_block = (53, 199)[place], 0x80800
    assert [kind for kind in range(1, 6) if answer(machine, pair, kind=kind | no_block) == seccomp.ALLOW] == [1]
    assert answer(machine, clone, 0x01200011) == seccomp.REFUSE  # those of fork
    assert answer(machine, 0x40000000) == answer(machine, 0x40000000 + 41) == seccomp.REFUSE
    assert answer(machine, 0, mark=0x40000003) == seccomp.KILL
    assert seccomp.seccomp_filter("riscv64") is None


@pytest.mark.parametrize(
    ("header", "place"),
    [("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0), ("/usr/include/asm-generic/unistd.h", 1)],
)
def test_numbers_are_those_of_the_systems_own_header(header, place):
    if not Path(header).is_file():
        pytest.skip("this machine has no such header")
    text = Path(header).read_text()
    numbers = {name: int(number) for name, number in re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text)}
    assert len(numbers) > 250
    for name, pair in seccomp.REFUSED.items():
        assert pair[place] == numbers.get(name, pair[place] if max(filter(None, pair)) > 440 else None), name


def test_root_without_the_right_to_be_nobody_is_said(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "getuid", lambda: 0)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(os, "setgroups", refuse)
    monkeypatch.setattr(jail, "_close_files", lambda readable, writable: True)
    monkeypatch.setattr(jail, "_filter_calls", lambda: True)
    monkeypatch.setattr(jail, "_prctl", lambda *_: 0)
    assert jail.lock_in([], [], os.getppid()) == ["root's rights"]


@pytest.mark.parametrize("seconds", [1, 60])
def test_what_a_reader_started_ends_with_it_where_the_kernel_locks_nothing_in(tmp_path, seconds):
    """Killed by the limit or at its own end, its group goes with it."""
    note = tmp_path / "pid"
    words = (
        "import os, time\n"
        "child = os.fork()\n"
        f"if child == 0: open({str(note)!r}, 'w').write(str(os.getpid())); time.sleep(600)\n"
        f"while not os.path.exists({str(note)!r}) or not os.path.getsize({str(note)!r}): time.sleep(0.01)\n"
        f"time.sleep({600 if seconds == 1 else 0})"
    )
    with contextlib.suppress(InputError):
        sandbox._run([sandbox.sys.executable, "-c", words], tmp_path / "said", "mine.nc", seconds)
    wait_for(lambda: not psutil.pid_exists(int(note.read_text())), "the end of what the reader started")


@pytest.mark.parametrize(("version", "landlock"), [(1, 13), (2, 14), (3, 15), (4, 15), (5, 16), (7, 16), (20, 16)])
def test_only_rights_that_the_kernel_knows_are_asked_for(version, landlock, monkeypatch):
    asked = {}

    class Libc:
        def syscall(self, number, *arguments):
            if number == jail._CREATE_RULESET and arguments[0] is None:
                return version
            if number == jail._CREATE_RULESET:
                asked["ruleset"] = struct.unpack("=QQQ", arguments[0].raw)
                return os.open("/", os.O_RDONLY)
            return 0

    monkeypatch.setattr(jail, "_libc", Libc)
    assert jail._close_files([], [])
    rights, network, scopes = asked["ruleset"]
    assert rights == 2**landlock - 1
    assert (network, scopes) == (3 if version >= 4 else 0, 3 if version >= 6 else 0)


def test_what_the_kernel_leaves_open_is_said_once_in_the_log(monkeypatch, caplog):
    monkeypatch.setattr(jail, "landlock_version", lambda: 0)
    monkeypatch.setattr(jail, "seccomp_filter", lambda machine: None)
    monkeypatch.setattr(jail, "_leave_root", lambda owned, closed: True)
    monkeypatch.setattr(jail, "_prctl", lambda *_: 0)
    left = jail.lock_in([], [], os.getppid())
    assert left == ["files", "sockets", "processes"]
    sandbox._say_open.cache_clear()
    with caplog.at_level(logging.WARNING, "deconditioning.sandbox"):
        for _ in range(3):
            sandbox._check(0, json.dumps({"open": left, "ok": True}).encode(), "mine.nc")
            sandbox._check(0, json.dumps({"open": [], "ok": True}).encode(), "mine.nc")
    assert len(caplog.records) == 1 and "files, sockets, processes" in caplog.records[0].getMessage()
    sandbox._say_open.cache_clear()


def test_a_lock_that_is_offered_and_then_refused_lets_nothing_be_read(monkeypatch, tmp_path, capsys):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(sandbox, "lock_in", refuse)
    monkeypatch.setattr(sandbox, "_limit", lambda memory, seconds: None)
    source, target, seen = tmp_path / "in", tmp_path / "out", []
    code = sandbox.serve(lambda *_: seen.append(1), [str(source), str(target), "mine.nc", "1000", "1"])
    assert code == 2 and not seen and "Operation not permitted" in json.loads(capsys.readouterr().out)["error"]


def test_one_more_reader_waits_for_its_turn_and_is_told_so(monkeypatch):
    monkeypatch.setattr(sandbox, "TURN_S", 0.0)
    busy, done, most = threading.Semaphore(0), threading.Event(), []

    def run(command, said, name, seconds):
        most.append(1)
        busy.release()
        done.wait()
        return 0, b'{"ok": true}'

    monkeypatch.setattr(sandbox, "_run", run)
    others = [threading.Thread(target=read_apart, args=("m", b"", "mine.nc", str)) for _ in range(sandbox.READERS)]
    for thread in others:
        thread.start()
        busy.acquire()
    try:
        with pytest.raises(InputError, match=r"other files have been reading .* try again"):
            read_apart("m", b"", "mine.nc", str)
    finally:
        done.set()
        for thread in others:
            thread.join()
    assert len(most) == sandbox.READERS
    assert read_apart("m", b"", "mine.nc", lambda path: "read") == "read"


def test_visitors_of_one_address_leave_a_turn_to_others(monkeypatch):
    """However many browsers somebody opens, one of the readers is for other addresses."""
    monkeypatch.setattr(sandbox, "TURN_S", 0.5)
    busy, done = threading.Semaphore(0), threading.Event()

    def run(command, said, name, seconds):
        if name == "slow.nc":
            busy.release()
            done.wait()
        return 0, b'{"ok": true}'

    def read(whose, address, name):
        sandbox.WHOSE.set(whose)
        sandbox.ADDRESS.set(address)
        return read_apart("m", b"", name, lambda path: "read")

    monkeypatch.setattr(sandbox, "_run", run)
    with ThreadPoolExecutor(8) as pool:
        try:
            slow = [pool.submit(read, f"browser {at}", "10.0.0.1", "slow.nc") for at in range(sandbox.READERS)]
            for _ in range(sandbox.OF_ADDRESS):
                busy.acquire()
            assert pool.submit(read, "bob", "10.0.0.2", "quick.nc").result() == "read"
            refused = wait(slow, return_when=FIRST_COMPLETED).done
            assert [("other files have been reading" in str(one.exception())) for one in refused] == [True]
        finally:
            done.set()
        assert sum(one.exception() is None for one in slow) == sandbox.OF_ADDRESS


def test_two_slow_files_of_one_visitor_do_not_keep_another_from_reading(monkeypatch):
    """One file of a visitor is read at a time, so that one person takes one of the turns."""
    monkeypatch.setattr(sandbox, "TURN_S", 0.0)
    busy, done = threading.Semaphore(0), threading.Event()

    def run(command, said, name, seconds):
        if name == "slow.nc":
            busy.release()
            done.wait()
        return 0, b'{"ok": true}'

    def read(whose, name):
        sandbox.WHOSE.set(whose)
        return read_apart("m", b"", name, lambda path: "read")

    monkeypatch.setattr(sandbox, "_run", run)
    with ThreadPoolExecutor(8) as pool:
        try:
            slow = pool.submit(read, "alice", "slow.nc")
            busy.acquire()
            more = [pool.submit(read, "alice", "slow.nc") for _ in range(4)]
            assert all("other files have been reading" in str(one.exception()) for one in more)
            assert pool.submit(read, "bob", "quick.nc").result() == "read"
        finally:
            done.set()
        assert slow.result() == "read"


def test_computing_without_end_is_stopped_with_a_sentence(monkeypatch):
    monkeypatch.setattr(sandbox, "PATIENCE", 600)  # the clock has no say, however busy the machine
    with pytest.raises(InputError, match=r"mine\.nc took longer than 1 s of computing to open"):
        read_apart("tests.core.jail_probe", b"", "mine.nc", str, seconds=1, settings="compute without end")


def test_words_without_end_do_not_fill_the_parent(tmp_path):
    """The child's words go to a file under its limits, of which only the end is read."""
    words = f"import sys; sys.stdout.write('x' * 1_000_000); print(); print('{json.dumps({'ok': True})}')"
    code, end = sandbox._run([sandbox.sys.executable, "-c", words], tmp_path / "said", "mine.nc", 60)
    assert code == 0 and len(end) == sandbox._LAST_WORDS and json.loads(end.splitlines()[-1]) == {"ok": True}


@pytest.mark.parametrize("words", [b"[1]", b"{", b"3", b"", b"\xff"])
def test_nonsense_from_the_child_is_one_sentence(words):
    with pytest.raises(InputError, match="the reader stopped"):
        sandbox._check(0, words, "mine.nc")
