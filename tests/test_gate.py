"""The gate in front of the app: which names it answers to over HTTP and websocket, and what its answers forbid."""

import asyncio
import base64
import hashlib
import re
from typing import Any

import pytest

from deconditioning.errors import InputError
from scripts.gate import HEADERS, Gate, host_name, own_names, policy_for, trusted_proxies
from scripts.serve import page_document

OURS = ["127.0.0.1:8501", "localhost", "LOCALHOST.:8501", "[::1]:8501", "lab.example.org", "a.b.example.net", "LAB:80"]
FOREIGN = [
    "evil.example", "evil.example:8501", "127.0.0.1.evil.example:8501", "localhost.evil.example", "xlab.example.org",
    "example.net", "xexample.net", "192.168.9.9:8501", "0.0.0.0:8501", "127.1", "[::ffff:127.0.0.2]", "2130706433",
]  # fmt: skip
MALFORMED = ["", "evil.example@localhost", "localhost/evil", "localhost?x", "localhost#x", "localhost:99999",
             "localhost:x", "[::1", "::1", "localhost:", "[]"]  # fmt: skip
NAMES = own_names("0.0.0.0", "Lab.Example.org", ["*.example.net", " lab "], shared=False)


def answers(hosts: list[str], kind: str = "http", path: str = "/", shared: bool = False, at: str = "10.0.0.5") -> Any:
    """What the gate answers: a status with headers, ``close`` for a websocket, or ``passed`` with the app's headers."""
    sent: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 299, "headers": [(b"x-frame-options", b"ALLOWALL")]})
        else:
            sent.append({"type": "passed"})

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    headers = [(b"host", host.encode("latin-1")) for host in hosts]
    scope = {"type": kind, "path": path, "headers": headers, "server": (at, 8501), "method": "GET"}
    asyncio.run(Gate(app, NAMES, shared, "the policy")(scope, receive, send))
    first = sent[0]
    if first["type"] != "http.response.start":
        return first["type"]
    return first["status"], {key.decode(): value.decode() for key, value in first["headers"]}


@pytest.mark.parametrize("host", OURS)
def test_it_answers_to_its_own_names(host: str) -> None:
    assert answers([host])[0] == 299 and answers([host], "websocket") == "passed"


@pytest.mark.parametrize("host", FOREIGN)
def test_a_name_of_another_site_is_refused(host: str) -> None:
    assert answers([host])[0] == 403 and answers([host], "websocket") == "websocket.close"
    assert answers([host], shared=True)[0] == 403


@pytest.mark.parametrize("host", MALFORMED)
def test_a_malformed_host_is_refused(host: str) -> None:
    assert host_name(host) is None
    assert answers([host])[0] == 400 and answers([host], "websocket") == "websocket.close"


def test_two_hosts_or_none_are_refused() -> None:
    assert answers([])[0] == answers(["localhost", "evil.example"])[0] == answers(["localhost"] * 2)[0] == 400


def test_a_shared_server_answers_to_the_address_at_which_it_is_reached_and_to_the_machines_name(monkeypatch) -> None:
    assert answers(["10.0.0.5:8501"], shared=True)[0] == 299 and answers(["10.0.0.5:8501"])[0] == 403
    assert answers(["10.0.0.6:8501"], shared=True)[0] == 403
    assert answers(["10.0.0.5"], shared=True, at="::ffff:10.0.0.5")[0] == 299
    monkeypatch.setattr("socket.gethostname", lambda: "Desk")
    assert {"desk", "desk.local"} <= own_names(None, None, [], shared=True)
    assert own_names("", "localhost", [], shared=False) == own_names("::", None, [], shared=False)
    assert "10.1.2.3" in own_names("10.1.2.3", None, [], shared=False)
    assert "*" in own_names(None, None, ["*"], shared=False)


@pytest.mark.parametrize("path", ["/_stcore/metrics", "/lab/_stcore/metrics", "/_stcore//metrics", "/_stcore/metrics/"])
def test_counts_of_sessions_and_caches_are_nobodys(path: str) -> None:
    assert answers(["localhost"], path=path)[0] == 404


def test_every_answer_carries_the_headers_the_apps_and_the_gates_own() -> None:
    for status, headers in (answers(["localhost"]), answers(["evil.example"]), answers([""])):
        assert status and headers["content-security-policy"] == "the policy"
        assert {name: headers[name.lower()] for name in HEADERS} == HEADERS


def test_the_policy_lets_the_documents_own_scripts_run_and_nothing_from_elsewhere() -> None:
    document = page_document()
    policy = dict(part.split(" ", 1) for part in policy_for(document).split("; "))
    scripts = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    assert len(scripts) >= 2
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy["script-src"]
    assert not re.search(r"https?:|wss?:|\*", " ".join(policy.values()))
    assert "unsafe-inline" not in policy["script-src"] and policy["frame-ancestors"] == "'self'"


def open_sockets(addresses: list[str], shared: bool = True) -> list[str]:
    """What becomes of websockets from these addresses that all stay open, in order."""
    found: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        found.append("passed")
        await asyncio.sleep(0.05)

    async def send(message: Any) -> None:
        found.append(message["type"])

    async def visits() -> None:
        gate = Gate(app, NAMES, shared, "the policy")

        async def visit(address: str) -> None:
            scope = {"type": "websocket", "path": "/", "headers": [(b"host", b"localhost")], "client": (address, 9)}
            await gate(scope, None, send)  # type: ignore[arg-type]

        await asyncio.gather(*(visit(address) for address in addresses))
        await visit(addresses[0])  # all others have gone
        assert not gate._sockets

    asyncio.run(visits())
    return found


def test_websockets_of_one_address_are_limited_until_some_close(monkeypatch) -> None:
    monkeypatch.setattr("scripts.gate.SOCKETS_OF_ADDRESS", 2)
    refused = "websocket.close"
    assert open_sockets(["10.0.0.1"] * 3 + ["10.0.0.2"]) == ["passed", "passed", refused, "passed", "passed"]
    assert open_sockets(["127.0.0.1"] * 4) == open_sockets(["10.0.0.1"] * 4, shared=False) == ["passed"] * 5


@pytest.mark.parametrize(
    ("given", "taken"),
    [("", ""), (" 127.0.0.1 , 10.0.0.0/8,", "127.0.0.1,10.0.0.0/8"), ("::1", "::1"), ("fd00::/8", "fd00::/8")],
)
def test_trusted_proxies_are_addresses_and_networks(given: str, taken: str) -> None:
    assert trusted_proxies(given) == taken


@pytest.mark.parametrize("given", ["*", "proxy.example.org", "10.0.0.1/8", "10.0.0", "127.0.0.1;10.0.0.1"])
def test_what_is_no_proxy_is_refused(given: str) -> None:
    with pytest.raises(InputError, match="DECONDITIONING_TRUSTED_PROXIES names"):
        trusted_proxies(given)
