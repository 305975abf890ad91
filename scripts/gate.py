"""The gate in front of the app: which Host names it answers to, what its answers forbid a browser, what it keeps shut.

A page of another site can give its own name this machine's address (DNS rebinding). To the browser it is then of one
origin with the app and may read and press everything. Such a request carries that site's name as its Host, so the app
answers only to names known to be its own, over HTTP and websocket alike.
"""

import base64
import contextlib
import hashlib
import ipaddress
import re
import socket
from collections import Counter
from collections.abc import Iterable, Iterator
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from deconditioning.errors import InputError

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
#: Addresses that say "every interface"; nobody's name.
_EVERYWHERE = frozenset({"", "0.0.0.0", "::"})
#: Open pages (websockets) from one network address of a shared server: a lecture hall may have one.
SOCKETS_OF_ADDRESS = 200
#: A page loads from this server alone. Plotly and Streamlit write styles; components, pictures and downloads are blobs
#: and data; Plotly's WebGL traces compile functions. Of a document's own scripts those run whose digests follow
#: ``script-src``.
_POLICY = (
    "default-src 'self'",
    "script-src 'self' blob: 'unsafe-eval'",
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self' data:",
    "media-src 'self' data: blob:",
    "connect-src 'self' data: blob:",
    "worker-src 'self' blob:",
    "frame-src 'self' data: blob:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    "frame-ancestors 'self'",
)
HEADERS = {
    "X-Frame-Options": "SAMEORIGIN",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: Streamlit's counts of sessions and caches.
_SHUT = re.compile(r"/_stcore/+metrics(/|$)")


def host_name(header: str) -> str | None:
    """The name or address in a Host header, in small letters; None where it is malformed.

    ``"[::1]:8501"`` → ``"::1"``, ``"Lab.Example.org."`` → ``"lab.example.org"``.
    """
    try:
        parts = urlsplit(f"//{header}")
        name, _ = parts.hostname, parts.port  # a port that is no number raises
    except ValueError:
        return None
    bare = parts.netloc == header and "@" not in header and not header.endswith(":")
    return name.rstrip(".") if name and bare else None


def own_names(server_address: str | None, browser_address: str | None, named: Iterable[str], shared: bool) -> set[str]:
    """Names that the app answers to: loopback, the addresses it was given, those named, and the machine's where shared.

    ``named`` are those of Streamlit's option ``server.allowedHosts``: ``*.example.org`` is every name below it, ``*``
    every name.
    """
    machine = socket.gethostname()
    given = {server_address or "", browser_address or "", *named, *((machine, f"{machine}.local") if shared else ())}
    return {*_LOOPBACK, *(name.strip().strip("[]").lower().rstrip(".") for name in given)} - _EVERYWHERE


def _answers_to(name: str, names: set[str]) -> bool:
    """Whether a host's name is among these names and patterns."""
    return "*" in names or name in names or any(one.startswith("*.") and name.endswith(one[1:]) for one in names)


def policy_for(document: str) -> str:
    """The content security policy under which this document's own scripts run, and none that is slipped into it."""
    scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    digests = [base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts]
    allowed = " ".join(f"'sha256-{one}'" for one in digests)
    return "; ".join(f"{part} {allowed}" if part.startswith("script-src") else part for part in _POLICY)


def trusted_proxies(given: str) -> str:
    """Proxies whose X-Forwarded-For tells where a visitor is: addresses and networks with commas between.

    The text is as uvicorn takes it. Raises ``InputError`` where a part is no address and no network.
    """
    found = []
    for part in filter(None, (part.strip() for part in given.split(","))):
        try:
            found.append(str(ipaddress.ip_network(part) if "/" in part else ipaddress.ip_address(part)))
        except ValueError:
            raise InputError(
                f"DECONDITIONING_TRUSTED_PROXIES names {part[:60]!r}: give addresses or networks of proxies, separated "
                "by commas, such as 127.0.0.1,10.0.0.0/8."
            ) from None
    return ",".join(found)


class Gate:
    """ASGI middleware that lets in whoever asks for one of ``names``, and marks every answer with ``HEADERS``.

    Where the server is shared, the address at which the connection arrived is a name, too: no other site has it.
    ``policy`` is the content security policy of all answers. A shared server takes ``SOCKETS_OF_ADDRESS`` websockets
    at a time from one address, any number from its own machine.
    """

    def __init__(self, app: ASGIApp, names: set[str], shared: bool, policy: str) -> None:
        self._app, self._names, self._shared = app, names, shared
        self._headers = {"Content-Security-Policy": policy, **HEADERS}
        self._sockets: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, refuse, or hand the request on."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None:
            with self._counted(scope):
                await self._app(scope, receive, self._marked(send))
        elif scope["type"] == "http":
            await refusal(scope, receive, self._marked(send))
        else:
            await send({"type": "websocket.close", "code": 1008})

    def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        hosts = Headers(scope=scope).getlist("host")
        name = host_name(hosts[0]) if len(hosts) == 1 else None
        if name is None:
            return PlainTextResponse("The request names no host, or a malformed one.", 400)
        if not _answers_to(name, self._names) and not (self._shared and name == _arrived_at(scope)):
            return PlainTextResponse(
                f"This app does not answer to the name {name[:100]!r}: open it by the address it was started with, or "
                "name this host in STREAMLIT_SERVER_ALLOWED_HOSTS.",
                403,
            )
        if _SHUT.search(scope["path"]):
            return PlainTextResponse("Not found.", 404)
        if (address := self._limited(scope)) and self._sockets[address] >= SOCKETS_OF_ADDRESS:
            return PlainTextResponse("Too many pages are open from your network address: close one.", 429)
        return None

    def _limited(self, scope: Scope) -> str:
        """The address whose websockets are counted; empty where this is none of them."""
        host = scope["client"][0] if scope.get("client") else ""
        return host if self._shared and scope["type"] == "websocket" and host not in _LOOPBACK else ""

    @contextlib.contextmanager
    def _counted(self, scope: Scope) -> Iterator[None]:
        """One websocket more while it lasts."""
        address = self._limited(scope)
        self._sockets += Counter({address: 1} if address else {})
        try:
            yield
        finally:
            self._sockets -= Counter({address: 1} if address else {})  # an address with none left is forgotten

    def _marked(self, send: Send) -> Send:
        """``send`` that puts the headers on an answer."""

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(self._headers)
            await send(message)

        return send_marked


def _arrived_at(scope: Scope) -> str | None:
    """The address of this machine at which a connection arrived; None where it is not known."""
    server = scope.get("server")
    try:
        address = ipaddress.ip_address(server[0] if server else "")
    except ValueError:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address)
