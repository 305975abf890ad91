"""Climatology as harmonics of the year and of the day, in each calendar's own year."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deconditioning.period.correlation import days_of

#: Harmonics of the year where nearly all months are known, and where a season is; of the day; months that are nearly
#: all, and a season; hours that make a day.
_YEAR, _SEASON, _DAY, _MOST_MONTHS, _SEASON_MONTHS, _HOURS = 2, 1, 2, 9, 3, 4
#: How far a date may lie from the nearest known one for a season's wave, as a share of the year.
_BEYOND = 10 / 365
#: Times for each column of the design below which harmonics are left out.
_TIMES_A_COLUMN = 4


@dataclass(frozen=True)
class Seasons:
    """``annual`` harmonics of the year and ``diurnal`` ones of the day, beside a constant."""

    annual: int
    diurnal: int

    @staticmethod
    def of(dates: Sequence[Any], used: Sequence[Any] = ()) -> "Seasons":
        """As many harmonics as these dates determine for those that they are ``used`` for.

        Two of the year from nine months on, one from three months on (a season) if it holds all dates of use, for
        beyond its own dates a wave goes astray; none for annual values; two of the day if there are at least four
        hours of it and times are mostly less than a day apart: the middles of months are at many hours, too; none if
        there are fewer than four times for each column.
        """
        if any(date is None for date in (*dates, *used)):
            return Seasons(0, 0)
        parts = [_parts(date) for date in dates]
        months, hours = (len({part[k] for part in parts}) for k in (0, 1))
        annual = _YEAR if months >= _MOST_MONTHS else _SEASON if months >= _SEASON_MONTHS else 0
        if annual == _SEASON and _farthest([part[2] for part in parts], [_parts(d)[2] for d in used]) > _BEYOND:
            annual = 0
        diurnal = min(_DAY, (hours - 1) // 2) if hours >= _HOURS and _usual_step(dates) < 1 else 0
        while annual + diurnal and _TIMES_A_COLUMN * (1 + 2 * (annual + diurnal)) > len(dates):
            annual, diurnal = (annual - 1, diurnal) if annual >= diurnal else (annual, diurnal - 1)
        return Seasons(annual, diurnal)

    def design(self, dates: Sequence[Any]) -> np.ndarray:
        """(T, h) constant, ``cos`` and ``sin`` of ``2πk`` times the share of the year, then of the day, that has
        passed.
        """
        columns = [np.ones(len(dates))]
        if self.annual or self.diurnal:
            shares = np.array([_parts(date)[2:] for date in dates])
            for count, share in ((self.annual, shares[:, 0]), (self.diurnal, shares[:, 1])):
                for k in range(1, count + 1):
                    columns += [np.cos(2 * np.pi * k * share), np.sin(2 * np.pi * k * share)]
        return np.stack(columns, axis=1)

    def unseen_months(self, known: Sequence[Any], dates: Sequence[Any]) -> list[int]:
        """Months of ``dates`` that no ``known`` date has, if the climatology depends on the month."""
        return sorted(set(months_of(dates)) - set(months_of(known))) if self.annual else []


def months_of(dates: Sequence[Any]) -> list[int]:
    """The month of each date."""
    return [_parts(date)[0] for date in dates]


def _parts(date: Any) -> tuple[int, float, float, float]:
    """Month, hour, and the shares of the year and of the day that have passed."""
    if isinstance(date, np.datetime64):
        year = date.astype("datetime64[Y]")
        passed = (date - year) / ((year + 1).astype("datetime64[s]") - year.astype("datetime64[s]"))
        day = (date - date.astype("datetime64[D]")) / np.timedelta64(1, "D")
        return int(date.astype("datetime64[M]").astype(int) % 12) + 1, round(24 * day, 6), float(passed), float(day)
    day = (date.hour + date.minute / 60 + date.second / 3600) / 24
    length = date.replace(month=12, day=30 if date.calendar == "360_day" else 31).dayofyr
    return int(date.month), round(24 * day, 6), (date.dayofyr - 1 + day) / length, day


def _usual_step(dates: Sequence[Any]) -> float:
    """The median number of days from one date to the next."""
    return float(np.median(np.diff(np.sort(days_of(dates)))))


def _farthest(known: Sequence[float], used: Sequence[float]) -> float:
    """How far, as a share of the year, a date of use lies from the nearest known one, at most."""
    if not len(used):
        return 0.0
    distance = np.abs(np.subtract.outer(np.asarray(used), np.asarray(known)))
    return float(np.minimum(distance, 1 - distance).min(axis=1).max())


def climatology(known: Sequence[Any], values: np.ndarray, dates: Sequence[Any]) -> np.ndarray:
    """(T, P) climatology at ``dates``: harmonics fitted to values (N, P) of ``known`` dates by least squares."""
    seasons = Seasons.of(known, dates)
    return seasons.design(dates) @ regressed(seasons.design(known), values)


def regressed(design: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(h, P) coefficients of a least-squares fit of values (T, P) on a design (T, h)."""
    return np.linalg.lstsq(design, values, rcond=None)[0]
