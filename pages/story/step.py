"""What a step of a story is: one sentence, one picture, one control, a question, what is revealed, where it leads."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from deconditioning import wording

if TYPE_CHECKING:
    from pages.kit.chart.points import Points

#: A guess this near to the answer, as shares of the range of guesses, is called …
_NEARNESS = ((0.03, "Spot on"), (0.08, "Near"))
#: Beyond this share it is much too high or too low, unless both are lengths, times or the like, which have a ratio.
_MUCH = 0.3


@dataclass(frozen=True)
class Control:
    """A slider over numbers (``options`` empty) or over the ``options``; where the answer is about another value, it is
    ``revealed`` at that."""

    label: str
    low: float = 0
    high: float = 1
    value: Any = 0
    step: float = 1
    options: tuple[Any, ...] = ()
    revealed: Any = None


@dataclass(frozen=True)
class Question:
    """What is to be predicted: one of the ``choices``, or a number from ``low`` to ``high`` in ``units``."""

    text: str
    low: float = 0
    high: float = 100
    step: float = 1
    units: str = "%"
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Guess:
    """What a person has committed to, and what the step's control was then."""

    value: Any
    control: Any


@dataclass(frozen=True)
class Link:
    """The full page with the same state: its folder, what the link says, the controls that differ from its defaults."""

    folder: str
    label: str
    query: Mapping[str, str | list[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Shown:
    """What a step shows at one value of its control.

    Parameters
    ----------
    figures : pictures, the large one first; plotly figures as dicts.
    sentence : on what is seen, from the numbers in it; it must not give the answer away before ``revealed``.
    answer : the answer to the question at the guess's own control, a number or one of the choices.
    lesson : the text below it once the answer is known.
    good, bad : short checks, in green and in amber.
    points : what makes the first figures editable; these stand side by side.
    equation, source : mathematics with the page's own numbers.
    wait : draws a word on what is still being computed, below the pictures, and runs the page again when it is there.
    """

    figures: tuple[dict[str, Any], ...]
    sentence: str
    answer: Any = None
    lesson: str = ""
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    equation: str = ""
    source: str = ""
    link: Link | None = None
    wait: Callable[[], Any] | None = None
    points: "tuple[Points, ...]" = ()


@dataclass(frozen=True)
class Step:
    """A step: ``show(value, guess, dark)`` computes it; ``guess`` is None until the person has committed to one;
    an ``answer`` of None says that the computer is still busy in the background; ``closing`` are titles and answers of
    the whole story, told once the step's own is known."""

    title: str
    sentence: str
    control: Control
    question: Question
    show: Callable[[Any, Guess | None, bool], Shown]
    closing: tuple[tuple[str, str], ...] = ()


def verdict(question: Question, guess: Any, answer: Any) -> str:
    """How near a guess came, in a sentence."""
    if question.choices:
        return f"Right: {answer}." if guess == answer else f"You guessed {guess}; it is {answer}."
    distance = abs(guess - answer) / (question.high - question.low)
    near = next((words for limit, words in _NEARNESS if distance <= limit), None) or _apart(question, guess, answer)
    return f"{near}: you guessed {_value_text(question, guess)}; it is {_value_text(question, answer)}."


def _apart(question: Question, guess: float, answer: float) -> str:
    """Which way a guess is wrong, and by how much; by which factor where both have a unit and are above 0."""
    high = guess > answer
    ratio = max(guess, answer) / min(guess, answer) if min(guess, answer) > 0 else 0.0
    size = ("long" if high else "short") if question.units == "km" else ("high" if high else "low")
    if question.units not in ("", "%") and ratio >= 1.75:
        times = "Twice" if ratio < 2.25 else f"{number(ratio, 2)} times"
        return f"{times} too {size}"
    much = "Much too" if abs(guess - answer) > _MUCH * (question.high - question.low) else "Too"
    return f"{much} {size}"


def number(value: float, digits: int = 3) -> str:
    """A number in so many digits, whole from 100 on, with a true minus sign."""
    return wording.signed(round(value), 0).replace(",", "") if abs(value) >= 100 else wording.number(value, digits)


def percent(share: float) -> str:
    """A share in whole per cent."""
    return f"{100 * share:.0f}\u00a0%"


def within(value: float, units: str = "") -> str:
    """How well a check holds, as "0.0003 K" or "less than 0.0001 K"."""
    return (f"{wording.number(value, 1)} {units}" if value >= 1e-4 else f"less than 0.0001 {units}").strip()


def _value_text(question: Question, value: float) -> str:
    if question.units == "%":
        return percent(value / 100)
    return f"{number(value)}\u00a0{question.units}" if question.units else number(value)
