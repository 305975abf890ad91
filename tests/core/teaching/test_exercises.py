"""Exercises: checked against numbers alone, each side of what is asked."""

import pytest

from deconditioning.teaching.exercises import Exercise
from deconditioning.teaching.tasks import EXERCISES, exercise_of

#: Numbers of a page that fulfil an exercise, and that just do not.
SIDES = {
    "band": ([(0.93,), (0.97,)], [(0.929,), (0.971,), (1.0,)]),
    "evidence": ([(-156.0, -155.1), (-150.0, -155.0)], [(-157.0, -155.9)]),
    "trip": ([(0.9,), (0.97,)], [(0.89,), (0.98,), (1.0,)]),
    "points": ([(0.125, 0.1)], [(0.126, 0.1)]),
    "slices": ([(0.2,)], [(0.14,), (0.26,)]),
    "one": ([(0.3, 0.3)], [(0.3, 0.3001)]),
    "rule": ([(0.05, 0.06)], [(0.06, 0.06)]),
    "runs": ([(1.5,)], [(1.51,)]),
    "examples": ([(0.06, 0.07)], [(0.07, 0.07)]),
    "people": ([(0.015,)], [(0.016,)]),
    "doubt": ([(0.9, 1), (0.98, 1)], [(0.89, 1), (0.99, 1)]),
    "noise": ([(0.4, 0.3, 1)], [(0.3, 0.3, 1)]),
}


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.key)
def test_a_task_is_done_on_one_side_of_its_limits(exercise: Exercise) -> None:
    for done, cases in zip((True, False), SIDES[exercise.key], strict=True):
        for values in cases:
            found = exercise.verdict(dict(zip(exercise.needs, values, strict=True)))
            assert found is not None and found.done == done, values
            assert found.sentence.endswith(".") and any(letter.isdigit() or done for letter in found.sentence)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.key)
def test_without_its_numbers_nothing_is_said(exercise: Exercise) -> None:
    assert exercise.verdict(dict.fromkeys(exercise.needs[:-1], 1.0)) is None


def test_keys_are_distinct_and_what_opens_is_not_the_solution() -> None:
    assert len({exercise.key for exercise in EXERCISES}) == len(EXERCISES) >= 8
    assert all(exercise_of(exercise.key) is exercise for exercise in EXERCISES)
    assert all(dict(exercise.opening) != dict(exercise.solution) for exercise in EXERCISES)
