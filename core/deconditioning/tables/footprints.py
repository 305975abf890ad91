"""Footprints of a table's values: one size for all, or widths and directions in its columns."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from deconditioning.errors import InputError
from deconditioning.fields.footprints.gaussian import GaussianFootprint, footprint_of, parts_of
from deconditioning.fields.footprints.station_data import Stations
from deconditioning.fields.units import factor
from deconditioning.tables.table import Table


@dataclass(frozen=True)
class FootprintColumns:
    """Columns of a table with the full widths at half maximum along and across, and with the direction of the first in
    degrees clockwise from north; one column is the width both ways, and without a direction it is north."""

    names: tuple[str, ...] = ()

    @staticmethod
    def of_text(table: Table, text: str) -> "FootprintColumns":
        """The columns that a text names, as ``WIDTH``, ``ALONG,ACROSS`` or ``ALONG,ACROSS,DIRECTION``, without their
        units; none where it has numbers or is empty. Raises ``InputError`` for anything else."""
        columns = [_column(table, part) for part in parts_of(text)]
        if not any(columns):
            footprint_of(text, table.source)
            return FootprintColumns()
        if None in columns or len(columns) > 3:
            known = ", ".join(f"'{name}'" for name in table.numeric[:12])
            raise InputError(
                f"The footprint {text[:60]!r} names no columns of {table.source}: give one to three of {known}, "
                "separated by commas."
            )
        return FootprintColumns(tuple(name for name in columns if name))

    def given(self, stations: Stations, table: Table, units: Callable[[str], str], rows: np.ndarray) -> Stations:
        """The stations, which are these ``rows`` of the table, with their footprints; rows without one are left out.

        ``units`` gives those of a column; without any they are kilometres and degrees. Raises ``InputError`` for widths
        that are no length, or not positive, and for directions that are no angle.
        """
        values = table.with_gaps(list(self.names))[rows]
        change = [_change(table, name, units(name), number == 2) for number, name in enumerate(self.names)]
        columns = list((values * change).T)
        widths, there = np.stack(columns[:2]), np.isfinite(values).all(axis=1)
        if not there.any():
            raise InputError(f"No row of {table.source} has a footprint in {_listed(self.names)}: correct the table.")
        if (least := widths[:, there].min()) <= 0:
            raise InputError(
                f"The widths of footprints in {_listed(self.names[:2])} of {table.source} go down to {least:g}: give "
                "positive numbers."
            )
        columns = [each[there] for each in columns]
        footprint = GaussianFootprint(*(columns if len(columns) > 1 else columns * 2))
        notes = (*stations.notes, *_left_out(there, self.names))
        return replace(replace(stations, footprint=None).of(there), footprint=footprint, notes=notes)


def _column(table: Table, part: str) -> str | None:
    """The column of that name, which may have units behind it; None for a number and for an unknown name."""
    try:
        float(part)
    except ValueError:
        plain = (name for name in table.columns if re.split(r"[\[(]", name)[0].strip().lower() == part.lower())
        return part if part in table.columns else next(plain, None)
    return None


def _change(table: Table, name: str, units: str, is_direction: bool) -> float:
    """What a column's values are multiplied by to be in kilometres, or in degrees."""
    if not units:
        return 1.0
    result = factor(units, "degree" if is_direction else "meter")
    if result is None:
        kind, remedy = ("an angle", "degrees from north") if is_direction else ("a length", "kilometres")
        raise InputError(f"Column '{name}' of {table.source} is in {units!r}, which is not {kind}: give {remedy}.")
    return result if is_direction else result / 1000


def _left_out(there: np.ndarray, names: tuple[str, ...]) -> list[str]:
    count = int((~there).sum())
    return [f"{count} of {len(there)} values have no footprint in {_listed(names)} and are left out."] if count else []


def _listed(names: tuple[str, ...]) -> str:
    return " and ".join(f"'{name}'" for name in names)
