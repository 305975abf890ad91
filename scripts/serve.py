"""Start the app: ``python -m scripts.serve [streamlit options]``.

The same as ``streamlit run app.py``, except for what concerns a page's own address and who may look:

- The folder ``pages/`` is not taken for Streamlit's old style of several pages. Otherwise the first visitor of a fresh
  server who opens a page's own address is told that it does not exist, because Streamlit learns of ``st.navigation``
  only when ``/`` has run once.
- The document at a page's address says where the server is. Otherwise Streamlit's frontend first looks for it below
  that address, and every browser console begins with two errors 404.
- Uploads go to the disk instead of the server's memory (``scripts.uploads``).
- It answers only to names that are its own, and tells browsers what its pages may load (``scripts.gate``).
- The document keeps one entry of the browser's history for each visit of a page (`pages/kit/address_bar.js`), so that
  Back finds the settings that a page had when it was left.
- It listens on this machine alone. With ``DECONDITIONING_SHARED=true`` it listens on every interface, and each browser
  gets a secret in a cookie, which tells whose runs and uploads are whose.
"""

import logging
import os
import secrets
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import BaseRoute, Route

from deconditioning.errors import InputError
from deconditioning.threads import set_threads
from pages.kit import streamlit_private as private
from pages.kit.pages import PAGES, SNAPSHOT
from pages.kit.streamlit_parts import missing
from pages.kit.visitor import COOKIE, is_shared
from scripts.drags import Drags
from scripts.gate import Gate, own_names, policy_for, trusted_proxies
from scripts.housekeeping import hold_little, keep_house
from scripts.unknown_page import UnknownPage
from scripts.uploads import Uploads

if TYPE_CHECKING:
    from streamlit.runtime import Runtime

APP = Path(__file__).resolve().parents[1] / "app.py"
_ADDRESS_BAR = (APP.parent / "pages" / "kit" / "address_bar.js").read_text(encoding="utf-8")
#: Streamlit's frontend reads this name; "./" is the folder of the page's address, also behind a proxy's prefix.
_SERVER = 'window.__streamlit = { BACKEND_BASE_URL: new URL("./", location.href).href };'
WHERE = f"<script>{_SERVER}\n{_ADDRESS_BAR}</script>"
logger = logging.getLogger("streamlit.deconditioning")
#: Seconds that the server has, after a signal to end, to close what it has open.
_END_S = 6.0
_YEAR_S = 365 * 24 * 3600


def main() -> None:
    """Run Streamlit's own command line on this app; one core is left to the browser, which waits for it."""
    set_threads(spare=1)
    hold_little()
    take_trusted_proxies()
    os.environ.setdefault("STREAMLIT_SERVER_ADDRESS", "0.0.0.0" if is_shared() else "127.0.0.1")
    if lost := missing():
        raise InputError("\n".join([*lost, "Install the Streamlit that requirements.txt names."]))
    private.ignore_pages_folder()
    private.keep_ends_of_fragments()
    private.leave_pages_for_good()
    private.look_up_single_values()
    private.put_in_front(_own_routes, lambda: [gate()])
    private.change_signal_handling(_end_in_time)
    sys.argv = ["streamlit", "run", str(APP), *sys.argv[1:]]
    private.run_command_line()


def _own_routes(runtime: "Runtime") -> list[BaseRoute]:
    """Documents of the pages, and where uploads go; with them begins what the server does by itself."""
    _tell_who_may_come()
    keep_house(runtime)
    return [Uploads(runtime).route(), Drags(runtime).route(), *page_routes()]


def take_trusted_proxies() -> None:
    """Let uvicorn believe the named proxies, where it by itself believes every process of this machine."""
    os.environ["FORWARDED_ALLOW_IPS"] = trusted_proxies(os.environ.get("DECONDITIONING_TRUSTED_PROXIES", ""))


def _end_in_time(set_up: Callable[[Any], None]) -> Callable[[Any], None]:
    """Streamlit's set-up of signals, after which the server also ends while threads of it go on computing.

    Its own end waits for every thread. The processes of the run engine end with this one, and a run that it had under
    way counts as interrupted from the next look on.
    """

    def set_up_with_limit(server: Any) -> None:
        set_up(server)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, limited(signal.getsignal(number)))

    def limited(stop: Any) -> Callable[[int, Any], None]:
        def handle(number: int, frame: Any) -> None:
            threading.Thread(target=leave, args=(_END_S,), name="end-in-time", daemon=True).start()
            stop(number, frame)

        return handle

    def leave(after: float) -> None:
        time.sleep(after)
        os._exit(0)

    return set_up_with_limit


def gate() -> Middleware:
    """The gate for this server's names; Streamlit's own check of names, of the websocket alone, is left to it."""
    addresses = private.option("server.address"), private.option("browser.serverAddress")
    names = own_names(*addresses, private.option("server.allowedHosts"), is_shared())
    private.set_option("server.allowedHosts", [])
    return Middleware(Gate, names=names, shared=is_shared(), policy=policy_for(page_document()))


def page_document() -> str:
    """Streamlit's document, with where the server is."""
    return private.document().replace("<head>", f"<head>{WHERE}", 1)


def _tell_who_may_come() -> None:
    """Warn when others reach a server that takes everybody for its one user."""
    address = private.option("server.address")
    if not is_shared() and address not in ("localhost", "127.0.0.1", "::1"):
        logger.warning(
            "The app listens on %s, and anybody who can reach it can see and delete all runs and uploads: use `make "
            "serve`, or set DECONDITIONING_SHARED=true.",
            address or "every interface",
        )


def page_routes() -> list[BaseRoute]:
    """One for every page: Streamlit's own document, in it where the server is, and with it a visitor's cookie; last,
    one for addresses that are no page's."""
    document = page_document()
    base = private.option("server.baseUrlPath").strip("/")
    folder = f"/{base}/" if base else "/"

    def answer(request: Request) -> HTMLResponse:
        response = HTMLResponse(document, headers={"Cache-Control": "no-cache"})
        if is_shared() and COOKIE not in request.cookies:
            response.headers["Cache-Control"] = "no-store"
            encrypted = "https" in (request.url.scheme, request.headers.get("x-forwarded-proto"))
            response.set_cookie(
                COOKIE, secrets.token_hex(32), _YEAR_S, path=folder, secure=encrypted, httponly=True, samesite="lax"
            )
        return response

    paths = ("", *(page.url_path for page in (*PAGES[1:], SNAPSHOT)))
    return [*(Route(folder + path, answer) for path in paths), UnknownPage(folder)]


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(str(error))
