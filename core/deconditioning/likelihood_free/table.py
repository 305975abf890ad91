"""A user's own simulations: a table of parameters and summaries, and the observed row."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from deconditioning.errors import InputError
from deconditioning.likelihood_free.prior import Marginal, Prior
from deconditioning.likelihood_free.simulators import Problem, Simulations
from deconditioning.sandbox import read_apart
from deconditioning.tables.cells import MISSING
from deconditioning.tables.gaps import Missing, mark_notes
from deconditioning.wording import at_start

if TYPE_CHECKING:
    from deconditioning.tables.text import TextTable

#: Largest tables: kernel matrices have one row and column a simulation.
MOST_ROWS, MOST_BYTES, _MOST_COLUMNS = 3_000, 50_000_000, 60
_STARTS = ("theta", "θ", "param")


@dataclass(frozen=True)
class Table:
    """A table that was read: ``columns``, finite ``values`` (n, c), and cells ``observed`` by column where given.

    ``suggested`` are the columns that look like parameters, ``notes`` say what was unusual and how it was read.
    """

    columns: tuple[str, ...]
    values: np.ndarray
    observed: dict[str, float]
    suggested: tuple[str, ...]
    notes: tuple[str, ...] = ()


def open_table(data: bytes, observed: bytes | None = None, name: str = "the table", missing: Missing = None) -> Table:
    """`read_table` for an untrusted table, read in a separate process."""
    _refuse_large(data, name)
    both = len(data).to_bytes(8, "little") + data + (observed or b"")
    settings = json.dumps({"row": observed is not None, "missing": None if missing is None else list(missing)})
    return read_apart("deconditioning.likelihood_free.reader", both, name, load_table, settings=settings)


def read_table(data: bytes, observed: bytes | None = None, name: str = "the table", missing: Missing = None) -> Table:
    """Read a table, and the observation from its own file or from the one row with empty parameters.

    ``missing`` is as in `deconditioning.tables.gaps.without_marks`.

    Raises ``InputError`` for tables above 3,000 rows (counted before parsing), missing cells, text in place of numbers,
    repeated names, or no single observation.
    """
    _refuse_large(data, name)
    result = _parse(data, name, missing)
    columns, rows = tuple(result.columns), result.lines
    values = np.stack(list(result.columns.values()), axis=1).reshape(len(rows), len(columns))
    partly = np.flatnonzero(np.isnan(values).any(1))
    observation: dict[str, float] = {}
    suggested = tuple(c for c in columns if c.lower().startswith(_STARTS))
    if observed is None:
        if len(partly) != 1:
            _refuse_gaps(values, result, partly, name)
        example = values[partly[0]]
        observation = {column: float(cell) for column, cell in zip(columns, example, strict=True) if not np.isnan(cell)}
        suggested = tuple(c for c in columns if c not in observation)
        values = np.delete(values, partly, axis=0)
    else:
        if len(partly):
            _refuse_gaps(values, result, partly, name)
        observation = _read_observed(observed, missing)
        extra = [column for column in observation if column not in columns]
        if extra:
            raise InputError(
                f"The observed row has a column '{extra[0]}' that {name} does not have ({', '.join(columns)}): rename "
                "it there or here."
            )
        suggested = suggested or tuple(c for c in columns if c not in observation)
    if len(values) < 10:
        raise InputError(f"{at_start(name)} holds {len(values)} simulations: give at least 10 rows below the names.")
    return Table(columns, values, observation, suggested, result.notes)


def _refuse_large(data: bytes, name: str) -> None:
    lines = data.count(b"\n")
    if lines > MOST_ROWS + 2 or len(data) > MOST_BYTES:
        raise InputError(
            f"{at_start(name)} has about {lines:,} rows and {len(data) / 1e6:.0f} MB; the limit is "
            f"{MOST_ROWS:,} rows and {MOST_BYTES / 1e6:.0f} MB, because kernel matrices have one row per "
            "simulation: keep the rows nearest the observation, or a random subset."
        )


def _parse(data: bytes, name: str, missing: Missing) -> "TextTable":
    """The columns; ``InputError`` for repeated names, too many of them, words in place of numbers, infinite values."""
    from deconditioning.tables.text import read_text

    result = read_text(data, name, most_rows=MOST_ROWS + 1, missing=missing)
    if len(result.columns) > _MOST_COLUMNS:
        raise InputError(f"The first row of {name} has {len(result.columns)} columns: give at most {_MOST_COLUMNS}.")
    for column, cells in result.columns.items():
        if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
            odd = np.isinf(cells)
            text = cells.astype(str)
        else:
            text = np.array([str(cell).strip() for cell in cells])
            odd = np.array([not _is_number(cell) for cell in text], dtype=bool)
            odd = odd if odd.any() else np.ones(len(text), dtype=bool)
        if odd.any():
            row = int(odd.argmax())
            raise InputError(
                f"Row {result.lines[row]} of {name} has '{text[row][:40]}' under '{column}': give a finite number."
            )
    return result


def _is_number(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell or "0")))
    except ValueError:
        return cell.lower() in MISSING


def _refuse_gaps(values: np.ndarray, result: "TextTable", partly: np.ndarray, name: str) -> None:
    if not len(partly):
        raise InputError(
            f"{at_start(name)} has no observation: add one row whose parameters are empty, or give that row in a "
            "separate file."
        )
    first = partly[0]
    column = list(result.columns)[int(np.flatnonzero(np.isnan(values[first]))[0])]
    raise InputError(
        f"{len(partly)} rows of {name} have missing cells, the first in row {result.lines[first]} under '{column}': "
        f"fill or remove them; only the observed row may leave its parameters empty.{mark_notes(result.notes)}"
    )


def _read_observed(data: bytes, missing: Missing) -> dict[str, float]:
    _refuse_large(data, "The observed row")
    result = _parse(data, "The observed row", missing)
    if len(result.lines) != 1:
        raise InputError(f"The observed file has {len(result.lines)} rows below the names: give one.")
    cells = {column: float(values[0]) for column, values in result.columns.items()}
    missing = [column for column, cell in cells.items() if np.isnan(cell)]
    if missing:
        raise InputError(f"The observed row is empty under '{missing[0]}': fill it, or leave that column out.")
    return cells


def write_table(table: Table, target: Path) -> None:
    """A table in an .npz archive, for ``load_table`` in another process."""
    words = np.array(json.dumps([table.columns, table.observed, table.suggested, table.notes]))
    with open(target, "wb") as file:
        np.savez(file, words=words, values=table.values)


def load_table(path: Path) -> Table:
    """A table back from ``write_table``; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        columns, observed, suggested, notes = json.loads(str(archive["words"]))
        return Table(tuple(columns), archive["values"], observed, tuple(suggested), tuple(notes))


def problem_of_table(
    table: Table, parameters: tuple[str, ...], prior: Prior | None = None, *, logs: tuple[str, ...] = (),
    drawn_from_prior: bool = False,
) -> tuple[Problem, Simulations]:  # fmt: skip
    """The problem of a table with these ``parameters`` columns; those in ``logs`` are used on a logarithmic scale.

    Without a ``prior``, it is uniform (in u) over the range of the table's parameters, which are assumed to be drawn
    from it. With one, rows outside its support are refused; the table is assumed uniform over its range, or
    ``drawn_from_prior``, in which case rows need no weights.
    """
    unknown = [column for column in parameters if column not in table.columns]
    if unknown or not parameters:
        raise InputError(f"Parameters are {list(parameters)}: choose among {', '.join(table.columns)}.")
    summaries = tuple(column for column in table.columns if column not in parameters)
    absent = [column for column in summaries if column not in table.observed]
    if absent or not summaries:
        what = f"has no value for the summary '{absent[0]}'" if absent else "has no summary"
        raise InputError(
            f"The observed row {what}: give one for every column that is not a parameter, or remove the column."
        )
    theta = table.values[:, [table.columns.index(column) for column in parameters]]
    x = table.values[:, [table.columns.index(column) for column in summaries]]
    for matrix, columns in ((theta, parameters), (x, summaries)):
        for column, cells in zip(columns, matrix.T, strict=True):
            if np.ptp(cells) <= 1e-12 * np.abs(cells).max():
                raise InputError(f"The column '{column}' is {cells[0]:g} in every row: leave it out.")
    for column, cells in zip(parameters, theta.T, strict=True):
        if column in logs and not (cells > 0).all():
            raise InputError(f"'{column}' has the value {cells.min():g}, which has no logarithm: use it untransformed.")
    u = np.stack([np.log(t) if c in logs else t for c, t in zip(parameters, theta.T, strict=True)], axis=1)
    proposal = Prior(tuple(Marginal(c, "uniform", float(v.min()), float(v.max()), log=c in logs)
                           for c, v in zip(parameters, u.T, strict=True)))  # fmt: skip
    prior = prior or proposal
    _refuse_outside(prior, u)
    observed = np.array([table.observed[column] for column in summaries])
    if drawn_from_prior:
        proposal = prior
    problem = Problem("table", prior, proposal, None, observed, summaries)
    return problem, Simulations(u, x, prior.log_density(u) - proposal.log_density(u))


def _refuse_outside(prior: Prior, u: np.ndarray) -> None:
    for marginal, column in zip(prior.marginals, u.T, strict=True):
        low, high = marginal.support
        outside = np.flatnonzero((column < low) | (column > high) | ~np.isfinite(column))
        if len(outside):
            ends = marginal.natural(np.array([low, high]))
            raise InputError(
                f"{len(outside)} rows have {marginal.name} outside the prior's support [{ends[0]:g}, {ends[1]:g}], the "
                f"first {float(marginal.natural(column[outside[0]])):g}: widen the prior or remove the rows."
            )
