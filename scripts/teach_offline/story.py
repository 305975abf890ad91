"""The ten steps: each evaluated by its own function at every value of its control and for every guess."""

from collections.abc import Iterator
from concurrent.futures import wait
from typing import Any

from pages.kit.chart import background
from pages.story import maps
from pages.story.step import Control, Guess, Question, Shown, Step, number, verdict
from pages.story.stories import FIRST, STORIES
from scripts.teach_offline.mathematics import html
from scripts.teach_offline.plain_chart import plain
from scripts.teach_offline.tables import Pool, Tree, merged

STEPS = STORIES[FIRST]


def data_of_steps() -> Iterator[tuple[Step, dict[str, Any]]]:
    """Every step with its data. The maps are computed first: half a minute."""
    for key in maps.LEVELS.values():
        for kind in ("map", "up"):
            _result(kind, key)
    for step in STEPS:
        yield step, data_of(step)


def _result(kind: str, key: str) -> Any:
    """What was computed, asked for again and again: what nobody asks for is stopped (`background.PATIENCE_S`)."""
    while not wait([job := maps.begin(kind, key)], timeout=background.PATIENCE_S / 3).done:
        pass
    return job.result()


def data_of(step: Step) -> dict[str, Any]:
    """What the page needs for a step."""
    values, guesses = values_of(step.control), guesses_of(step.question)
    begin = values.index(step.control.value)
    before = [_shown(step, value, None) for value in values]
    after, by_guess = [_shown(step, value, Guess(guesses[0], value)) for value in values], []
    probes = [_tree(_shown(step, values[begin], Guess(guess, values[begin]))) for guess in (*guesses[:2], guesses[-1])]
    if any(probe != probes[0] for probe in probes):
        by_guess = [_tree(_shown(step, values[begin], Guess(guess, values[begin]))) for guess in guesses]
    answers, pool = [shown.answer for shown in before], Pool()
    different = list(dict.fromkeys(answers))
    return {
        "values": [text_of(value) for value in values],
        "begin": begin,
        "opening": before[begin].sentence,
        "line": _opens_line(before[begin]),
        "guesses": [text_of(guess) for guess in guesses],
        "before": merged([_tree(shown) for shown in before], [], pool),
        "after": merged([_tree(shown) for shown in after], by_guess, pool),
        "answers": [different.index(answer) for answer in answers],
        "verdicts": [[verdict(step.question, guess, answer) for answer in different] for guess in guesses],
        "pool": pool.entries,
    }


def values_of(control: Control) -> list[Any]:
    """All values at which a control stops."""
    return list(control.options) or _stops(control.low, control.high, control.step)


def guesses_of(question: Question) -> list[Any]:
    """All guesses that can be made."""
    return list(question.choices) or _stops(question.low, question.high, question.step)


def text_of(value: Any) -> str:
    """A value as the page writes it."""
    return value if isinstance(value, str) else number(value)


def _stops(low: float, high: float, step: float) -> list[float]:
    return [round(low + at * step, 10) for at in range(round((high - low) / step) + 1)]


def _shown(step: Step, value: Any, guess: Guess | None) -> Shown:
    shown = step.show(value, guess, False)
    if shown.wait is not None or shown.answer is None:
        raise ValueError(f"Step '{step.title}' is not computed yet at {value}.")
    return shown


def _opens_line(shown: Shown) -> bool:
    """Whether a step leads to what page One dimension opens with."""
    return shown.link is not None and shown.link.folder == "one_dimension" and "o-view" not in shown.link.query


def _tree(shown: Shown) -> Tree:
    return {
        "figures": [plain(figure) for figure in shown.figures],
        "beside": len(shown.points),
        "said": shown.sentence,
        "lesson": shown.lesson,
        "checks": [["good", text] for text in shown.good] + [["bad", text] for text in shown.bad],
        "equation": html(shown.equation),
        "source": shown.source,
    }
