"""What stands at an address that is no page's: one sentence and links to the pages, in place of Streamlit's popup."""

from html import escape
from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route

from pages.kit.pages import PAGES

#: First parts of addresses that are Streamlit's own, whoever asks for them.
_STREAMLITS = ("_stcore", "static", "media", "component", "app", "vendor", "healthz", "script-health-check")
_STYLE = """:root { color-scheme: light dark; --ink: #1c2b33; --ground: #fff; --link: #00605c; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf0; --ground: #10191e; --link: #6fd0c5; } }
body { margin: 0; background: var(--ground); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 40rem; margin: 15vh auto 0; padding: 0 1.25rem; }
a { color: var(--link); } h1 { font-size: 1.6rem; } ul { columns: 2; padding-left: 1.2rem; }"""


class UnknownPage(Route):
    """Answers a browser that asks for a document at an address that nothing else serves; put it behind all pages."""

    def __init__(self, folder: str) -> None:
        super().__init__(f"{folder}{{name:path}}", self._answer, methods=["GET"])
        self._folder = folder

    def matches(self, scope: Any) -> tuple[Match, Any]:
        """Everything that is no file, none of Streamlit's own addresses, and asked for as a document."""
        match, child = super().matches(scope)
        if match == Match.NONE:
            return match, child
        name = child["path_params"]["name"]
        accepted = Request(scope).headers.get("accept", "")
        own = name.partition("/")[0] in _STREAMLITS or "." in name.rpartition("/")[2]
        return (Match.NONE, {}) if own or "text/html" not in accepted else (match, child)

    def _answer(self, request: Request) -> Response:
        name, start = request.path_params["name"], escape(self._folder)
        if name == PAGES[0].url_path:  # the front page is at the folder itself
            return RedirectResponse(self._folder)
        links = "".join(f'<li><a href="{start}{page.url_path}">{escape(page.title)}</a></li>' for page in PAGES[1:])
        sentence = f"There is no page “{escape(name[:80])}” in Deconditioning Lab."
        return HTMLResponse(
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>No such page</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{_STYLE}</style></head>'
            f'<body><main><h1>No such page</h1><p>{sentence} <a href="{start}">Go to Start</a>, or to one of '
            f"these:</p><ul>{links}</ul></main></body></html>",
            status_code=404,
            headers={"Cache-Control": "no-store"},
        )
