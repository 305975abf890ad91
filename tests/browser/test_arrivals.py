"""Twenty visitors arrive at once: all are served, and nobody's arrival makes the server look through its modules."""

import asyncio
import tomllib
from itertools import cycle, islice
from pathlib import Path

from pages.kit.pages import PAGES
from tests.browser.serving import ROOT, running_app
from tests.browser.telling import MAGIC, WATCHES
from tests.visitor import Visitor, visit

TELLING = "tests.browser.telling"
#: The front page is at the root of the address.
PATHS = ["", *(page.url_path for page in PAGES[1:])]


async def arrive(url: str, path: str) -> tuple[list[str], list[str]]:
    """What a new visitor of a page sees on top, and what went wrong before that."""
    async with Visitor(url, path) as visitor:
        await visitor.until(lambda: visitor.headings or visitor.troubles)
        return visitor.headings, visitor.troubles


async def arrivals(url: str, count: int) -> list[tuple[list[str], list[str]]]:
    """Visitors that come at the same moment, page after page."""
    return await asyncio.gather(*(arrive(url, path) for path in islice(cycle(PATHS), count)))


def test_twenty_at_once_reach_their_pages_and_no_file_is_watched(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with running_app(tmp_path / "runs", log, (TELLING,)) as url:
        found = visit(arrivals(url, 20))
    titles = ["Deconditioning Lab", *(page.title for page in PAGES[1:])]
    assert [headings[:1] for headings, _ in found] == [[title] for title in islice(cycle(titles), 20)]
    assert [troubles for _, troubles in found if troubles] == []
    said = log.read_text()
    assert WATCHES not in said and MAGIC not in said and "Traceback" not in said, said


def test_a_server_that_watches_files_and_adds_magic_is_found_out(tmp_path: Path) -> None:
    log, otherwise = tmp_path / "log.txt", ("--server.fileWatcherType=auto", "--runner.magicEnabled=true")
    with running_app(tmp_path / "runs", log, (TELLING, *otherwise)) as url:
        visit(arrivals(url, 1))
    assert WATCHES in log.read_text() and MAGIC in log.read_text()


def test_the_shipped_configuration_says_so() -> None:
    shipped = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert shipped["server"]["fileWatcherType"] == "none" and shipped["runner"]["magicEnabled"] is False
