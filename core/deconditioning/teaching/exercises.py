"""Exercises: a task on a page, and what the page's own numbers must say for it to be done.

No answer is stored: ``check`` reads the numbers that the page has just computed, so that every way of fulfilling the
task counts. ``opening`` and ``solution`` are addresses; tests hold that the first does not fulfil it, the second does.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

#: The key of an address that names the exercise; that of page Exercises' address by which it opens one, by its number.
ASKED, OPENED = "exercise", "open"
Numbers = Mapping[str, float]
Address = Mapping[str, str]
_Difficulty = Literal["easy", "medium", "hard"]


@dataclass(frozen=True)
class Verdict:
    """What a page's numbers say of a task, and whether it is fulfilled."""

    done: bool
    sentence: str


@dataclass(frozen=True)
class Exercise:
    """A task on a page.

    Parameters
    ----------
    key : its name in addresses and files.
    page : the folder of its page in ``pages/``.
    title, task, hint : what is asked, and where to begin.
    opening, solution : settings of the page that the task opens with; those of one of its answers.
    answer : for teachers, what it shows, without numbers: those the page computes.
    needs : the numbers of the page that it is checked against.
    check : from those numbers.
    minutes, difficulty : how long a pair of students takes, about, and how hard it is.
    """

    key: str
    page: str
    title: str
    task: str
    hint: str
    opening: Address
    solution: Address
    answer: str
    needs: tuple[str, ...]
    check: Callable[..., Verdict]
    minutes: int
    difficulty: _Difficulty

    @property
    def effort(self) -> str:
        """Minutes and difficulty in words."""
        return f"{self.minutes} minutes, {self.difficulty}"

    def verdict(self, numbers: Numbers) -> Verdict | None:
        """Whether the page's numbers fulfil the task; None while one of them is not there yet."""
        if any(name not in numbers for name in self.needs):
            return None
        return self.check(*(numbers[name] for name in self.needs))


def in_address(key: str) -> dict[str, str]:
    """What an address says besides its settings, so that the page shows the task."""
    return {ASKED: key}
