"""Five people use the app for ten minutes, none uploads: what its processes hold once they have left, against before.

"Before" is after the same people have seen every page once and learned once, and have left: caches that are bounded
and libraries that are loaded are in both numbers. Each time the app gets the minutes in which it drops sessions that
are over and hands memory back.
"""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle
from pathlib import Path
from urllib.parse import urlencode

import psutil

from deconditioning.teaching.tasks import EXERCISES
from pages.kit.pages import PAGES
from pages.story.stories import FIRST, STORIES
from scripts.housekeeping import EVERY_S
from tests.benchmarks.bench_load import LEARN, PAGE, PICTURE, QUERY, SLIDER, SMALL
from tests.benchmarks.memory import shares
from tests.benchmarks.table import Row, keep
from tests.browser.serving import running_app
from tests.browser.test_arrivals import PATHS
from tests.visitor import Visitor, visit

PEOPLE, SECONDS, PAGES_BETWEEN, MOVES, THINK_S = 5, 600.0, 8, 10, 0.5
#: Stops of the slider that is moved.
STOPS = [at / 20 for at in range(-80, 81)]
#: Streamlit lets a session come back for two minutes; then two rounds of housekeeping.
LEFT_S = 120 + 2 * EVERY_S + 10
#: A fit of some seconds.
LEARNER = ("line", "o-n=60&o-m=60&o-starts=1&o-steps=20")
#: What there is to see: (page, query). A smoke run sees a few.
LESSON = [("story", f"step={at}") for at in range(1, len(STORIES[FIRST]) + 1)]
TASKS = [
    (page.url_path, urlencode(dict(settings)))
    for exercise in EXERCISES
    for page in PAGES
    if page.folder == exercise.page
    for settings in (exercise.opening, exercise.solution)
]
PLACES = [*((path, "") for path in PATHS), *LESSON, *TASKS]
SMOKE = {
    "PEOPLE": 2, "SECONDS": 0.0, "PAGES_BETWEEN": 2, "MOVES": 1, "THINK_S": 0.0, "LEFT_S": 0.2,
    "QUERY": SMALL, "PLACES": [(PAGE, SMALL), ("exercises", "")],
}  # fmt: skip


def bench_soak(tmp_path: Path) -> None:
    """Memory before, at the end and after, by process; kept as it comes, and what had grown by more than 5 %."""
    with running_app(tmp_path / "runs", tmp_path / "log.txt") as url:
        app = _app(url)
        visit(_everybody(url, [PLACES[at::PEOPLE] for at in range(PEOPLE)], until=0.0))
        before = _settled(app)
        begun = time.monotonic()
        most, seen = visit(_soaked(url, app, begun + SECONDS))
        minutes, after = (time.monotonic() - begun) / 60, _settled(app)
    size = f"{PEOPLE} people, {minutes:.0f} min, {seen} pages opened"
    keep("soak", _rows(before, most, after, size))
    assert "Traceback" not in (tmp_path / "log.txt").read_text()


def _app(url: str) -> int:
    """Process id of the app that this process began at the address."""
    port = f"--server.port={url.rsplit(':', 1)[1]}"
    return next(child.pid for child in psutil.Process().children() if port in child.cmdline())


def _settled(app: int) -> dict[str, float]:
    """Megabytes by role once everybody has left and the app has tidied up."""
    time.sleep(LEFT_S)
    return shares(app)


def _rows(before: dict[str, float], most: dict[str, float], after: dict[str, float], size: str) -> list[Row]:
    """The whole app first, then each role: megabytes afterwards beside those before."""
    every = {"all processes": tuple(sum(each.values()) for each in (before, most, after))}
    every |= {role: (before.get(role, 0.0), most.get(role, 0.0), held) for role, held in after.items()}
    return [
        Row(
            f"Memory when all have left, {role}", size, held, "MB", yardstick=start, against="before they came",
            note=f"most meanwhile {top:.0f} MB; proportional shares",
            accuracy="asked for: within 5 %" if role == "all processes" else "",
        )
        for role, (start, top, held) in every.items()
    ]  # fmt: skip


async def _soaked(url: str, app: int, until: float) -> tuple[dict[str, float], int]:
    """Most megabytes by role while people are there, and how many pages they opened."""
    most: dict[str, float] = {}

    async def watch() -> None:
        while True:
            for role, held in shares(app).items():
                most[role] = max(held, most.get(role, 0.0))
            await asyncio.sleep(5)

    watching = asyncio.create_task(watch())
    seen = await _everybody(url, [PLACES[at:] + PLACES[:at] for at in _spread()], until)
    watching.cancel()
    with suppress(asyncio.CancelledError):
        await watching
    return most, seen


def _spread() -> list[int]:
    """Where each person begins, so that no two are on the same page."""
    return [at * len(PLACES) // PEOPLE for at in range(PEOPLE)]


async def _everybody(url: str, ways: Sequence[Sequence[tuple[str, str]]], until: float) -> int:
    """All at the same time, each by their own way, again and again until the time is over; how many pages they saw."""
    return sum(await asyncio.gather(*(_person(url, way, at, until) for at, way in enumerate(ways))))


async def _person(url: str, way: Sequence[tuple[str, str]], at: int, until: float) -> int:
    """One person goes from page to page, once at least; between them they move a slider, and the first one learns."""
    rng = random.Random(at)
    for seen, (page, query) in enumerate(cycle(way)):
        if seen >= len(way) and time.monotonic() > until:
            break
        await _look(url, page, query)
        if seen % PAGES_BETWEEN == 0:
            await _move(url, rng)
            if at == 0:
                await _learn(url)
    return seen


async def _look(url: str, page: str, query: str) -> None:
    """Open a page in a session of its own, wait for all of it, and look at it."""
    async with Visitor(url, page, query) as visitor:
        await visitor.until(lambda: visitor.page_runs or visitor.troubles)
        assert not visitor.troubles, visitor.troubles
        await asyncio.sleep(THINK_S)


async def _move(url: str, rng: random.Random) -> None:
    """Move a slider to values that few caches know."""
    async with Visitor(url, PAGE, QUERY) as visitor:
        await visitor.until(lambda: visitor.page_runs and PICTURE in visitor.pictures)
        for value in rng.sample(STOPS, MOVES):
            await visitor.move(SLIDER, value)
            await asyncio.sleep(THINK_S)
            await visitor.rerun()


async def _learn(url: str) -> None:
    """A small fit, to its end."""
    async with Visitor(url, *LEARNER) as visitor:
        await visitor.until(lambda: LEARN in visitor.buttons and visitor.page_runs)
        await visitor.press(LEARN)
        await visitor.until(lambda: any(text.startswith(("Learned in", "Cancelled")) for text in visitor.texts))
