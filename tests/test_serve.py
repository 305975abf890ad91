"""Documents at the pages' own addresses, and how a server that is asked to end does so."""

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
import uvicorn
from starlette.requests import Request
from starlette.routing import Match
from streamlit import config

from pages.kit import streamlit_private as private
from pages.kit.pages import PAGES, SNAPSHOT
from pages.kit.visitor import COOKIE
from scripts import serve
from scripts.serve import WHERE, page_routes, take_trusted_proxies
from tests.browser.serving import ROOT, free_port, wait_until_healthy
from tests.visitor import Visitor, visit
from tests.waiting import wait_for


@pytest.mark.parametrize(("base", "before"), [("", ""), ("lab", "/lab"), ("/a/b/", "/a/b")])
def test_every_page_has_a_document(monkeypatch: pytest.MonkeyPatch, base: str, before: str) -> None:
    monkeypatch.setattr(config, "get_option", {"server.baseUrlPath": base}.__getitem__)
    paths = ["", *(page.url_path for page in (*PAGES[1:], SNAPSHOT))]
    assert [route.path for route in page_routes()] == [f"{before}/{path}" for path in (*paths, "{name:path}")]


def answer(*, https: bool = False, cookie: str = "") -> tuple[int, dict[str, str], str]:
    """Status, headers and text of a page's document."""
    sent: list[Any] = []
    headers = [(b"cookie", cookie.encode())] if cookie else []
    scope = {"type": "http", "method": "GET", "path": "/line", "headers": headers, "query_string": b""}
    scope |= {"scheme": "https" if https else "http", "server": ("127.0.0.1", 8501)}

    async def send(message) -> None:
        sent.append(message)

    asyncio.run(page_routes()[1].handle(scope, Request(scope).receive, send))
    return sent[0]["status"], {k.decode(): v.decode() for k, v in sent[0]["headers"]}, sent[1]["body"].decode()


def test_the_document_is_streamlits_with_the_place_of_the_server_before_any_script() -> None:
    status, headers, document = answer()
    assert status == 200 and headers["cache-control"] == "no-cache" and "set-cookie" not in headers
    assert document.count("<script") > document.count(WHERE) == 1
    assert document.index("<script") == document.index(WHERE)


@pytest.mark.parametrize(
    ("path", "accept", "matches"),
    [
        ("/nonsense", "text/html,*/*", True), ("/line/more", "text/html", True), ("/nonsense", "*/*", False),
        ("/_stcore/health", "text/html", False), ("/static/js/index.js", "text/html", False),
        ("/favicon.png", "text/html", False), ("/media/ab12", "text/html", False),
    ],
)  # fmt: skip
def test_an_address_that_is_no_page_has_a_sentence_and_a_way_back(path: str, accept: str, matches: bool) -> None:
    route = page_routes()[-1]
    scope = {"type": "http", "method": "GET", "path": path, "headers": [(b"accept", accept.encode())]}
    match, _ = route.matches(scope)
    assert (match == Match.FULL) is matches


def test_what_an_unknown_address_shows_is_plain_text_with_links() -> None:
    route = page_routes()[-1]
    scope = {"type": "http", "method": "GET", "path": "/<b>x</b>", "headers": [(b"accept", b"text/html")]}
    text = route.endpoint(Request(scope | route.matches(scope)[1])).body.decode()
    assert "&lt;b&gt;x&lt;/b&gt;" in text and "<b>" not in text
    assert '<a href="/">Go to Start</a>' in text and text.count("<li>") == len(PAGES) - 1


def test_where_the_server_is_shared_each_browser_gets_a_secret_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DECONDITIONING_SHARED", "true")
    (_, first, _), (_, second, _) = answer(), answer(https=True)
    secrets = [headers["set-cookie"].partition(";")[0].removeprefix(f"{COOKIE}=") for headers in (first, second)]
    assert all(len(secret) == 64 for secret in secrets) and secrets[0] != secrets[1]
    assert first["cache-control"] == "no-store"  # no proxy gives it to somebody else
    for words in ("HttpOnly", "SameSite=lax", "Path=/"):
        assert words in first["set-cookie"]
    assert "Secure" in second["set-cookie"] and "Secure" not in first["set-cookie"]
    assert "set-cookie" not in answer(cookie=f"{COOKIE}={secrets[0]}")[1]


@pytest.mark.parametrize(
    ("given", "shared", "address", "warned"),
    [("", "", "127.0.0.1", False), ("", "true", "0.0.0.0", False), ("0.0.0.0", "", "0.0.0.0", True),
     ("192.0.2.7", "true", "192.0.2.7", False)],
)  # fmt: skip
def test_a_server_listens_on_this_machine_alone_until_it_is_shared(
    monkeypatch: pytest.MonkeyPatch, given: str, shared: str, address: str, warned: bool
) -> None:
    told: list[str] = []
    for name, value in {"STREAMLIT_SERVER_ADDRESS": given, "DECONDITIONING_SHARED": shared}.items():
        monkeypatch.setenv(name, value)
        if not value:
            monkeypatch.delenv(name)
    for holder, names in {
        private: ("run_command_line", "put_in_front", "ignore_pages_folder", "change_signal_handling"),
        serve: ("hold_little", "take_trusted_proxies", "set_threads"),
    }.items():
        for name in names:
            monkeypatch.setattr(holder, name, lambda *given, **named: None)
    monkeypatch.setattr(sys, "argv", ["serve"])
    serve.main()
    assert os.environ["STREAMLIT_SERVER_ADDRESS"] == address
    monkeypatch.setattr(config, "get_option", {"server.address": address}.__getitem__)
    monkeypatch.setattr(serve.logger, "warning", lambda words, *more: told.append(words))
    serve._tell_who_may_come()
    assert ["anybody who can reach it can see and delete all runs" in words for words in told] == [True] * warned


#: A server whose script computes in a thread for longer than anybody waits, without ever looking up.
BUSY = """
import sys
from pathlib import Path
from scripts import serve
Path(sys.argv[1]).write_text(
    "import pathlib\\nfrom concurrent.futures import ThreadPoolExecutor\\n"
    "def endless():\\n    while True: sum(range(10**6))\\n"
    "pool = ThreadPoolExecutor(1)\\npool.submit(endless)\\n"
    "pathlib.Path(" + repr(sys.argv[2]) + ").touch()\\n"
)
serve.APP, serve._END_S = Path(sys.argv[1]), 1
sys.argv[1:] = sys.argv[3:]
serve.main()
"""


def test_a_server_ends_while_a_thread_of_it_computes(tmp_path: Path) -> None:
    """After one second here."""
    url = f"http://127.0.0.1:{(port := free_port())}"
    script, begun, log = tmp_path / "busy.py", tmp_path / "begun", tmp_path / "log.txt"
    words = [str(script), str(begun), f"--server.port={port}", "--server.headless=true"]
    with log.open("w") as output:
        server = subprocess.Popen([sys.executable, "-c", BUSY, *words], cwd=ROOT, stdout=output, stderr=output)
    try:
        wait_until_healthy(url, server, log)
        visit(opened_until(url, begun))
        server.send_signal(signal.SIGTERM)
        server.wait(60)
        assert server.returncode == 0
    finally:
        server.kill()
        server.wait()


def test_both_signals_stop_the_server_and_end_it_in_less_than_ten_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    handlers: dict[int, Any] = {}
    ends: list[Any] = []
    stopped: list[int] = []
    monkeypatch.setattr(serve.signal, "signal", handlers.__setitem__)
    monkeypatch.setattr(serve.signal, "getsignal", lambda number: lambda number, frame: stopped.append(number))
    monkeypatch.setattr(serve.threading, "Thread", lambda **thread: ends.append(thread) or MagicMock())
    serve._end_in_time(lambda server: None)(None)
    for number in (signal.SIGTERM, signal.SIGINT):
        handlers[number](number, None)
    assert stopped == [signal.SIGTERM, signal.SIGINT]
    assert [end["args"] for end in ends] == 2 * [(serve._END_S,)] and 0 < serve._END_S < 10


async def opened_until(url: str, begun: Path) -> None:
    """A visit that is over once the page's script has begun."""
    async with Visitor(url):
        await asyncio.to_thread(wait_for, begun.exists)


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "seen"),
    [
        (None, "127.0.0.1", "203.0.113.7", "127.0.0.1"),
        ("127.0.0.1", "127.0.0.1", "203.0.113.7", "203.0.113.7"),
        ("127.0.0.1", "10.0.0.9", "203.0.113.7", "10.0.0.9"),
        ("10.0.0.0/8", "10.0.0.9", "198.51.100.1, 203.0.113.7, 10.0.0.3", "203.0.113.7"),
    ],
    ids=["none trusted", "trusted", "not that one", "forged in front, two proxies"],
)
def test_only_trusted_proxies_tell_where_a_visitor_is(trusted, peer, forwarded, seen, monkeypatch) -> None:
    monkeypatch.delenv("FORWARDED_ALLOW_IPS", raising=False)
    monkeypatch.delenv("DECONDITIONING_TRUSTED_PROXIES", raising=False)
    if trusted:
        monkeypatch.setenv("DECONDITIONING_TRUSTED_PROXIES", trusted)
    found: list[str] = []

    async def app(scope, receive, send) -> None:
        found.append(scope["client"][0])

    take_trusted_proxies()
    config = uvicorn.Config(app, lifespan="off", ws="none")
    config.load()
    scope = {"type": "http", "headers": [(b"x-forwarded-for", forwarded.encode())], "client": (peer, 9)}
    asyncio.run(config.loaded_app(scope, None, None))
    assert found == [seen]
