"""The embedded cluster: it is mended, ends with the app however early that ends, serves no web page, may speak TLS."""

import os
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from deconditioning.engine.cluster import delete_left_certificates
from deconditioning.engine.engine import Engine
from tests.core.engine.conftest import ROOT, done, ended, toy
from tests.waiting import HANG_S, wait_for

#: Hands a process of the cluster the id of an app that is no longer there.
ORPHAN = "from deconditioning.engine.process_setup import setup_under; setup_under(1); print('goes on')"
#: Sets up a worker, which has a nanny as its parent, and prints its niceness.
WORKER = """
import multiprocessing, os, types
from deconditioning.engine.process_setup import setup_under
def worker(pipe):
    setup_under(os.getppid())(types.SimpleNamespace())
    pipe.send(os.nice(0))
ours, its = multiprocessing.Pipe()
multiprocessing.get_context("fork").Process(target=worker, args=(its,)).start()
print(ours.recv())
"""
APP = """
import sys, threading, time
from pathlib import Path
from deconditioning.engine.cluster import Cluster
threading.Thread(target=Cluster(None, 1).client, daemon=True).start()
time.sleep(600)
"""


def processes() -> dict[str, psutil.Process]:
    """The scheduler, the nanny and the worker that this process started last, by what they are."""
    found = {}
    children = [child for child in psutil.Process().children(recursive=True) if child.status() != psutil.STATUS_ZOMBIE]
    for child in sorted(children, key=psutil.Process.create_time):
        line = " ".join(child.cmdline())
        for kind, word in (("scheduler", "distributed.Scheduler"), ("nanny", "distributed.Nanny")):
            if word in line:
                found[kind] = child
        if "multiprocessing.spawn" in line:
            found["worker"] = child
    return found


@pytest.mark.parametrize(("given", "niceness"), [(None, 10), ("3", 3)])
def test_a_worker_leaves_the_cores_to_the_pages(
    given: str | None, niceness: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DECONDITIONING_NICE")
    if given:
        monkeypatch.setenv("DECONDITIONING_NICE", given)
    output = subprocess.run([sys.executable, "-c", WORKER], capture_output=True, text=True, check=True).stdout
    assert int(output) == max(niceness, os.nice(0))


@pytest.fixture
def own(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine with a cluster of its own, which the other tests do not see."""
    with Engine(tmp_path, address="", encrypted=getattr(request, "param", False)) as engine:
        yield engine


def test_a_killed_nanny_is_replaced_while_a_run_goes_on_and_while_none_does(own: Engine) -> None:
    run_id = own.submit(toy("count", steps=50, pause=0.2))
    wait_for(lambda: own.get(run_id).status == "running")
    processes()["nanny"].kill()
    wait_for(lambda: "a new one is being started" in own.get(run_id).message)
    wait_for(lambda: own.get(run_id).attempt == 2)
    own.cancel(run_id)
    assert ended(own, run_id).status == "cancelled"
    processes()["nanny"].kill()
    assert done(own, toy("count")).status == "done"


def test_a_plain_cluster_serves_no_web_page(own: Engine) -> None:
    assert done(own, toy("count")).status == "done"
    serves_nothing_and_hides_its_key()
    assert own._keeper.cluster._client.scheduler.address.startswith("tcp://")


def serves_nothing_and_hides_its_key() -> None:
    """Of the processes: no web page on any port, no key in the command line or the environment."""
    found = processes()
    ports = [at.laddr.port for one in found.values() for at in one.net_connections("inet") if at.status == "LISTEN"]
    assert len(found) == 3 and ports
    for port in ports:
        with socket.create_connection(("127.0.0.1", port)) as probe:
            probe.settimeout(3)
            probe.sendall(b"GET /info/main/workers.html HTTP/1.1\r\nHost: evil.example\r\n\r\n")
            assert b"HTTP/" not in heard(probe)
    for one in found.values():
        assert "PRIVATE KEY" not in " ".join(one.cmdline()) + str(one.environ())


def heard(probe: socket.socket) -> bytes:
    """What comes back, if anything does."""
    try:
        return probe.recv(4096)
    except OSError:
        return b""


@pytest.mark.parametrize("own", [True], indirect=True)
def test_nobody_without_the_certificate_reaches_an_encrypted_cluster(own: Engine) -> None:
    assert done(own, toy("count")).status == "done"
    serves_nothing_and_hides_its_key()
    assert own._keeper.cluster._client.scheduler.address.startswith("tls://")
    port = int(own._keeper.cluster._client.scheduler.address.rpartition(":")[2])
    folder = Path(own._keeper.cluster._certificates.name)
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    assert folder.stat().st_mode & 0o77 == 0 and key.stat().st_mode & 0o77 == 0
    stranger = ssl.create_default_context(cafile=certificate)
    stranger.check_hostname = False
    friend = ssl.create_default_context(cafile=certificate)
    friend.check_hostname = False
    friend.load_cert_chain(certificate, key)
    assert b"compression" in greeting(port, friend)  # the scheduler speaks first
    assert b"compression" not in greeting(port, stranger) + greeting(port, None)
    own.close()
    assert not folder.exists()


def test_certificates_of_a_killed_app_are_deleted_and_those_of_a_living_one_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    old = ("deconditioning-tls-killed", "deconditioning-tls-living", "another-program")
    for name in (*old, "deconditioning-tls-begun"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "key.pem").touch()
    for name in old:
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "deconditioning-tls-link").symlink_to(tmp_path / "another-program")
    program = (
        "import sys; from pathlib import Path; from deconditioning.engine.cluster import _lock; "
        "kept = _lock(Path(sys.argv[1])); print('locked', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "deconditioning-tls-living")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as living:
        assert living.stdout.readline() == "locked\n"
        delete_left_certificates()
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "another-program",
            "deconditioning-tls-begun",
            "deconditioning-tls-link",
            "deconditioning-tls-living",
        ]
        living.kill()
    delete_left_certificates()
    assert not (tmp_path / "deconditioning-tls-living").exists()
    assert (tmp_path / "another-program" / "key.pem").exists()


def greeting(port: int, context: ssl.SSLContext | None) -> bytes:
    """What the scheduler says to a new connection, over TLS with this context or in the clear."""
    with socket.create_connection(("127.0.0.1", port)) as probe:
        probe.settimeout(HANG_S if context else 3)
        if context is None:
            return heard(probe)
        try:
            with context.wrap_socket(probe) as wrapped:
                said = b""
                while b"compression" not in said and (more := heard(wrapped)):
                    said += more
                return said
        except OSError:
            return b""


def test_a_process_whose_app_has_ended_ends_at_once() -> None:
    found = subprocess.run([sys.executable, "-c", ORPHAN], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


@pytest.mark.parametrize("begun", [1, 2, 4], ids=["first", "nanny", "worker"])
def test_no_process_of_the_cluster_outlives_an_app_that_is_killed_while_it_starts(begun: int) -> None:
    """With its first process, with scheduler and nanny, and with the worker (and Python's tracker of its resources)."""
    app = subprocess.Popen([sys.executable, "-c", APP], cwd=ROOT, start_new_session=True)

    def there() -> list[psutil.Process] | None:
        found = psutil.Process(app.pid).children(recursive=True)
        return found if len(found) >= begun else None

    try:
        children = wait_for(there)
    finally:
        os.kill(app.pid, signal.SIGKILL)
        app.wait()
    wait_for(lambda: not psutil.wait_procs(children, timeout=1)[1], "the end of the cluster's processes")
