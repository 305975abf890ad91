"""Twenty people at once: they arrive together, then move a slider together, without and with a fit going on.

Visitors are websockets that speak Streamlit's messages; what a browser draws is not in these times, what it asks for
is. Wall time on the machine that serves, so best on a quiet one. While all this goes on another thread asks for the
server's health ten times a second: a server that is busy with one person answers nobody.
"""

import asyncio
import os
import statistics
import threading
import time
import urllib.request
from collections.abc import Sequence
from contextlib import AsyncExitStack, suppress
from itertools import cycle, islice
from pathlib import Path

from tests.benchmarks.table import Row, keep
from tests.browser.serving import running_app
from tests.browser.test_arrivals import PATHS
from tests.visitor import Visitor

PEOPLE, ROUNDS, CANCELS = 20, 6, 3
#: The page they work on: its slider, between these values, moves this picture.
PAGE, QUERY, SLIDER, VALUES, PICTURE = "line", "o-view=Bayes%27+rule", "b-x", (-2.0, 2.0), "b-posterior"
#: A fit that goes on for as long as it is looked at.
LEARNER = ("line", "o-n=400&o-m=400&o-starts=10&o-steps=300")
LEARN, CANCEL = "Learn hyperparameters", "Cancel"
EVERY_S = 0.1


class Health(threading.Thread):
    """Asks the server whether it is well, again and again; seconds that each answer took."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._address, self._over = f"{url}/_stcore/health", threading.Event()
        self._taken: list[float] = []
        self.start()

    def run(self) -> None:
        while not self._over.wait(EVERY_S):
            begun = time.perf_counter()
            with suppress(OSError):  # then it took as long as was waited
                urllib.request.urlopen(self._address, timeout=60).read()
            self._taken.append(time.perf_counter() - begun)

    def begin(self) -> None:
        """A phase begins."""
        self._taken = []

    def end(self, phase: str) -> Row:
        """The longest answer of the phase, with the 95 % quantile."""
        taken, self._taken = self._taken, []
        return row("Health endpoint, longest answer", phase, max(taken), taken, "2 s")

    def stop(self) -> None:
        """No more questions."""
        self._over.set()
        self.join()


def row(what: str, size: str, value: float, times: Sequence[float], limit: str = "") -> Row:
    """A value in seconds with the 95 % quantile (nearest rank) of all times and the machine's load."""
    p95 = sorted(times)[round(0.95 * (len(times) - 1))]
    told = f"p95 {1000 * p95:,.0f} ms of {len(times)}" + (f"; asked for: {limit}" if limit else "")
    return Row(what, size, value, "s", accuracy=told, note=f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def bench_load(tmp_path: Path) -> None:
    """Arrivals, moved sliders, and both again beside a fit; then how soon a fit is cancelled."""
    with running_app(tmp_path / "runs", tmp_path / "log.txt") as url:
        health = Health(url)
        try:
            rows = asyncio.run(visits(url, health))
        finally:
            health.stop()
    keep("load", rows)


async def visits(url: str, health: Health) -> list[Row]:
    """Everything that happens, in order."""
    rows = await arrivals(url, health)
    async with AsyncExitStack() as stack:
        people = [await stack.enter_async_context(Visitor(url, PAGE, QUERY)) for _ in range(PEOPLE)]
        for person in people:
            await person.until(lambda person=person: person.page_runs and PICTURE in person.pictures)
        rows += await moves(people, health, "no fit")
        learner = await stack.enter_async_context(Visitor(url, *LEARNER))
        await learning(learner)
        rows += await moves(people, health, "a fit going on")
        await ended(learner)
        cancelled = []
        for _ in range(CANCELS):
            await learning(learner)
            cancelled.append(await ended(learner))
        assert not any(person.troubles for person in [*people, learner])
    size = "one fit, 20 sessions open"
    return [*rows, row("Cancel, until the page says so", size, statistics.median(cancelled), cancelled)]


async def arrivals(url: str, health: Health) -> list[Row]:
    """Twenty at the same moment, page after page."""
    health.begin()
    seen = await asyncio.gather(*(arrive(url, path) for path in islice(cycle(PATHS), PEOPLE)))
    size = f"{PEOPLE} sessions on {len(PATHS)} pages at once, fresh server"
    headings, whole = zip(*seen, strict=True)
    return [
        row("Arrival, until the heading", size, statistics.median(headings), headings),
        row("Arrival, until the whole page", size, statistics.median(whole), whole),
        health.end(size),
    ]


async def arrive(url: str, path: str) -> tuple[float, float]:
    """Seconds until the heading, and until the page has run to its end."""
    begun = time.perf_counter()
    async with Visitor(url, path) as visitor:
        await visitor.until(lambda: visitor.headings or visitor.troubles)
        heading = time.perf_counter() - begun
        await visitor.until(lambda: visitor.page_runs)
        assert not visitor.troubles, visitor.troubles
        return heading, time.perf_counter() - begun


async def moves(people: Sequence[Visitor], health: Health, fit: str) -> list[Row]:
    """A slider moved by one person after the other, then by all at once; the page follows each time."""
    health.begin()
    one = [await move(person, turn) for turn in range(ROUNDS // 3) for person in people]
    size = f"one of {PEOPLE} sessions moves, {fit}"
    rows = [row("Moved slider, until the picture", size, statistics.median(one), one), health.end(size)]
    every: list[float] = []
    for turn in range(ROUNDS // 3, ROUNDS):
        every += await asyncio.gather(*(move(person, turn) for person in people))
    size = f"all {PEOPLE} sessions move at once, {fit}"
    return [*rows, row("Moved slider, until the picture", size, statistics.median(every), every), health.end(size)]


async def move(person: Visitor, turn: int) -> float:
    """Seconds until the new picture has come; then the page runs, as the chart asks for."""
    before, begun = person.pictures[PICTURE], time.perf_counter()
    await person.move(SLIDER, VALUES[turn % 2])
    await person.until(lambda: person.pictures[PICTURE] != before)
    took = time.perf_counter() - begun
    await person.rerun()
    return took


async def learning(learner: Visitor) -> None:
    """Press Learn and wait until the fit has told something."""
    await learner.until(lambda: LEARN in learner.buttons and learner.page_runs)
    await learner.press(LEARN)
    learner.texts.clear()
    learner.pictures.clear()
    learner.buttons.pop(CANCEL, None)
    await learner.until(lambda: CANCEL in learner.buttons and "run-hyperparameters" in learner.pictures)


async def ended(learner: Visitor) -> float:
    """Cancel the fit, which may have ended by itself; seconds until the page says how it ended."""
    begun = time.perf_counter()
    await learner.press(CANCEL)
    await learner.until(lambda: any(text.startswith(("Cancelled", "Learned in")) for text in learner.texts))
    return time.perf_counter() - begun
