"""A visitor's permissions for an engine's runs: list their own, read any with a known id, change their own.

On a personal machine everything belongs to its user. On a shared server (``pages.kit.visitor`` decides) a visitor is
identified by a secret in their browser; the runs folder contains only its hash, the visitor's *mark*.
"""

import hashlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deconditioning.engine.engine import Engine
from deconditioning.engine.labels import Label
from deconditioning.engine.records import Run, RunSpec
from deconditioning.engine.visitors.exercise_progress import Progress
from deconditioning.engine.visitors.favourites import Favourites
from deconditioning.errors import InputError

#: Runs that may wait or go on at the same time: of one visitor, from one address (a room may share one), and of all.
MOST_ACTIVE, MOST_OF_ADDRESS, MOST_OF_ALL = 3, 15, 40
_begin = threading.Lock()


def mark_of(secret: str) -> str:
    """A visitor's mark: the SHA-256 of their secret, in hexadecimal digits."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class Visitor:
    """An engine as seen by one visitor.

    Parameters
    ----------
    engine : the server's engine.
    mark : the visitor's mark; empty on a personal machine.
    everything : whether all runs belong to them, as on a personal machine or for an administrator.
    known : whether their browser has the secret that identifies them; others cannot start runs.
    address : their network address.
    """

    engine: Engine
    mark: str = ""
    everything: bool = True
    known: bool = True
    address: str = ""

    @property
    def root(self) -> Path:
        """The runs folder."""
        return self.engine.root

    @property
    def favourites(self) -> Favourites:
        """The visitor's own favourites; an administrator's too are only their own."""
        return Favourites(self.root, self.mark)

    @property
    def progress(self) -> Progress:
        """Which exercises the visitor has done."""
        return Progress(self.root, self.mark)

    def is_mine(self, run: Run) -> bool:
        """Whether this visitor may change the run."""
        return self.everything or (bool(run.owner) and run.owner == self.mark)

    def runs(self) -> tuple[Run, ...]:
        """The visitor's runs, newest first."""
        return tuple(filter(self.is_mine, self.engine.runs()))

    def get(self, run_id: str) -> Run:
        """One run by its id, whoever began it: a link opens it."""
        return self.engine.get(run_id)

    def trace(self, run_id: str) -> list[dict[str, Any]]:
        """Everything a run reported so far."""
        return self.engine.trace(run_id)

    def file(self, run_id: str, name: str) -> bytes:
        """The bytes of one of a run's files."""
        return self.engine.file(run_id, name)

    def parts(self, run_id: str) -> dict[str, bytes]:
        """Everything of a run by its path in the run's folder."""
        return self.engine.parts(run_id)

    def submit(self, spec: RunSpec) -> str:
        """Queue a run of this visitor; its id."""
        if not self.known:
            raise InputError(
                "A run needs this server's cookie, which identifies its owner: allow it and reload the page."
            )
        with _begin:  # of several sessions at once none slips past the limits
            if not self.everything:
                self._check_limits()
            return self.engine.submit(spec, self.mark, self.address)

    def _check_limits(self) -> None:
        """Raise ``InputError`` if this visitor, or all from here, or all, have as many active runs as they may have."""
        if self.engine.active(owner=self.mark) >= MOST_ACTIVE:
            raise InputError(
                f"{MOST_ACTIVE} of your runs are waiting or running, the limit on a shared server: cancel one "
                "on page Runs, or wait."
            )
        if self.address and self.engine.active(address=self.address) >= MOST_OF_ADDRESS:
            raise InputError(
                f"{MOST_OF_ADDRESS} runs from your network address are waiting or running, the limit: wait until "
                "one ends."
            )
        if self.engine.active() >= MOST_OF_ALL:
            raise InputError(f"{MOST_OF_ALL} runs are waiting or running, the limit of this server: try again later.")

    def rerun(self, run_id: str) -> str:
        """Submit the same spec again, as this visitor's; the new run's id."""
        return self.submit(self.get(run_id).spec)

    def cancel(self, run_id: str) -> None:
        """Ask one of the visitor's runs to stop; its best so far is kept."""
        self._check(run_id, "cancelled")
        self.engine.cancel(run_id)

    def call(self, run_id: str, label: Label) -> None:
        """Give one of the visitor's runs its name, star and tags."""
        self._check(run_id, "named")
        self.engine.call(run_id, label)

    def restore(self, run_id: str) -> None:
        """Bring back a run that this visitor deleted not long ago."""
        self.engine.restore(run_id)
        if not self.is_mine(self.get(run_id)):
            self.engine.delete(run_id)
            raise InputError(f"Run {run_id} belongs to another visitor: only they can restore it.")

    def delete(self, run_id: str) -> None:
        """Remove one of the visitor's ended runs; `restore` brings it back for a day."""
        self._check(run_id, "deleted")
        self.engine.delete(run_id)

    def wait(self, run_id: str, timeout: float = 60.0) -> Run:
        """Block until a run has ended (or ``timeout`` seconds passed) and return it."""
        return self.engine.wait(run_id, timeout)

    def _check(self, run_id: str, verb: str) -> None:
        if not self.is_mine(self.get(run_id)):
            raise InputError(
                f"Run {run_id} belongs to another visitor: it can be {verb} only in the browser that started it."
            )
