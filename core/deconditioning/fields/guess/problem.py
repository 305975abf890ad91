"""Guesses a whole downscaling problem: which file is coarse, the target, its covariates, the cells, the time and
level."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, product
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.cell_settings import CellSettings
from deconditioning.fields.grids import sphere
from deconditioning.fields.guess.variables import (
    Guess,
    guess_covariates,
    static_covariates,
    target_candidates,
    target_rank,
    values_or_gap,
)
from deconditioning.fields.selecting import is_dated

if TYPE_CHECKING:
    from deconditioning.fields.gridded import Fields
    from deconditioning.fields.grids.grid import Grid

#: Cells that blocks make, about.
_CELLS = 500
#: A file is coarser than another where its pixels are wider by this factor.
_COARSER = 1.5
#: Times and levels of the target that are tried until one has values.
_MOST_TRIED = 48


@dataclass(frozen=True)
class FileRoles:
    """Files by their place in a list: ``fine`` holds the grid of the result and further covariates, ``coarse`` the
    target in a file of its own; ``unused`` are the others."""

    fine: tuple[int, ...]
    coarse: int | None
    reason: str
    unused: tuple[int, ...] = ()


@dataclass(frozen=True)
class ProblemGuess:
    """A downscaling problem with the reason for each of its parts.

    ``select`` contains the dimensions of the target with more than one value. ``block`` is not used with a coarse file.
    """

    target: Guess[str]
    covariates: tuple[Guess[str], ...]
    block: Guess[tuple[int, int]]
    select: dict[str, Guess[int]] = field(default_factory=dict)
    withhold: float = CellSettings.withhold.default

    def spec(self) -> dict[str, Any]:
        """The fields of a `DownscalingSpec`. No mediator: matching is direct."""
        return {
            "target": self.target.value, "covariates": [guess.value for guess in self.covariates], "mediators": [],
            "block": list(self.block.value), "withhold": self.withhold, "seed": 0,
            "select": {dim: guess.value for dim, guess in self.select.items() if guess.value},
        }  # fmt: skip

    def reasons(self) -> dict[str, str]:
        """Name of a variable or dimension, or the block as text → its reason."""
        rows, columns = self.block.value
        chosen = {guess.value: guess.reason for guess in (self.target, *self.covariates)}
        chosen[f"{rows} × {columns} pixels"] = self.block.reason
        return chosen | {dim: guess.reason for dim, guess in self.select.items()}


def guess_problem(fields: "Fields", coarse: "Fields | None" = None, target: str | None = None) -> ProblemGuess:
    """A problem to begin with for a file that came without settings, or for covariates and a ``coarse`` target.

    Parameters
    ----------
    fields : the file of the target and its covariates, or of the covariates alone.
    coarse : the file of the target on a coarser grid; the target's own times and levels are chosen then.
    target : a target that is chosen already; by default `guess_target`.

    Errors: `InputError` if no numeric field lies on the grid, or the target has no values.
    """
    holder = coarse or fields
    goal, select = _with_values(holder, target_candidates(holder) if target is None else [Guess(target, "chosen")])
    block = _block(fields.grid)
    if coarse is None:
        chosen = {dim: guess.value for dim, guess in select.items()}
        return ProblemGuess(goal, tuple(guess_covariates(fields, goal.value, block.value[0], chosen)), block, select)
    return ProblemGuess(goal, tuple(static_covariates(fields)), block, select, withhold=0.0)


def guess_files(files: Sequence["Fields"]) -> FileRoles:
    """Which of several files is the coarse target and which hold the covariates.

    The target is the variable of the highest rank. A file with it and with pixels wider by half than the finest ones is
    the coarse target; else it is averaged itself, and the others add covariates.
    """
    sizes = [pixel_km(one.grid) for one in files]
    ranks = [max((target_rank(one, name) for name in one.variables()), default=-3) for one in files]
    finest = min(range(len(files)), key=sizes.__getitem__)
    order = sorted(range(len(files)), key=lambda index: (-ranks[index], -sizes[index], index))
    best = order[0]
    if sizes[best] < _COARSER * sizes[finest]:
        fine = (best, *(index for index in range(len(files)) if index != best))
        reason = "" if len(files) == 1 else "The files have pixels of the same size"
        if max(sizes) >= _COARSER * sizes[finest]:
            reason = f"The target is in the file with the smaller pixels, {_km(sizes[best])}"
        return FileRoles(fine, None, reason)
    rest = [index for index in range(len(files)) if index != best]
    unused = tuple(index for index in rest if index != finest and sizes[index] >= _COARSER * sizes[finest])
    fine = (finest, *(index for index in rest if index != finest and index not in unused))
    return FileRoles(
        fine,
        best,
        f"Its pixels of {_km(sizes[best])} are wider than the {_km(sizes[finest])} of the covariates",
        unused,
    )


def pixel_km(grid: "Grid") -> float:
    """Side of a square as large as the grid's median pixel, in km."""
    return float(sphere.EARTH_KM * np.sqrt(np.median(grid.steradians())))


def _km(length: float) -> str:
    if length < 1:
        return f"{1000 * length:.2g} m" if length < 0.1 else f"{1000 * length:.0f} m"
    return f"{length:.2g} km" if length < 100 else f"{length:,.0f} km"


def _block(grid: "Grid") -> Guess[tuple[int, int]]:
    """A square block that gives about 500 cells, from 2 to 25 pixels, with 4 × 4 cells at least."""
    rows, columns = grid.shape
    side = round((rows * columns / _CELLS) ** 0.5)
    side = int(np.clip(side, 2, max(2, min(25, rows // 4, columns // 4))))
    return Guess((side, side), f"makes {cells_in_words(grid, (side, side))}")


def cells_in_words(grid: "Grid", block: tuple[int, int]) -> str:
    """How many cells blocks of (rows, columns) pixels make, and their size."""
    count = (grid.shape[0] // block[0]) * (grid.shape[1] // block[1])
    return f"{count:,} cells of about {_km(float(np.sqrt(block[0] * block[1])) * pixel_km(grid))}"


def _with_values(fields: "Fields", candidates: Sequence[Guess[str]]) -> tuple[Guess[str], dict[str, Guess[int]]]:
    """The first candidate that has a value somewhere, and its places.

    Errors: `InputError` of the first one where none has.
    """
    trouble = None
    for each in candidates:
        try:
            return each, _places_with_values(fields, each.value)
        except InputError as error:
            trouble = trouble or error
    assert trouble is not None
    raise trouble


def _places_with_values(fields: "Fields", target: str) -> dict[str, Guess[int]]:
    """The first place along the target's further dimensions where its values differ from each other.

    Errors: `InputError` if the target is missing everywhere that was tried.
    """
    labels = {dim: each for dim, each in fields.check(target).extra.items() if len(each) > 1}
    tried = islice(product(*(range(len(each)) for each in labels.values())), _MOST_TRIED)
    places = (dict(zip(labels, index, strict=True)) for index in tried)
    chosen = next((index for index in places if _has_values(fields, target, index)), None)
    if chosen is None:
        fields.values(target, {})  # a constant field is left to the problem, which refuses it
        chosen = dict.fromkeys(labels, 0)
    result = {}
    for dim, each in labels.items():
        count = f"{len(each)} {'times' if is_dated(each) else 'values'}"
        result[dim] = Guess(chosen[dim], f"the first of {count} with data" if chosen[dim] else f"the first of {count}")
    return result


def _has_values(fields: "Fields", name: str, select: Mapping[str, int]) -> bool:
    values = values_or_gap(fields, name, (1, 1), select)
    there = values[np.isfinite(values)]
    return bool(there.size and np.ptp(there) > 0)
