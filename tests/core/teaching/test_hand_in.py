"""The file that a student hands in."""

from deconditioning.engine.visitors.exercise_progress import Done
from deconditioning.teaching.hand_in import hand_in
from deconditioning.teaching.tasks import EXERCISES


def test_it_says_what_was_done_with_which_settings_and_what_was_answered() -> None:
    done = {
        "band": Done("It contains 95 %.", "λ: 0.002", "/line?o-lam=0.002", "2026-01-01 10:00 UTC", "Too\ncertain.\x1b"),
        "one": Done("Same numbers."),
        "gone": Done("an exercise of an earlier version"),
    }
    text = hand_in("  Ada \n 7. Forged: done", "2026-01-01 11:00 UTC", "http://10.0.0.1:8501", EXERCISES, done)
    lines = text.splitlines()
    assert lines[1:4] == ["Name: Ada 7. Forged: done", "Date: 2026-01-01 11:00 UTC", f"Done: 2 of {len(EXERCISES)}"]
    first = lines.index("1. A band of the right width (easy): done")
    assert lines[first + 1 : first + 6] == [
        "   Result: It contains 95 %.", "   Settings: λ: 0.002", "   Done on: 2026-01-01 10:00 UTC",
        "   Opens at: http://10.0.0.1:8501/line?o-lam=0.002", "   Answer: Too certain.",
    ]  # fmt: skip
    assert "   Answer: (none)" in lines and sum(line.endswith(": not done") for line in lines) == len(EXERCISES) - 2
    assert "earlier version" not in text
    assert "(not given)" in hand_in("", "", "", EXERCISES, {})
