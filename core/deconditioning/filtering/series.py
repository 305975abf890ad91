"""A recorded series of states and observations, split into a training part and a test part."""

from dataclasses import dataclass

import numpy as np

from deconditioning.errors import InputError
from deconditioning.filtering.baselines import Baseline
from deconditioning.filtering.kernel_bayes_filter import FEWEST
from deconditioning.filtering.steps import GUESSED, on_steps, time_column
from deconditioning.tables.table import Table

#: A longer training part is refused: the filter keeps a T×r factor and validation walks all of it several times.
MOST_TRAIN = 5000


@dataclass(frozen=True)
class Series:
    """``states`` X (N, d) and ``observations`` Y (N, q) of N steps in order, NaN where missing, with the names of their
    columns; ``notes`` are sentences on their order and on what is missing."""

    states: np.ndarray
    observations: np.ndarray
    state_names: tuple[str, ...]
    observation_names: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @staticmethod
    def from_table(table: Table, states: list[str], observations: list[str], time: str | None = GUESSED) -> "Series":
        """Columns of a table, one row a step: in order of ``time``, with rows of NaN where a step or a cell is missing.

        ``time`` is a column of dates or numbers, None for rows in file order; not given, the column that is one. Raises
        ``InputError`` for words, a column in both parts, one that never changes, times that are unusable (`on_steps`).
        """
        for what, names in (("state", states), ("observation", observations)):
            if not names:
                there = ", ".join(table.numeric) or "no column of numbers"
                raise InputError(f"No {what} column was chosen: choose from those of {table.source}, {there}.")
        both = sorted(set(states) & set(observations))
        if both:
            raise InputError(f"Column '{both[0]}' is both a state and an observation: choose different columns.")
        if time == GUESSED:
            time = time_column(table, [*states, *observations])
        values = table.with_gaps([*states, *observations])
        notes: list[str] = []
        if np.isinf(values).any():
            table.numbers([*states, *observations])  # refuses them, with their row
        if time is not None:
            values, notes = on_steps(values, table.column(time), time)
        parts = values[:, : len(states)], values[:, len(states) :]
        for part, names in zip(parts, (states, observations), strict=True):
            for column, name in zip(part.T, names, strict=True):
                known = column[np.isfinite(column)]
                if not len(known) or np.ptp(known) == 0:
                    raise InputError(f"Column '{name}' never changes, so there is nothing to filter: leave it out.")
        notes += _missing(*parts)
        return Series(*parts, tuple(states), tuple(observations), tuple(notes))

    def __len__(self) -> int:
        return len(self.states)

    def split(self, train: int) -> "tuple[Series, Series]":
        """The first T + 1 steps, and the rest; ``InputError`` if either part is too short or T too long."""
        if not FEWEST <= train <= min(MOST_TRAIN, len(self) - 2):
            most = min(MOST_TRAIN, len(self) - 2)
            raise InputError(
                f"{train} of {len(self)} steps were chosen for training: choose between {FEWEST} and {most}."
                if most >= FEWEST
                else f"The series has {len(self)} steps: at least {FEWEST + 2} are needed to train and test."
            )
        return self._rows(slice(0, train + 1)), self._rows(slice(train + 1, None))

    def _rows(self, rows: slice) -> "Series":
        return Series(self.states[rows], self.observations[rows], self.state_names, self.observation_names, self.notes)


def _missing(states: np.ndarray, observations: np.ndarray) -> list[str]:
    """Sentences on cells that are missing in rows that hold others."""
    rows = np.isfinite(np.hstack([states, observations])).any(1)
    result = []
    for part, what, fate in (
        (observations, "observation", "the filter predicts these steps without updating"),
        (states, "state", "they are used neither for training nor for scoring"),
    ):
        if count := int((rows & ~np.isfinite(part).all(1)).sum()):
            result.append(f"{count:,} of {len(part):,} steps lack a complete {what}: {fate}.")
    return result


@dataclass(frozen=True)
class Scaling:
    """Each column minus its ``centre``, divided by its ``spread`` (d,), so that a Gaussian kernel does not depend on
    units.
    """

    centre: np.ndarray
    spread: np.ndarray

    @staticmethod
    def of(values: np.ndarray, names: tuple[str, ...]) -> "Scaling":
        """Mean and sd of the columns; ``InputError`` if one is constant over the training part."""
        values = values[np.isfinite(values).all(1)]
        if not len(values):
            raise InputError(f"No step of the training part has values of all of {', '.join(names)}: lengthen it.")
        spread = values.std(0)
        if (spread == 0).any():
            name = names[int((spread == 0).argmax())]
            raise InputError(f"Column '{name}' never changes over the training part: lengthen it or leave it out.")
        return Scaling(values.mean(0), spread)

    def shared(self) -> "Scaling":
        """Variances of ``1/d``, so that all columns together have variance one."""
        return Scaling(self.centre, self.spread * len(self.spread) ** 0.5)

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Columns of values (…, d) with mean 0 and sd 1."""
        return (values - self.centre) / self.spread

    def original(self, values: np.ndarray) -> np.ndarray:
        """Scaled values (…, d) in the columns' own units: the inverse of ``scaled``."""
        return values * self.spread + self.centre


def nearest_observation(states: np.ndarray, observations: np.ndarray, observed: np.ndarray) -> Baseline:
    """The control without memory: the state of the training step with the nearest observation, or the mean of all if
    the observation is missing.
    """
    from scipy.spatial import cKDTree

    whole = np.isfinite(states).all(1) & np.isfinite(observations).all(1)
    states, there = states[whole], np.isfinite(observed).all(1)
    _, rows = cKDTree(observations[whole]).query(np.where(there[:, None], observed, 0.0))
    means = np.where(there[:, None], states[rows], states.mean(0))
    return Baseline(means, "state of the nearest training observation, no memory")
