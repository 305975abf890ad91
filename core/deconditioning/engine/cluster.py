"""The Dask cluster of the engine: embedded, or the user's, given by its scheduler's address."""

import contextlib
import fcntl
import gc
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from deconditioning.errors import InputError
from deconditioning.sandbox import ROOT
from deconditioning.threads import usable_cores

_CONNECT_S = 5
_ANY_PORT = "127.0.0.1:0"
#: Dask's settings for embedded processes. They log errors only, and look at themselves twice a second or less: with
#: the usual 50 to 100 times a second the three processes of an idle cluster take 8 % of a core, so 2 %.
QUIET = {
    "DASK_LOGGING__DISTRIBUTED": "error",
    "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "500ms",
    "DASK_DISTRIBUTED__ADMIN__SYSTEM_MONITOR__INTERVAL": "5s",
    "DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED": "False",
}
#: Folders of certificates begin with this; an unlocked one of this age in seconds was left by an app that was killed.
_CERTIFICATES, _LEFT_S = "deconditioning-tls-", 60.0


def worker_count(requested: int | None = None) -> int:
    """Number of worker processes: one by default, at most cores − 1, at least one."""
    if requested is None:
        text = os.environ.get("DECONDITIONING_WORKERS", "1")
        if not text.isdigit():
            raise InputError(f"DECONDITIONING_WORKERS is {text!r}: give a whole number.")
        requested = int(text)
    return max(1, min(requested, usable_cores() - 1))


def worker_environment(workers: int) -> dict[str, str]:
    """Environment variables of a worker process: one thread, and with several workers the CPU for the device "auto".

    Every process that computes on a GPU allocates some hundred megabytes for its own CUDA context, so several workers
    use it only if "cuda" is requested, by a run's settings or by ``$DECONDITIONING_DEVICE``.
    """
    result = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    if workers > 1 and not os.environ.get("DECONDITIONING_DEVICE"):
        result["DECONDITIONING_DEVICE"] = "cpu"
    return result


class Cluster:
    """Holds the Dask client (a plain object, so that a page may cache it) and starts it when needed.

    Parameters
    ----------
    address : the user's scheduler, such as ``tcp://10.0.0.1:8786``; None for an embedded cluster.
    workers : worker processes of the embedded cluster.
    encrypted : whether the embedded processes speak TLS, with certificates made for this cluster alone, so that nobody
        else on this machine can give them work.
    """

    def __init__(self, address: str | None, workers: int | None, *, encrypted: bool = False) -> None:
        self.address = address
        self.encrypted = encrypted
        self.workers = worker_count(workers)
        self._lock = threading.Lock()
        self._client: Any = None
        self._cluster: Any = None
        self._certificates: tempfile.TemporaryDirectory[str] | None = None
        self._locked: int | None = None
        self._heard: tuple[str, Callable[[Any], None]] | None = None

    @property
    def connected(self) -> bool:
        """Whether a client is connected at this moment."""
        return self._client is not None and self._client.status in ("running", "connecting")

    def hear(self, topic: str, handler: Callable[[Any], None]) -> None:
        """Call ``handler(event)`` with what tasks log under ``topic``, now and after a new start."""
        self._heard = (topic, handler)

    def client(self) -> Any:
        """The connected client; starts or connects when there is none. ``InputError`` if it cannot."""
        with self._lock:
            if not self.connected:
                self._drop()
                self._client = self._embedded() if self.address is None else self._external()
                if self._heard:
                    self._client.subscribe_topic(*self._heard)
            return self._client

    def mend(self) -> int:
        """Restart embedded workers whose process has ended; returns their number."""
        cluster = self._cluster
        if cluster is None or not self.connected:
            return 0
        lost = [name for name in cluster.worker_spec if _has_ended(cluster.workers.get(name))]
        for name in lost:
            cluster.workers.pop(name, None)
        if lost:
            cluster.scale(self.workers)  # starts those that are missing
        return len(lost)

    def end_by_force(self, future: Any) -> None:
        """Cancel a task that does not stop, and restart its worker's process."""
        client = self.client()
        with contextlib.suppress(Exception):  # the worker may have ended meanwhile: `mend` sees to it
            busy = [worker for worker, keys in client.processing().items() if future.key in keys]
            future.cancel()
            client.restart_workers(busy, timeout=10, raise_for_error=False)

    def close(self) -> None:
        """End the embedded processes, or disconnect from the user's scheduler."""
        with self._lock:
            self._drop()

    def _external(self) -> Any:
        from distributed import Client

        try:
            return Client(self.address, timeout=_CONNECT_S, set_as_default=False, name="deconditioning")
        except (OSError, ValueError, ImportError, AssertionError) as error:  # the last: its event loop did not start
            why = type(error).__name__
        # A failed client must be gone before another starts: collected meanwhile, distributed waits for its own lock.
        gc.collect()
        raise InputError(
            f"No Dask scheduler answers at {self.address} ({why}): start one there, correct DASK_SCHEDULER_ADDRESS, or "
            "unset it to compute on this machine."
        )

    def _embedded(self) -> Any:
        from distributed import Client
        from distributed.deploy.subprocess import SubprocessCluster

        for name, value in QUIET.items():
            os.environ.setdefault(name, value)
        setup = (
            f"import sys; sys.path.insert(0, {str(ROOT)!r}); "
            f"from deconditioning.engine.process_setup import setup_under; dask_setup = setup_under({os.getpid()})"
        )
        environment = worker_environment(self.workers)
        worker = {"preload": [setup], "preload_nanny": [setup], "env": environment, "death_timeout": 30}
        secure, security = self._encryption()
        try:
            self._cluster = SubprocessCluster(
                n_workers=self.workers,
                threads_per_worker=1,
                dashboard_address=None,  # type: ignore[arg-type]
                silence_logs=40,  # errors only
                scheduler_kwargs={"preload": [setup], "allowed_failures": 1, "dashboard_address": _ANY_PORT, **secure},
                worker_kwargs={**worker, **secure},
                security=security,
            )
            return Client(self._cluster, set_as_default=False, name="deconditioning")
        except (OSError, RuntimeError) as error:
            self._drop()
            raise InputError(
                f"The worker processes could not be started ({error}): free some memory and try again."
            ) from None

    def _encryption(self) -> tuple[dict[str, Any], Any]:
        """TLS settings of the processes, as files that only this user can read, and the same for the client."""
        if not self.encrypted:
            return {}, None
        from distributed.security import Security

        delete_left_certificates()
        self._certificates = tempfile.TemporaryDirectory(prefix=_CERTIFICATES)
        folder, made = Path(self._certificates.name), Security.temporary()
        self._locked = _lock(folder)
        (certificate := folder / "certificate.pem").write_text(made.tls_ca_file)
        (key := folder / "key.pem").touch(mode=0o600)
        key.write_text(made.tls_client_key)
        roles = ("client", "scheduler", "worker")
        files = {
            f"tls_{role}_{part}": str(path) for role in roles for part, path in (("key", key), ("cert", certificate))
        }
        options = {"require_encryption": True, "tls_ca_file": str(certificate), **files}
        return {"security": options, "protocol": "tls://"}, made

    def _drop(self) -> None:
        for resource in (self._client, self._cluster):
            if resource is not None:
                with contextlib.suppress(Exception):  # it may be half gone already; nothing is left to save
                    resource.close(timeout=3)
        if self._certificates is not None:
            self._certificates.cleanup()
        if self._locked is not None:
            os.close(self._locked)
        self._client = self._cluster = self._certificates = self._locked = None


def delete_left_certificates() -> None:
    """Delete the certificates of apps that were killed before they could: nobody holds the lock on their folder."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_CERTIFICATES}*"):
        with contextlib.suppress(OSError):  # another user's, in use, or deleted meanwhile
            if time.time() - folder.lstat().st_mtime > _LEFT_S:
                os.close(_lock(folder))
                shutil.rmtree(folder)


def _lock(folder: Path) -> int:
    """The folder, open and locked until it is closed or this process ends; ``OSError`` where another has locked it."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _has_ended(worker: Any) -> bool:
    """Whether a worker of the embedded cluster is gone; one that is just being started is not."""
    if worker is None:
        return True
    process = getattr(worker, "process", None)
    return process is not None and process.returncode is not None
