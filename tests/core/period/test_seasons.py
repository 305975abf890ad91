"""Harmonics of the year and of the day."""

import cftime
import numpy as np
import pandas as pd
import pytest

from deconditioning.period.archive.seasons import Seasons, climatology


def dates(start: str, count: int, step: str) -> list[np.datetime64]:
    return list(pd.date_range(start, periods=count, freq=step).values)


@pytest.mark.parametrize(
    ("known", "annual", "diurnal"),
    [
        (dates("2001-01-01", 730, "D"), 2, 0),
        (dates("2001-06-01", 92, "D"), 1, 0),
        (dates("2019-03-01", 480, "h"), 0, 2),
        (dates("2001-01-01", 1460, "6h"), 2, 1),
        (dates("1900-01-01", 120, "YS"), 0, 0),
        (dates("2001-01-01", 24, "MS"), 2, 0),
        (dates("2001-01-01", 12, "MS"), 1, 0),
        (dates("1982-01-16T20:00", 132, "730.5h"), 2, 0),  # the middles of months, at many hours
        ([None] * 50, 0, 0),
    ],
)
def test_there_are_as_many_as_the_dates_determine(known, annual, diurnal) -> None:
    assert Seasons.of(known) == Seasons(annual, diurnal)


def test_a_season_is_not_continued_beyond_its_own_dates() -> None:
    summer = dates("2001-06-01", 92, "D")
    assert Seasons.of(summer, dates("2009-08-20", 20, "D")) == Seasons(1, 0)
    assert Seasons.of(summer, dates("2009-08-20", 40, "D")) == Seasons(0, 0)
    assert Seasons.of(dates("2001-12-01", 90, "D"), dates("2003-11-25", 9, "D")) == Seasons(1, 0)
    assert Seasons.of(dates("2001-01-01", 330, "D"), dates("2003-12-20", 9, "D")) == Seasons(2, 0)


@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day"])
def test_a_wave_of_the_calendars_own_year_is_found_again(calendar) -> None:
    known = list(cftime.num2date(np.arange(0, 1800, 5), "days since 2001-01-01", calendar=calendar))
    length = {"standard": 365.25, "noleap": 365, "360_day": 360}[calendar]
    wave = 3 + 2 * np.cos(2 * np.pi * np.arange(0, 1800, 5) / length)
    design = Seasons(2, 0).design(known)
    left = wave - design @ np.linalg.lstsq(design, wave, rcond=None)[0]
    assert np.abs(left).max() < (0.03 if calendar == "standard" else 1e-9)


def test_a_climatology_is_the_mean_of_each_hour_where_the_hours_of_whole_days_are_known() -> None:
    """Two waves of a day of four hours are a mean of their own for each but the last, which the waves share."""
    known, later = dates("2019-03-01", 40, "6h"), dates("2019-03-11", 4, "6h")
    values = np.random.default_rng(0).normal(size=(40, 3))
    found, means = climatology(known, values, later), values.reshape(10, 4, 3).mean(0)
    waves = np.array([[1, np.cos(np.pi * h / 2), np.sin(np.pi * h / 2)] for h in range(4)])
    assert Seasons.of(known, later) == Seasons(0, 1)
    np.testing.assert_allclose(found, waves @ np.linalg.pinv(waves) @ means, atol=1e-12)


def test_numpy_and_cftime_dates_agree() -> None:
    here = dates("2003-02-01T06:00", 40, "29h")
    there = [cftime.DatetimeGregorian(*pd.Timestamp(d).timetuple()[:6]) for d in here]
    np.testing.assert_allclose(Seasons(2, 2).design(here), Seasons(2, 2).design(there), atol=1e-12)


def test_months_that_nobody_has_seen_are_named() -> None:
    seasons = Seasons(1, 0)
    assert seasons.unseen_months(dates("2001-06-01", 92, "D"), dates("2001-08-20", 30, "D")) == [9]
    assert Seasons(0, 2).unseen_months(dates("2001-06-01", 9, "D"), dates("2001-12-01", 9, "D")) == []
