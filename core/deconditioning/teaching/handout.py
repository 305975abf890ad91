"""The handout, a PDF: the lesson, the exercises with room for answers, for the teacher what the solutions give."""

from collections.abc import Mapping
from dataclasses import dataclass

import deconditioning
from deconditioning.device import one_thread
from deconditioning.errors import Check, never
from deconditioning.figures.printed.sheet import HEIGHT, MARGIN, QUIET, WIDTH, Sheet
from deconditioning.teaching.exercises import OPENED, Exercise, Verdict
from deconditioning.teaching.lesson import ANSWERS, LESSON, Part
from deconditioning.teaching.solved import opens_on, solution_words, verdict_at
from deconditioning.teaching.tasks import EXERCISES

_TITLE = "Deconditioning Lab"
_ROOM = WIDTH - 2 * MARGIN
_EACH = 6
_QR = 62.0


@dataclass(frozen=True)
class Checked:
    """What the page's own check says of an exercise as it opens, and as it is solved."""

    opened: Verdict
    solved: Verdict


@one_thread()
def checked(check: Check = never) -> dict[str, Checked]:
    """All exercises, by key, computed."""
    return {
        exercise.key: Checked(verdict_at(exercise, exercise.opening, check), verdict_at(exercise, exercise.solution))
        for exercise in EXERCISES
    }


def handout(address: str, result: Mapping[str, Checked] | None) -> bytes:
    """The PDF: three A4 pages, and with the ``result`` of all checks a fourth one with answers for the teacher.

    ``address`` is where the app's pages begin.
    """
    sheet = Sheet(f"{_TITLE}: a lesson of 45 minutes")
    _lesson(sheet, address)
    for first in range(0, len(EXERCISES), _EACH):
        _exercises(sheet, address, first)
    if result is not None:
        _answers(sheet, result)
    return sheet.pdf()


def short_link(address: str, exercise: Exercise) -> str:
    """The address of an exercise that can be typed."""
    return f"{address}/exercises?{OPENED}={EXERCISES.index(exercise) + 1}"


def _head(sheet: Sheet, title: str, text: str, width: float = _ROOM) -> float:
    sheet.page()
    y = sheet.words(MARGIN, MARGIN - 8, title, 17, width, bold=True)
    return sheet.words(MARGIN, y + 2, text, 9.5, width, colour=QUIET) + 8


def _lesson(sheet: Sheet, address: str) -> None:
    """What is asked at each step, and the three answers to be written down."""
    sentence = (
        f"Open {address}/story. Guess before you press Reveal. Then write down what you see and what surprised you."
    )
    y = _head(sheet, f"{_TITLE}: 45 minutes", sentence, _ROOM - _QR - 14)
    sheet.qr(WIDTH - MARGIN - _QR, MARGIN - 6, _QR, f"{address}/story")
    y = sheet.words(MARGIN, y + 4, "Name", 9, 60, colour=QUIET)
    sheet.line(MARGIN + 36, y - 1, 220)
    y += 14
    for part in LESSON[:-1]:
        y = _part(sheet, part, y)
    y = sheet.words(MARGIN, y + 4, "Three answers", 12, _ROOM, bold=True) + 2
    for title, _ in ANSWERS:
        y = sheet.words(MARGIN, y, f"{title}:", 9.5, _ROOM) + 16
        for _ in range(2):
            sheet.line(MARGIN, y, _ROOM)
            y += 20
        y -= 11


def _part(sheet: Sheet, part: Part, y: float) -> float:
    """One part of the lesson: when, where, what is asked, room for a guess and for what is seen."""
    left, right, half = MARGIN + 40, MARGIN + 150, _ROOM - 150
    sheet.words(MARGIN, y, f"{part.minute} min", 9, 40, bold=True)
    sheet.words(left, y, part.address, 9, 130, bold=True)
    sheet.words(left, y + 12, part.how, 8, 130, colour=QUIET)
    end = sheet.words(right, y, part.ask, 9, half)
    end = max(end, y + 24) + 14
    if part.address.startswith("/story"):
        _to_write(sheet, "guess", right, end, 0.32 * half)
        _to_write(sheet, "seen", right + 0.36 * half, end, 0.64 * half)
    else:
        _to_write(sheet, "done", right, end, half)
    return end + 15


def _to_write(sheet: Sheet, name: str, x: float, y: float, width: float) -> None:
    sheet.words(x, y - 11, name, 7, 40, colour=QUIET)
    sheet.line(x + 26, y, width - 26)


def _exercises(sheet: Sheet, address: str, first: int) -> None:
    """A page of exercises, each with its address and room for an answer."""
    y = _head(
        sheet,
        f"Exercises {first + 1} to {min(first + _EACH, len(EXERCISES))}",
        "Each exercise opens a page with a task at the top. The page ticks it when its numbers fulfil the task.",
    )
    each = (HEIGHT - MARGIN - y) / _EACH
    for number, exercise in enumerate(EXERCISES[first : first + _EACH], first + 1):
        _exercise(sheet, address, number, exercise, y, y + each)
        y += each


def _exercise(sheet: Sheet, address: str, number: int, exercise: Exercise, top: float, foot: float) -> None:
    link, width = short_link(address, exercise), _ROOM - _QR - 22
    sheet.line(MARGIN, top, _ROOM)
    sheet.qr(WIDTH - MARGIN - _QR, top + 10, _QR, link)
    y = sheet.words(MARGIN, top + 7, f"{number}. {exercise.title}", 11, width, bold=True)
    about = f"{opens_on(exercise)} · {exercise.effort} · {link}"
    y = sheet.words(MARGIN, y, about, 8, width, colour=QUIET, link=link) + 2
    y = sheet.words(MARGIN, y, exercise.task, 9.5, width)
    end = foot - 12
    for name, up in (("What I changed", 26.0), ("What it shows", 0.0)):
        sheet.words(MARGIN, end - up - 10, name, 7.5, 80, colour=QUIET)
        sheet.line(MARGIN + 66, end - up, width - 66 if up else _ROOM - 66)


def _answers(sheet: Sheet, result: Mapping[str, Checked]) -> None:
    """For the teacher: a solution of each exercise, what its check says of it, why; what the lesson leads to."""
    sentence = (
        "One solution of each exercise, the result of its check with the solution and at the start (computed for this "
        f"sheet by {_TITLE} {deconditioning.__version__}), and the reason."
    )
    y = _head(sheet, "For the teacher", sentence)
    for number, exercise in enumerate(EXERCISES, 1):
        verdicts = result[exercise.key]
        mark = "" if verdicts.solved.done else " The check fails here."
        y = sheet.words(MARGIN, y, f"{number}. {exercise.title} · {solution_words(exercise)}", 8.5, _ROOM, bold=True)
        text = f"{verdicts.solved.sentence}{mark} At the start: {verdicts.opened.sentence} {exercise.answer}"
        y = sheet.words(MARGIN + 12, y, text, 8, _ROOM - 12) + 3
    y = sheet.words(MARGIN, y + 3, "What to expect", 10, _ROOM, bold=True)
    for part in LESSON[:-1]:
        sheet.words(MARGIN, y, f"{part.minute}", 7.5, 20, bold=True)
        y = sheet.words(MARGIN + 18, y, part.expect, 7.5, _ROOM - 18)
    y = sheet.words(MARGIN, y + 4, "The three answers", 10, _ROOM, bold=True)
    for title, answer in ANSWERS:
        y = sheet.words(MARGIN, y, f"{title}. {answer}", 7.5, _ROOM)
