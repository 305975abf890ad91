"""Who looks at the page, where the server is shared by a room: a secret in a cookie that ``scripts.serve`` gives.

Without ``DECONDITIONING_SHARED`` the machine is one person's, there is no cookie, and everything is theirs.
"""

import hmac
import os
import re
import secrets
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import streamlit as st

from deconditioning.errors import InputError
from pages.kit.session import Key

COOKIE = "deconditioning-visitor"
UPLOADS = "upload"
_ISSUED = re.compile(r"[0-9a-f]{64}")
#: Letters that the administrator's secret has at least; seconds that a wrong guess costs, doubled with each, at most.
_SHORTEST_SECRET, _WRONG_S, _LONGEST_WAIT_S = 16, 1.0, 60.0
_WAITED_FOR_S = 2.0  # a person who mistyped once or twice is not sent away


def is_shared() -> bool:
    """Whether several people use this server, each with runs and uploads of their own."""
    return os.environ.get("DECONDITIONING_SHARED", "").strip().lower() in ("1", "true", "yes", "on")


def cookie() -> str | None:
    """The secret that this browser keeps, which tells whose runs are whose; None where it keeps none."""
    result = st.context.cookies.get(COOKIE)
    return result if isinstance(result, str) and _ISSUED.fullmatch(result) else None


def keeps_cookie() -> bool:
    """Whether this browser keeps the server's cookie, where it needs one: others begin no run."""
    return not is_shared() or cookie() is not None


def visitor_mark() -> str:
    """The visitor's mark; empty where the server is not shared. A browser without cookies has one until a reload."""
    if not is_shared():
        return ""
    from deconditioning.engine.visitors.visitor import mark_of

    return mark_of(cookie() or st.session_state.setdefault(Key.VISITOR_SECRET, secrets.token_hex(32)))


def address() -> str:
    """The network address that the visitor comes from; empty on this machine, and where the server is not shared.

    Behind a proxy it is the one that a trusted proxy forwards (`scripts.gate.trusted_proxies`).
    """
    return (st.context.ip_address or "") if is_shared() else ""


def sees_everything() -> bool:
    """Whether all runs and uploads are this visitor's to see and change."""
    return not is_shared() or bool(st.session_state.get(Key.ADMINISTRATOR))


def listed(uploads_of: Callable[[str], dict[str, str]], *controls: str) -> dict[str, str]:
    """Those uploads that the visitor may choose: their own, and those that a link or a run put into these controls.

    ``uploads_of(mark)`` tells key → name of one visitor's uploads, or without a mark of all. A link names uploads of
    other visitors by their keys in ``?upload=…``, as controls put into it only what they show.
    """
    everyone = uploads_of("")
    if sees_everything():
        return everyone
    uploads = uploads_of(visitor_mark())
    requested: set[Any] = {*st.query_params.get(UPLOADS, "").split(",")}
    for chosen in (st.session_state.get(key) for key in controls):
        requested |= set(chosen) if isinstance(chosen, list) else {chosen}
    return {key: uploads.get(key, name) for key, name in everyone.items() if key in uploads or key in requested}


def put_into_link(*chosen: str | None) -> None:
    """Where the server is shared: the keys of uploads that the page shows, for whom its address is given to."""
    keys = ",".join(dict.fromkeys(filter(None, chosen)))
    if not is_shared() or st.query_params.get(UPLOADS, "") == keys:
        return
    if keys:
        st.query_params[UPLOADS] = keys
    else:
        st.query_params.pop(UPLOADS, None)


class Guesses:
    """Guesses of the administrator's secret from one address, whatever the session: one at a time, each slower."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wrong, self._until = 0, 0.0

    def right(self, secret: str, expected: str) -> bool:
        """Whether a secret is the one that is wanted; a wrong guess delays the next."""
        if not self._lock.acquire(blocking=False):
            raise InputError("Another guess is being checked: try again shortly.")
        try:
            if 0 < (left := self._until - time.monotonic()) <= _WAITED_FOR_S:
                time.sleep(left)
            elif left > 0:
                raise InputError(f"{self._wrong} wrong guesses so far: try again in {left:.0f} s.")
            if hmac.compare_digest(secret.encode("utf-8", "replace"), expected.encode("utf-8", "replace")):
                self._wrong = 0
                return True
            self._wrong += 1
            self._until = time.monotonic() + min(_WRONG_S * 2 ** min(self._wrong - 1, 10), _LONGEST_WAIT_S)
            return False
        finally:
            self._lock.release()


_guesses: defaultdict[str, Guesses] = defaultdict(Guesses)


def become_administrator(secret: str) -> bool:
    """Whether the secret is that of ``DECONDITIONING_ADMIN``; if so this session sees everything.

    Raises ``InputError`` where guesses come too fast, and where the server's secret is shorter than
    ``_SHORTEST_SECRET``: nobody is the administrator then.
    """
    password = os.environ.get("DECONDITIONING_ADMIN", "")
    if len(password) < _SHORTEST_SECRET:
        raise InputError(
            f"DECONDITIONING_ADMIN has fewer than {_SHORTEST_SECRET} characters: restart the server with a longer "
            "secret."
        )
    if not _guesses[address()].right(secret, password):
        return False
    st.session_state[Key.ADMINISTRATOR] = True
    return True
