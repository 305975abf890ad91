"""What a step shows, as one tree in which tables hold what changes with its control and with the guess."""

import json
from collections.abc import Sequence
from typing import Any

Tree = Any


class Pool:
    """The different entries of all tables of a step; a table holds their places."""

    def __init__(self) -> None:
        self.entries: list[Tree] = []
        self._places: dict[str, int] = {}

    def place(self, entry: Tree) -> int:
        """Where an entry stands; equal entries stand in one place."""
        text = json.dumps(entry)
        if text not in self._places:
            self._places[text] = len(self.entries)
            self.entries.append(entry)
        return self._places[text]


def merged(by_value: Sequence[Tree], by_guess: Sequence[Tree], pool: Pool) -> Tree:
    """One tree for all: ``by_value`` at every value of the control and one guess, ``by_guess`` at every guess.

    A part that changes becomes ``{"$": "value" or "guess", "at": places in the pool}``. ``by_guess`` is empty where
    nothing depends on the guess. Raises ``ValueError`` for a part that changes with both.
    """
    every = [*by_value, *by_guess]
    first = every[0]
    if all(each == first for each in every):
        return first
    if all(isinstance(each, dict) and each.keys() == first.keys() for each in every):
        return {
            name: merged([each[name] for each in by_value], [each[name] for each in by_guess], pool) for name in first
        }
    if all(isinstance(each, list) and len(each) == len(first) for each in every) and not _is_numbers(first):
        columns = zip(zip(*by_value, strict=True), zip(*by_guess, strict=True) if by_guess else [()] * len(first),
                      strict=True)  # fmt: skip
        return [merged(list(values), list(guesses), pool) for values, guesses in columns]
    changes = {name: any(each != column[0] for each in column)
               for name, column in (("value", by_value), ("guess", by_guess)) if column}  # fmt: skip
    if all(changes.values()) and len(changes) > 1:
        raise ValueError(f"This changes with the control and with the guess: {str(first)[:120]}")
    name = next(name for name, does in changes.items() if does)
    return {"$": name, "at": [pool.place(each) for each in (by_value if name == "value" else by_guess)]}


def _is_numbers(values: list[Any]) -> bool:
    return bool(values) and all(isinstance(each, int | float | None) for each in values)
