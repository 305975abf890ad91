"""The real app on a free port, as `make run` starts it."""

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.waiting import HANG_S, wait_for

ROOT = Path(__file__).resolve().parents[2]
OPTIONS = (
    "--server.headless=true",
    "--browser.gatherUsageStats=false",
)


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(url: str, process: subprocess.Popen, log: Path) -> None:
    """Return when the server answers; fail with its log when it has ended or stays silent."""

    def answers() -> bool:
        assert process.poll() is None, f"the app ended at once:\n{log.read_text()}"
        with contextlib.suppress(OSError):
            return urllib.request.urlopen(f"{url}/_stcore/health", timeout=HANG_S).status == 200
        return False

    wait_for(answers, "the app's answer")


@contextlib.contextmanager
def running_app(
    runs: Path, log: Path, serve: Sequence[str] = ("scripts.serve",), folder: Path = ROOT, **environment: str
) -> Iterator[str]:
    """Address of the app while it runs with the given runs folder; its output goes to `log`.

    ``serve`` is the module that serves, with its arguments, and ``folder`` where it does so.
    """
    url = f"http://127.0.0.1:{(port := free_port())}"
    shipped = () if folder == ROOT else ("--server.fileWatcherType=none",)  # there is no configuration elsewhere
    command = [sys.executable, "-m", *serve, f"--server.port={port}", *OPTIONS, *shipped]
    variables = {**os.environ, "DECONDITIONING_RUNS": str(runs), **environment}
    with log.open("a") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            wait_until_healthy(url, process, log)
            yield url
        finally:
            stop(process)


@contextlib.contextmanager
def running_page(page: Path, folder: Path) -> Iterator[str]:
    """Address of one page, served by Streamlit alone from a folder of its own, where its log is ``log.txt``."""
    shutil.copytree(ROOT / "static", folder / "static")
    shutil.copy(page, folder)
    options = ("streamlit", "run", page.name, "--server.enableStaticServing=true")
    with running_app(folder / "runs", folder / "log.txt", options, folder) as url:
        yield url


def stop(process: subprocess.Popen) -> None:
    """End the app as Ctrl-C does, and by force what has not ended in a minute."""
    process.send_signal(signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(60)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(HANG_S)
