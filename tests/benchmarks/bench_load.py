"""Thirty people at once: they arrive together, then move a slider together, without and with a fit going on; as a
class they open the steps of the story and reveal them, then the exercises, as asked and as solved.

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
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from deconditioning.teaching.exercises import Exercise, in_address
from deconditioning.teaching.tasks import EXERCISES
from pages.kit.pages import PAGES
from pages.story.step import Step
from pages.story.stories import FIRST, STORIES
from tests.benchmarks.table import Row, keep
from tests.browser.serving import running_app
from tests.browser.test_arrivals import PATHS
from tests.visitor import Visitor, visit

#: Rounds in which one person after the other moves, then all at once; together even: each move changes the value.
PEOPLE, ALONE, ROUNDS, CANCELS = 30, 2, 4, 3
#: The page they work on: its slider, between these values, moves this picture.
PAGE, QUERY, SLIDER, VALUES, PICTURE = "line", "o-view=Bayes%27+rule", "b-x", (-2.0, 2.0), "b-posterior"
#: A fit that goes on for as long as it is looked at.
LEARNER = ("line", "o-n=400&o-m=400&o-starts=10&o-steps=300")
LEARN, CANCEL = "Learn hyperparameters", "Cancel"
EVERY_S = 0.1
#: The page with few data.
SMALL = f"{QUERY}&o-n=60&o-m=60"
SMOKE = {
    "PEOPLE": 2, "ALONE": 1, "ROUNDS": 1, "CANCELS": 1, "QUERY": SMALL,
    "LEARNER": ("line", "o-n=60&o-m=60&o-starts=10&o-steps=300"),
}  # fmt: skip


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
        while not self._taken:  # of a phase that was shorter than a question takes
            time.sleep(EVERY_S)
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
            rows = visit(visits(url, health))
        finally:
            health.stop()
    keep("load", rows)


def bench_lesson(tmp_path: Path) -> None:
    """A class on a shared server: steps of the story, revealed; exercises, opened and solved."""
    with running_app(tmp_path / "runs", tmp_path / "log.txt", DECONDITIONING_SHARED="true") as url:
        health = Health(url)
        try:
            rows = visit(lesson(url, health))
        finally:
            health.stop()
    keep("lesson", rows)


async def lesson(url: str, health: Health) -> list[Row]:
    """The class goes through the story, then through the exercises, all at the same moment each time."""
    steps = islice(cycle(enumerate(STORIES[FIRST], 1)), PEOPLE)
    rows = await together("Step of the story", [step_of(url, at, step) for at, step in steps], health)
    for asked in (True, False):
        visits = [exercise_at(url, exercise, asked) for exercise in islice(cycle(EXERCISES), PEOPLE)]
        rows += await together(f"Exercise as {'asked' if asked else 'solved'}", visits, health)
    return rows


async def together(what: str, visits: Sequence[Coroutine[Any, Any, dict[str, float]]], health: Health) -> list[Row]:
    """Visits that begin together, each with the seconds of its parts by name; how the server answered meanwhile."""
    health.begin()
    found = await asyncio.gather(*visits)
    parts = {name: [times[name] for times in found if name in times] for name in found[0]}
    size = f"{len(visits)} sessions at once"
    rows = [row(f"{what}, until {name}", size, statistics.median(times), times) for name, times in parts.items()]
    return [*rows, health.end(f"{what}, {size}")]


async def step_of(url: str, at: int, step: Step) -> dict[str, float]:
    """Open a step of the story; reveal it, where a number is asked for, once its answer has been computed."""
    begun = time.perf_counter()
    async with Visitor(url, "story", f"step={at}") as visitor:
        await visitor.until(lambda: visitor.page_runs and visitor.pictures)
        times = {"its picture": time.perf_counter() - begun}
        if not step.question.choices:
            await visitor.until(lambda: "Reveal" in visitor.buttons)
            begun = time.perf_counter()
            await visitor.press("Reveal")
            await visitor.until(lambda: any("you guessed" in text for text in visitor.texts))
            times["its answer"] = time.perf_counter() - begun
        assert not visitor.troubles, visitor.troubles
    return times


async def exercise_at(url: str, exercise: Exercise, asked: bool) -> dict[str, float]:
    """Open an exercise as it is asked or solved, and wait for what its page's numbers say of it."""
    begun, settings = time.perf_counter(), exercise.opening if asked else exercise.solution
    page = next(page.url_path for page in PAGES if page.folder == exercise.page)
    async with Visitor(url, page, urlencode(dict(settings) | in_address(exercise.key))) as visitor:
        said = "Not yet." if asked else "move a control"
        await visitor.until(lambda: any(said in text for text in visitor.texts) or visitor.troubles)
        assert not visitor.troubles, visitor.troubles
    return {"its verdict": time.perf_counter() - begun}


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
    size = f"one fit, {PEOPLE} sessions open"
    return [*rows, row("Cancel, until the page says so", size, statistics.median(cancelled), cancelled)]


async def arrivals(url: str, health: Health) -> list[Row]:
    """All at the same moment, page after page."""
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
    one = [await move(person, turn) for turn in range(ALONE) for person in people]
    size = f"one of {PEOPLE} sessions moves, {fit}"
    rows = [row("Moved slider, until the picture", size, statistics.median(one), one), health.end(size)]
    every: list[float] = []
    for turn in range(ALONE, ALONE + ROUNDS):
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
