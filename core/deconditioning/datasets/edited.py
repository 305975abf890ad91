"""Points of a generated data set that the user moved, deleted or added.

As text, for links, runs and the command line, `m12_1.5_-0.25` moves point 12 (counted from 1) to (1.5, −0.25), `d7`
deletes point 7 and `a0.5_2` adds a point, without separators between them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from jaxtyping import Float

from deconditioning.errors import InputError, one_line

_Pair = tuple[float, float]
#: Edits of one scatter, and how far from 0 a point may lie.
MOST_EDITS, REACH = 60, 1000.0
#: Letters of a text: beyond them nothing is read.
LONGEST = 21 * MOST_EDITS
_NUMBER = r"-?\d{1,4}(?:\.\d{1,4})?"
_ONE = re.compile(rf"m([1-9]\d{{0,3}})_({_NUMBER})_({_NUMBER})|d([1-9]\d{{0,3}})|a({_NUMBER})_({_NUMBER})", re.ASCII)


def rounded(value: float) -> float:
    """A coordinate as a text holds it: four digits, at most four of them behind the point."""
    return round(float(f"{value:.4g}"), 4) + 0.0


@dataclass(frozen=True)
class Edits:
    """What was changed: ``moved`` point → where to, the ``deleted`` ones, and ``added`` pairs; points count from 1.

    Raises ``InputError`` for coordinates beyond ``REACH``, more than ``MOST_EDITS``, or a point edited twice.
    """

    moved: Mapping[int, _Pair] = field(default_factory=dict)
    deleted: frozenset[int] = frozenset()
    added: tuple[_Pair, ...] = ()

    def __post_init__(self) -> None:
        if len(self) > MOST_EDITS:
            raise InputError(f"There are {len(self)} edited points: edit at most {MOST_EDITS} points of one data set.")
        twice = sorted(self.deleted & self.moved.keys())
        if twice:
            raise InputError(f"Point {twice[0]} is both moved and deleted: do one of them.")
        for pair in (*self.moved.values(), *self.added):
            if not all(abs(value) <= REACH for value in pair):
                raise InputError(f"A point lies at ({pair[0]:g}, {pair[1]:g}): stay between −{REACH:g} and {REACH:g}.")

    def __len__(self) -> int:
        return len(self.moved) + len(self.deleted) + len(self.added)

    @property
    def text(self) -> str:
        """As text, of four digits; inverse of ``from_text``."""
        moved = (f"m{number}_{_pair_text(self.moved[number])}" for number in sorted(self.moved))
        deleted = (f"d{number}" for number in sorted(self.deleted))
        return "".join((*moved, *deleted, *(f"a{_pair_text(pair)}" for pair in self.added)))

    @staticmethod
    def from_text(text: str) -> "Edits":
        """Read a text; ``InputError`` with one sentence where it is none."""
        if not isinstance(text, str) or len(text) > LONGEST:
            raise InputError(f"The edited points are not a text of at most {LONGEST} characters: edit fewer points.")
        moved: dict[int, _Pair] = {}
        deleted: set[int] = set()
        added: list[_Pair] = []
        at = 0
        while at < len(text):
            one = _ONE.match(text, at)
            if one is None:
                sentence = one_line(text[at : at + 20])
                raise InputError(
                    f"'{sentence}' is not an edit of a point: write, for example, m12_1.5_-0.25, d7 or a0.5_2."
                )
            number = int(one[1] or one[4] or 0)
            if number and (number in moved or number in deleted):
                raise InputError(f"Point {number} is edited twice: edit it once.")
            if one[1]:
                moved[number] = (float(one[2]), float(one[3]))
            elif one[4]:
                deleted.add(number)
            else:
                added.append((float(one[5]), float(one[6])))
            at = one.end()
        return Edits(moved, frozenset(deleted), tuple(added))

    def within(self, count: int) -> "Edits":
        """Without edits of points beyond the first ``count``."""
        moved = {number: pair for number, pair in self.moved.items() if number <= count}
        return replace(self, moved=moved, deleted=frozenset(number for number in self.deleted if number <= count))

    def beyond(self, count: int) -> "Edits":
        """Only edits of points beyond the first ``count``."""
        moved = {number: pair for number, pair in self.moved.items() if number > count}
        return Edits(moved, frozenset(number for number in self.deleted if number > count))

    def possible(self, count: int) -> "Edits":
        """Without what cannot be done to ``count`` pairs: edits of points beyond them, deleting every pair."""
        there = self.within(count)
        return there if there.count(count) >= 1 else replace(there, deleted=frozenset())

    def __or__(self, other: "Edits") -> "Edits":
        """Both, of different points."""
        return Edits({**self.moved, **other.moved}, self.deleted | other.deleted, self.added + other.added)

    @property
    def flipped(self) -> "Edits":
        """The same with across and up changed for one another."""
        moved = {number: (up, across) for number, (across, up) in self.moved.items()}
        return Edits(moved, self.deleted, tuple((up, across) for across, up in self.added))

    def count(self, generated: int) -> int:
        """How many pairs there are once ``generated`` ones are edited."""
        return generated - len(self.deleted) + len(self.added)

    def check(self, generated: int, name: str) -> None:
        """``InputError`` if a point is not one of the ``generated`` ones, or where none is left."""
        wrong = sorted(number for number in {*self.moved, *self.deleted} if not 1 <= number <= generated)
        if wrong:
            raise InputError(f"`{name}` edits point {wrong[0]} of {generated}: choose one from 1 to {generated}.")
        if self.count(generated) < 1:
            raise InputError(f"`{name}` deletes every pair: leave or add at least one.")

    def apply(
        self, across: Float[np.ndarray, " n"], up: Float[np.ndarray, " n"]
    ) -> tuple[Float[np.ndarray, " e"], Float[np.ndarray, " e"]]:
        """The edited pairs: those that are left in their order, moved ones in their place, then the added ones."""
        pairs = np.stack([across, up], 1)
        for number, pair in self.moved.items():
            pairs[number - 1] = pair
        pairs = np.delete(pairs, [number - 1 for number in self.deleted], axis=0)
        both = np.concatenate([pairs, np.array(self.added, dtype=float).reshape(-1, 2)])
        return both[:, 0].copy(), both[:, 1].copy()

    @property
    def places(self) -> Float[np.ndarray, "e 2"]:
        """Where points lie by hand: moved ones, then added ones."""
        return np.array([*self.moved.values(), *self.added], dtype=float).reshape(-1, 2)

    @property
    def words(self) -> str:
        """Such as "2 added, 1 moved"; "none" without edits."""
        counts = ((len(self.added), "added"), (len(self.moved), "moved"), (len(self.deleted), "deleted"))
        return ", ".join(f"{count} {done}" for count, done in counts if count) or "none"


def _pair_text(pair: _Pair) -> str:
    return "_".join(f"{rounded(value):.4f}".rstrip("0").rstrip(".") for value in pair)
