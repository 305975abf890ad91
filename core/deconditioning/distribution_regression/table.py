"""Reads a table in long format (subject, value[s], outcome[, covariates]) in pieces, checks it, and builds subjects."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deconditioning.errors import InputError
from deconditioning.sandbox import read_apart
from deconditioning.tables.cells import MISSING
from deconditioning.tables.gaps import mark_notes, without_marks

if TYPE_CHECKING:
    from deconditioning.distribution_regression.subjects import Subjects

#: The most rows and bytes of a table, and rows read at once.
MOST_ROWS, MOST_BYTES, CHUNK = 5_000_000, 300_000_000, 200_000
#: The most subjects: their n × n matrix is factorised.
MOST_SUBJECTS = 6000
_GUESSES = {
    "subject": ("subject", "id", "seqn", "person", "participant", "patient"),
    "value": ("value", "x", "measure", "measurement", "count", "activity", "log_count"),
    "outcome": ("outcome", "y", "age", "target", "response"),
}


@dataclass(frozen=True)
class Roles:
    """The roles of the columns.

    ``drop_missing`` omits rows with a missing cell instead of raising an error; ``missing`` numbers are as in
    `deconditioning.tables.gaps.without_marks`.
    """

    subject: str
    values: tuple[str, ...]
    outcome: str
    covariates: tuple[str, ...] = ()
    drop_missing: bool = False
    missing: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        every = (self.subject, *self.numbers)
        if not self.values:
            raise InputError("No column of values was named: name at least one.")
        if len(set(every)) < len(every):
            twice = next(name for name in every if every.count(name) > 1)
            raise InputError(f"The column '{twice}' has two roles: give each column one.")

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numeric columns: values, outcome, covariates."""
        return (*self.values, self.outcome, *self.covariates)

    def of_columns(self, names: Iterable[Any]) -> list[str]:
        """The columns to read of those that a table has; ``InputError`` for one that it lacks."""
        there, required = list(names), [self.subject, *self.numbers]
        missing = [name for name in required if name not in there]
        if missing:
            listed = ", ".join(map(str, there))
            raise InputError(f"The table has no column '{missing[0]}': choose one of {listed}.")
        return required


def _checked(source: str | Path | bytes) -> Path | bytes:
    """A path or an upload's bytes; ``InputError`` if there is none, or too much of it."""
    if isinstance(source, bytes):
        size, name = len(source), "The table"
    else:
        source = Path(source)
        if not source.is_file():
            raise InputError(f"There is no file {source}: check the name.")
        size, name = source.stat().st_size, str(source)
    if size > MOST_BYTES:
        raise InputError(f"{name} has {size / 1e6:,.0f} MB; the limit is {MOST_BYTES / 1e6:,.0f} MB: remove rows.")
    return source


def columns_of(source: str | Path | bytes) -> tuple[str, ...]:
    """The names of the columns."""
    from deconditioning.tables.dialect import sniff

    dialect = sniff(_checked(source), "the table")
    return dialect.names[dialect.counted :]


def guess_roles(names: Sequence[str]) -> Roles | None:
    """Roles by the usual names, then by position (subject, value, outcome); None below three columns."""
    if len(names) < 3:
        return None
    result: dict[str, str] = {}
    for role, guesses in _GUESSES.items():
        named = [name for guess in guesses for name in names if name.lower() == guess and name not in result.values()]
        if named:
            result[role] = named[0]
    free = [name for name in names if name not in result.values()]
    for role in _GUESSES:
        if role not in result:
            result[role] = free.pop(0)
    return Roles(result["subject"], (result["value"],), result["outcome"], tuple(free))


def open_subjects(path: Path, roles: Roles) -> "Subjects":
    """`read_table` for an untrusted table, read in a separate process."""
    settings = json.dumps(asdict(roles))
    gathered = read_apart(
        "deconditioning.distribution_regression.reader", path, "The table", load_gathered, memory_mb=3000, seconds=60,
        settings=settings,
    )  # fmt: skip
    return _subjects(gathered, roles)


def read_table(source: str | Path | bytes, roles: Roles) -> "Subjects":
    """Subjects from a text table (`deconditioning.tables.text`), one row per measurement.

    Subjects are in the order of their first appearance. Raises ``InputError`` with row and column for missing or
    unreadable cells, for an outcome or covariate that differs within a subject, and as ``make_subjects``.
    """
    return _subjects(gather(source, roles), roles)


def gather(source: str | Path | bytes, roles: Roles) -> "Gathered":
    """The numbers of a table; ``InputError`` as ``read_table``."""
    return _gathered(*_frame(_checked(source), roles), roles)


def subjects_of_frame(frame: Any, roles: Roles) -> "Subjects":
    """Subjects of a pandas data frame, one row per measurement, with the checks of ``read_table``."""
    return _subjects(gather_frame(frame, roles), roles)


def gather_frame(frame: Any, roles: Roles) -> "Gathered":
    """The numbers of a pandas data frame, whose rows count from 1 in messages; ``InputError`` as ``read_table``."""
    roles.of_columns(frame.columns)
    if len(frame) > MOST_ROWS:
        raise InputError(f"The table has {len(frame):,} rows; the limit is {MOST_ROWS:,}: remove rows.")
    numbers = {name: frame[name] for name in roles.numbers}
    result, notes = without_marks({n: _floats(v) for n, v in numbers.items()}, roles.missing)
    names = frame[roles.subject]
    result[roles.subject] = names.astype(str).where(names.notna())
    plain = names.reset_index(drop=True).to_frame().assign(**{n: np.asarray(v) for n, v in result.items()})
    return _gathered(plain, np.arange(1, len(frame) + 1), tuple(notes), roles)


def _floats(column: Any) -> Any:
    """A column of numbers as float64; others as they are."""
    return column.to_numpy(dtype=float, na_value=np.nan) if column.dtype.kind in "fiub" else column


def _gathered(frame: Any, lines: np.ndarray, notes: tuple[str, ...], roles: Roles) -> "Gathered":
    gathered = _Gathering(roles, notes)
    for first in range(0, len(frame), CHUNK):
        gathered.add(frame.iloc[first : first + CHUNK].reset_index(drop=True), lines[first : first + CHUNK])
    return replace(gathered.all(), notes=np.array(notes, dtype=np.str_))


@dataclass(frozen=True)
class Gathered:
    """A table's numbers: ``values`` (R, d) and their ``owner`` (R,), what is ``known`` (n, 1 + q) of each subject
    (outcome, covariates), the subjects' ``names``, and ``notes`` on how the table was read."""

    values: np.ndarray
    owner: np.ndarray
    known: np.ndarray
    names: np.ndarray
    notes: np.ndarray = field(default_factory=lambda: np.array([], dtype=np.str_))


def write_gathered(gathered: Gathered, target: Path) -> None:
    """Its arrays in an .npz archive, for ``load_gathered`` in another process."""
    with open(target, "wb") as file:
        np.savez(file, **vars(gathered))


def load_gathered(path: Path) -> Gathered:
    """Back from ``write_gathered``; nothing is unpickled."""
    with np.load(path, allow_pickle=False) as archive:
        return Gathered(**{name: archive[name] for name in ("values", "owner", "known", "names", "notes")})


def _subjects(gathered: Gathered, roles: Roles) -> "Subjects":
    from deconditioning.distribution_regression.subjects import make_subjects

    known, values = gathered.known, gathered.values
    if len(values) and not np.ptp(values, axis=0).any():
        raise InputError(
            f"Every measurement of '{roles.values[0]}' is {values[0, 0]:g}: the subjects cannot be "
            "distinguished; choose another column."
        )
    made = make_subjects(
        gathered.values, gathered.owner, known[:, 0], covariates=known[:, 1:], names=gathered.names.tolist(),
        columns=roles.values, covariate_names=roles.covariates, outcome_name=roles.outcome,
    )  # fmt: skip
    return replace(made, notes=tuple(gathered.notes.tolist()))


def _frame(source: Path | bytes, roles: Roles) -> tuple[Any, np.ndarray, tuple[str, ...]]:
    """The wanted columns, the lines of the file that their rows stand in, and notes on how they were read."""
    import pandas as pd

    from deconditioning.tables.text import read_text

    required = roles.of_columns(columns_of(source))
    text_table = read_text(source, "the table", most_rows=MOST_ROWS, words=(roles.subject,), wanted=required,
                      missing=roles.missing)  # fmt: skip
    subjects = text_table.columns[roles.subject].str.strip()
    frame = pd.DataFrame({**text_table.columns, roles.subject: subjects.where(~subjects.str.lower().isin(MISSING))})
    return frame, text_table.lines, text_table.notes


class _Gathering:
    """What the pieces hold so far."""

    def __init__(self, roles: Roles, notes: tuple[str, ...]) -> None:
        self.roles, self.notes = roles, notes
        self.number: dict[str, int] = {}
        self.values: list[np.ndarray] = []
        self.owner: list[np.ndarray] = []
        self.known_values: list[np.ndarray] = []  # of each subject: outcome and covariates

    def add(self, frame: Any, lines: np.ndarray) -> None:
        """One piece; ``lines`` are the numbers of its rows."""
        roles = self.roles
        numbers = list(roles.numbers)
        for name in numbers:
            frame[name] = _numeric(frame[name], name, lines)
        bad = ~np.isfinite(frame[numbers].to_numpy(dtype=float))
        empty = frame[roles.subject].isna().to_numpy() | bad.any(1)
        if empty.any() and not roles.drop_missing:
            raise InputError(_missing(frame, bad, empty, roles, numbers, lines) + mark_notes(self.notes))
        names = frame[roles.subject][~frame[roles.subject].isna()]
        for name in names.unique():
            self.number.setdefault(name, len(self.number))
        if len(self.number) > MOST_SUBJECTS:
            raise InputError(
                f"The table has more than {MOST_SUBJECTS:,} subjects, the limit for factorising their matrix: "
                "use a subset."
            )
        whole = frame[~empty]
        owner = whole[roles.subject].map(self.number).to_numpy(dtype=np.int64)
        self.values.append(whole[list(roles.values)].to_numpy(dtype=float))
        self.owner.append(owner)
        self._tell(whole, owner, lines[~empty])

    def _tell(self, frame: Any, owner: np.ndarray, rows: np.ndarray) -> None:
        """Outcome and covariates: one value a subject, the same in each of its rows."""
        names = [self.roles.outcome, *self.roles.covariates]
        values = frame[names].to_numpy(dtype=float)
        known = np.full((len(self.number), len(names)), np.nan)
        for old in self.known_values[-1:]:
            known[: len(old)] = old
        subjects, where = np.unique(owner, return_index=True)
        fresh = np.isnan(known[subjects, 0])
        known[subjects[fresh]] = values[where[fresh]]
        differs = known[owner] != values
        if differs.any():
            row, column = (int(v[0]) for v in np.nonzero(differs))
            subject = list(self.number)[owner[row]]
            raise InputError(
                f"'{names[column]}' is {values[row, column]:g} in row {rows[row]} and {known[owner[row], column]:g} "
                f"before, both of subject {subject}: it must be the same in every row of a subject."
            )
        self.known_values = [known]

    def all(self) -> Gathered:
        """All of it."""
        if not self.number:
            raise InputError("The table has no rows under its header: give one row per measurement.")
        known = np.full((len(self.number), 1 + len(self.roles.covariates)), np.nan)
        known[: len(self.known_values[-1])] = self.known_values[-1]
        values, owner = np.concatenate(self.values), np.concatenate(self.owner)
        names = list(self.number)
        empty = [names[i] for i in np.flatnonzero(np.bincount(owner, minlength=len(names)) == 0)]
        if empty:
            raise InputError(
                f"{len(empty)} subject(s) have no complete row ({', '.join(empty[:3])}): fill in or leave those out."
            )
        return Gathered(values, owner, known, np.array(names, dtype=np.str_))


def _numeric(column: Any, name: str, lines: np.ndarray) -> Any:
    """A column as numbers; empty cells are NaN, words are refused."""
    import pandas as pd

    if column.dtype.kind == "f":
        return column
    text = column.astype(str).str.strip()
    result = pd.to_numeric(text, errors="coerce")
    words = result.isna() & ~text.str.lower().isin(MISSING)
    if not words.any():
        words = words | True  # numbers of more than one kind, or dates
    if words.any():
        at = int(np.flatnonzero(words.to_numpy())[0])
        raise InputError(
            f"'{name}' reads \"{column.iloc[at]}\" in row {lines[at]}: it must contain numbers; code categories "
            "as 0 and 1."
        )
    return result


def _missing(frame: Any, bad: np.ndarray, empty: np.ndarray, roles: Roles, names: list[str], lines: np.ndarray) -> str:
    """The sentence on missing cells; a subject all of whose values are missing is named."""
    at = int(np.flatnonzero(empty)[0])
    where = roles.subject if not bad[at].any() else names[int(np.flatnonzero(bad[at])[0])]
    subject = frame[roles.subject].iloc[at]
    of_subject = (frame[roles.subject] == subject).to_numpy()
    if where in roles.values and bad[of_subject][:, : len(roles.values)].any(1).all():
        return (
            f"Subject {subject} has no measurement: '{where}' is empty in row {lines[at]} and in all rows of that "
            "subject; leave the subject out."
        )
    return (
        f"{int(empty.sum()):,} row(s) have a missing cell, the first is '{where}' in row {lines[at]}: fill it in, or "
        "have rows with missing cells left out."
    )
