"""What a student hands in: a text file with the exercises done, their settings, the pages' verdicts and the answers."""

from collections.abc import Mapping, Sequence

from deconditioning.engine.visitors.exercise_progress import Done
from deconditioning.teaching.exercises import Exercise

_LONGEST_NAME = 80


def hand_in(name: str, when: str, app: str, exercises: Sequence[Exercise], done: Mapping[str, Done]) -> str:
    """The text, exercise by exercise.

    Parameters
    ----------
    name, when : whose it is, and date and time.
    app : where the addresses of the app begin, so that the teacher can open what the student saw.
    exercises : all there are, in order.
    done : those that are done, by their keys.
    """
    count = sum(exercise.key in done for exercise in exercises)
    lines = ["Deconditioning Lab: exercises", f"Name: {_line(name)[:_LONGEST_NAME] or '(not given)'}", f"Date: {when}",
             f"Done: {count} of {len(exercises)}", ""]  # fmt: skip
    for number, exercise in enumerate(exercises, 1):
        result = done.get(exercise.key)
        lines.append(f"{number}. {exercise.title} ({exercise.difficulty}): {'done' if result else 'not done'}")
        if result:
            rows = {"Result": result.said, "Settings": result.settings, "Done on": result.when,
                    "Opens at": f"{app}{result.address}" if result.address else "",
                    "Answer": result.answer or "(none)"}  # fmt: skip
            lines += [f"   {title}: {_line(text)}" for title, text in rows.items() if text]
        lines.append("")
    return "\n".join(lines)


def _line(text: str) -> str:
    """One line without control characters."""
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
